import { describe, expect, it } from 'vitest';
import type { Guards, Job } from '../../src/config/config.ts';
import { checkGuards, type LastGood, type Result } from '../../src/guards/check-guards.ts';
import { GuardCounters } from '../../src/guards/guard-counters.ts';
import { type Batch, batchOf, type Value } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import { wired } from '../formats/encoding.ts';

const noon = Date.UTC(2026, 5, 15, 12);
const day = 86_400_000;

function result(given: Partial<Result>): Result {
  return { rows: 200, bytes: 5000, columns: ['id', 'day'], at: noon, ...given };
}

/** What the guards report about a result, as a user reads it. */
function told(guards: Guards, given: Partial<Result>, last?: LastGood) {
  return checkGuards(guards, result(given), last).map(({ message, allowed }) => [message, allowed]);
}

function found(guards: Guards, given: Partial<Result>, last?: LastGood) {
  return checkGuards(guards, result(given), last).map(({ guard, seen }) => [guard, seen]);
}

describe('the numbers of rows and bytes', () => {
  it('may be at their limits, but not outside them', () => {
    const rows = { minimum: 10, maximum: 20 };
    expect([10, 20].flatMap((n) => found({ rows }, { rows: n }))).toEqual([]);
    expect([9, 21].flatMap((n) => found({ rows }, { rows: n }))).toEqual([
      ['rows', '9 rows'],
      ['rows', '21 rows'],
    ]);
    expect(found({ bytes: { maximum: 4999 } }, {})).toEqual([['bytes', '5,000 bytes']]);
  });

  it('are reported as too low or too high, with the limit', () => {
    const rows = { minimum: 10, maximum: 20 };
    expect(told({ rows }, { rows: 9 })).toEqual([['The result has fewer rows than required', 'at least 10 rows']]);
    expect(told({ rows }, { rows: 21 })).toEqual([['The result has more rows than allowed', 'at most 20 rows']]);
    expect(told({ bytes: { minimum: 2 } }, { bytes: 1 })).toEqual([
      ['The result has fewer bytes than required', 'at least 2 bytes'],
    ]);
  });
});

describe('a change in the number of rows', () => {
  const rowChange = { down: 0.3, up: 1, from: 100 };
  const last = { rows: 1000, run: 'r1' };

  it('is allowed up to its exact limits, without rounding errors', () => {
    expect([700, 1000, 2000].flatMap((rows) => found({ rowChange }, { rows }, last))).toEqual([]);
    expect(found({ rowChange }, { rows: 699 }, last)).toEqual([['row_change', '699 rows; 1,000 in run r1']]);
    expect(found({ rowChange }, { rows: 2001 }, last)).toHaveLength(1);
  });

  it("isn't checked without a last good result, or if that result was small", () => {
    expect(found({ rowChange }, { rows: 1 })).toEqual([]);
    expect(found({ rowChange }, { rows: 1 }, { rows: 99, run: 'r1' })).toEqual([]);
    expect(found({ rowChange: { up: 1, from: 0 } }, { rows: 500 }, { rows: 0, run: 'r1' })).toEqual([]);
  });

  it('is checked only if configured, and only if the last good result has at least 100 rows', () => {
    expect(found({ rowChange }, { rows: 1 }, { rows: 100, run: 'r1' })).toHaveLength(1);
    expect(found({}, { rows: 1 }, last)).toEqual([]);
  });

  it('is reported as a loss or a gain, with the allowed number of rows', () => {
    expect(told({ rowChange }, { rows: 600 }, last)).toEqual([
      ['The number of rows fell by 40% compared with the last good result', 'a loss of up to 30% (at least 700 rows)'],
    ]);
    expect(told({ rowChange }, { rows: 2500 }, last)).toEqual([
      [
        'The number of rows grew by 150% compared with the last good result',
        'a gain of up to 100% (at most 2,000 rows)',
      ],
    ]);
  });

  it("isn't reported for an empty result, which its job allows", () => {
    const empty = { rows: 0 };
    const guards: Guards = { rowChange, newest: { column: 'day', withinMs: day } };
    expect(found(guards, { rows: 600 }, last).map(([guard]) => guard)).toEqual(['row_change', 'newest']);
    expect(found(guards, empty, last)).toEqual([]);
    expect(found({ rowChange, rows: { minimum: 1 } }, empty, last)).toEqual([['rows', '0 rows']]);
  });

  it('is reported with a percentage that is never rounded to 0 or 100', () => {
    const by = (rows: number, before: number, up = 0) => {
      const [finding] = checkGuards({ rowChange: { down: 0, up, from: 0 } }, result({ rows }), {
        rows: before,
        run: 'r1',
      });
      return / by (.*) compared/.exec(finding?.message ?? '')?.[1];
    };
    expect(by(1, 1_000_000)).toBe('over 99.99%');
    expect(by(2, 1)).toBe('100%');
    expect(by(999_999, 1_000_000)).toBe('under 0.01%');
    expect(by(9999, 10_000)).toBe('0.01%');
    expect(by(1, 10_000)).toBe('99.99%');
    expect(by(3, 1)).toBe('200%');
    expect(by(999, 1024)).toBe('2.44%');
  });
});

describe('columns', () => {
  it('used by a guard must exist, and each missing column is reported only once', () => {
    const guards: Guards = {
      columns: ['id', 'gone'],
      nulls: new Map([['gone', 0.5]]),
      newest: { column: 'lost', withinMs: day },
    };
    const [finding, ...more] = checkGuards(guards, result({}), undefined);
    expect(more).toEqual([]);
    expect(finding).toMatchObject({
      guard: 'columns',
      message: 'Columns are missing: gone, lost',
      seen: 'id, day',
      allowed: 'id, gone, lost',
    });
  });

  it('are reported as missing if the result has no columns', () => {
    const [finding, ...more] = checkGuards({ columns: ['id'] }, result({ columns: [] }), undefined);
    expect(more).toEqual([]);
    expect(finding).toMatchObject({ message: 'A column is missing: id', seen: 'no columns' });
  });
});

describe('guard counters', () => {
  const extract = (timezone?: string) => ({ extract: { timezone } }) as unknown as Pick<Job, 'extract'>;
  const watched = (guards?: Guards) =>
    GuardCounters.of({ ...extract(), ...(guards && { guards }) } as Job, noon) !== undefined;

  it('exist only if a guard checks cells', () => {
    expect(watched()).toBe(false);
    expect(watched({ rows: { minimum: 1 }, nulls: new Map() })).toBe(false);
    expect(watched({ nulls: new Map([['a', 0]]) })).toBe(true);
    expect(watched({ newest: { column: 'a', withinMs: day } })).toBe(true);
  });

  it("interpret dates in the job's time zone, or in UTC by default", () => {
    const newest = (timezone?: string) => {
      const guards: Guards = { newest: { column: 'a', withinMs: day } };
      const watch = GuardCounters.of({ ...extract(timezone), guards } as Job, noon)!;
      watch.take(rowsOf(text, ['2026-06-14 10:00']));
      return new Date(watch.counted().newest!).toISOString();
    };
    expect(newest('Europe/Berlin')).toBe('2026-06-14T08:00:00.000Z');
    expect(newest()).toBe('2026-06-14T10:00:00.000Z');
  });

  it('count and check only the configured columns, even if all columns share one byte buffer', () => {
    const columns = ['x', 'a', 'at', 'y'].map((name): Column => ({ name, type: 'text' }));
    const batch = batchOf(columns, [
      ['v', 'v', '2026-06-13T10:00:00Z', '2026-06-15T10:00:00Z'],
      ['v', null, '2026-06-14T10:00:00Z', '2026-06-15T10:00:00Z'],
      [null, '', null, null],
      ['v', null, '2026-06-12T10:00:00Z', null],
    ]);
    const guards: Guards = { nulls: new Map([['a', 0.25]]), newest: { column: 'at', withinMs: day } };
    for (const one of [batch, wired(batch)]) {
      expect(counted(guards, [one])).toEqual({
        missing: new Map([['a', 3]]),
        newest: Date.parse('2026-06-14T10:00:00Z'),
      });
    }
    expect(counted({ nulls: guards.nulls! }, [batch]).newest).toBeUndefined();
  });
});

function counted(guards: Guards, batches: readonly Batch[], timezone = 'UTC') {
  const watch = new GuardCounters(guards, { timezone, now: noon });
  for (const batch of batches) watch.take(batch);
  return watch.counted();
}

const text: Column = { name: 'a', type: 'text' };
const rowsOf = (column: Column, values: readonly Value[]) =>
  batchOf(
    [column],
    values.map((value) => [value]),
  );

describe('missing cells', () => {
  const guards: Guards = { nulls: new Map([['a', 0.25]]) };

  it('are nulls and empty strings, stored as values or bytes, in the rows that the batch selects', () => {
    const values = rowsOf(text, [null, '', 'x', 0, false]);
    const bytes = Buffer.from('xyz');
    const spans = Int32Array.from([0, 1, -1, 1, 1, 1, 2, 3]);
    const spanned: Batch = {
      columns: [text],
      cells: [{ kind: 'bytes', bytes, spans, stride: 1, slot: 0 }],
      length: 3,
      rows: Int32Array.from([0, 1, 2]),
    };
    expect(counted(guards, [values, spanned]).missing).toEqual(new Map([['a', 4]]));
    expect(counted(guards, [{ ...spanned, length: 1, rows: Int32Array.of(3) }]).missing).toEqual(new Map([['a', 0]]));
  });

  it('may make up at most the allowed share of all rows', () => {
    const columns = ['a'];
    const of = (missing: number) => ({ rows: 8, columns, counted: { missing: new Map([['a', missing]]) } });
    expect(found(guards, of(2))).toEqual([]);
    expect(found(guards, of(3))).toEqual([['nulls', '3 of 8 (37.5%)']]);
    expect(told(guards, of(3))).toEqual([['Column a has too many missing values', 'at most 25%']]);
    expect(found({ nulls: new Map([['a', 0]]) }, of(0))).toEqual([]);
    expect(found(guards, { ...of(3), columns: ['b'] }).map(([guard]) => guard)).toEqual(['columns']);
    expect(found(guards, { ...of(0), rows: 0 })).toEqual([]);
  });
});

describe('the newest date or time', () => {
  const guards: Guards = { newest: { column: 'a', withinMs: 2 * day } };
  const newest = (values: readonly Value[], timezone?: string) => {
    const at = counted(guards, [rowsOf(text, values)], timezone).newest;
    return at === undefined ? undefined : new Date(at).toISOString();
  };

  it.for([
    ['a date until its end', ['2026-06-01', '2026-06-14', '2026-06-13'], '2026-06-14T23:59:59.000Z'],
    ['a zone after a space', ['2026-06-14 10:00:00 Z'], '2026-06-14T10:00:00.000Z'],
    ['the very end of the allowed future day', ['2026-06-16T12:00:00Z'], '2026-06-16T12:00:00.000Z'],
    ['the same without a zone', ['2026-06-16T12:00:00'], '2026-06-16T12:00:00.000Z'],
    ['times without a zone', ['2026-06-14 10:00', '2026-06-14T09:59:59.9'], '2026-06-14T10:00:00.000Z'],
    ['zones', ['2026-06-14T10:00:00+05:00', '2026-06-14T06:00:00Z', null], '2026-06-14T06:00:00.000Z'],
    ['zones west of Greenwich', ['2026-06-14T10:00:00-05:30', '2026-06-14T15:29:59Z'], '2026-06-14T15:30:00.000Z'],
    ['zones in whole hours', ['2026-06-14T10:00:00-0330', '2026-06-14T10:00:00-04'], '2026-06-14T14:00:00.000Z'],
    ['seconds after a time without any', ['2026-06-14T10:00Z', '2026-06-14T10:00:30Z'], '2026-06-14T10:00:30.000Z'],
    [
      'a time in UTC after a newer one in a zone',
      ['2026-06-14T08:00:00Z', '2026-06-14T12:00:00+03:00', '2026-06-14T09:30:00Z'],
      '2026-06-14T09:30:00.000Z',
    ],
    [
      'fractions of a second',
      ['2026-06-14T10:00:00.5Z', '2026-06-14T10:00:00Z', '2026-06-14T10:00:01.25Z'],
      '2026-06-14T10:00:01.000Z',
    ],
    ['a date after a time on that day', ['2026-06-14 10:00', '2026-06-14'], '2026-06-14T23:59:59.000Z'],
    [
      'a later time in a zone that sorts before one in UTC',
      ['2026-06-14T10:00:00Z', '2026-06-14T09:30:00-05:00'],
      '2026-06-14T14:30:00.000Z',
    ],
    ['a space in place of the T', ['2026-06-14T09:00:00Z', '2026-06-14 10:00:00Z'], '2026-06-14T10:00:00.000Z'],
    ['dates mixed with times', ['2026-06-14T23:00:00Z', '2026-06-13'], '2026-06-14T23:00:00.000Z'],
    [
      'values up to a day in the future',
      ['2026-06-16T11:59:00Z', '2999-01-01', '2999-01-01T00:00:00Z'],
      '2026-06-16T11:59:00.000Z',
    ],
    ['only texts that are dates', ['x', '2026-13-01', '20260614', '', '2026-06-14x'], undefined],
    ['an invalid day as the last day of its month', ['2026-02-31'], '2026-02-28T23:59:59.000Z'],
  ] as const)('is correct for %s', ([, values, expected]) => {
    expect(newest(values)).toBe(expected);
  });

  it("without a time zone is interpreted in the job's zone, in summer and winter", () => {
    expect(newest(['2026-06-14 10:00'], 'Europe/Berlin')).toBe('2026-06-14T08:00:00.000Z');
    expect(newest(['2026-01-14'], 'America/New_York')).toBe('2026-01-15T04:59:59.000Z');
  });

  it('may be exactly as old as allowed, but must exist', () => {
    const at = (newest?: number) =>
      found(guards, { columns: ['a'], counted: { missing: new Map(), ...(newest === undefined ? {} : { newest }) } });
    expect(at(noon - 2 * day)).toEqual([]);
    expect(at(noon - 2 * day - 1)).toEqual([['newest', '2026-06-13 11:59:59Z']]);
    expect(at()).toEqual([['newest', 'none']]);
    expect(found(guards, { columns: ['a'] })).toEqual([['newest', 'none']]);
    const message = (newest?: number) =>
      told(guards, { columns: ['a'], counted: { missing: new Map(), ...(newest === undefined ? {} : { newest }) } });
    expect(message(0)).toEqual([
      [
        'The newest value in column a is too old; the source may have stopped updating',
        '2026-06-13 12:00:00Z or later (2d before the run)',
      ],
    ]);
    expect(message()[0]?.[0]).toBe('Column a contains no date or time');
  });

  it("doesn't depend on the rows' order or how they're split into batches", () => {
    const values = Array.from({ length: 50 }, (_, i) => new Date(noon - ((i * 37) % 50) * 3_600_000).toISOString());
    const whole = counted(guards, [rowsOf(text, values)]).newest;
    const cut = counted(
      guards,
      values.toReversed().map((value) => rowsOf(text, [value])),
    ).newest;
    expect([whole, cut]).toEqual([noon, noon]);
  });
});

describe('shares', () => {
  it('whose product with the rows is not exact in floating point allow the exact number of rows', () => {
    const since = (rows: number, guards: Guards, before: number) =>
      found(guards, { rows }, { rows: before, run: 'r1' });
    expect(since(3, { rowChange: { down: 0.7, from: 0 } }, 10)).toEqual([]);
    expect(since(2, { rowChange: { down: 0.7, from: 0 } }, 10)).toHaveLength(1);
    expect(since(115, { rowChange: { up: 0.15, from: 0 } }, 100)).toEqual([]);
    expect(since(116, { rowChange: { up: 0.15, from: 0 } }, 100)).toHaveLength(1);
    const nulls = new Map([['id', 0.29]]);
    const missing = (count: number) => found({ nulls }, { rows: 100, counted: { missing: new Map([['id', count]]) } });
    expect(missing(29)).toEqual([]);
    expect(missing(30)).toHaveLength(1);
  });
});

it('an empty result must have an allowed size', () => {
  expect(found({ bytes: { minimum: 2 } }, { rows: 0, bytes: 1 })).toEqual([['bytes', '1 byte']]);
});

describe('rows that must be unique', () => {
  const columns: Column[] = [
    { name: 'id', type: 'integer' },
    { name: 'part', type: 'text' },
  ];
  const repeatsIn = (unique: readonly string[], batches: readonly Batch[]) => {
    const counters = GuardCounters.of({ guards: { unique } }, noon)!;
    for (const batch of batches) counters.take(batch);
    return counters.counted().repeats!;
  };
  const rows = (...values: Value[][]) => batchOf(columns, values);

  it('are counted if they repeat an earlier row, in any batch', () => {
    const batches = [rows(['1', 'a'], ['2', 'a']), rows(['1', 'b'], ['1', 'a'], [null, 'x'], [null, 'y'])];
    expect(repeatsIn(['id'], batches)).toEqual({ rows: 3, example: '1' });
    expect(repeatsIn(['id', 'part'], batches)).toEqual({ rows: 1, example: '1, a' });
    expect(repeatsIn(['gone'], batches)).toEqual({ rows: 0 });
  });

  it('are told apart in large results', () => {
    const many = Array.from({ length: 5000 }, (_, i) => [String(i), 'x']);
    expect(repeatsIn(['id'], [rows(...many)])).toEqual({ rows: 0 });
    expect(repeatsIn(['id'], [rows(...many), rows(...many.slice(10, 20))])).toEqual({ rows: 10, example: '10' });
  });

  it('fail the guard if they repeat, are too many to check, or lack the column', () => {
    const unique = ['id'];
    const of = (repeats: { rows: number | undefined; example?: string }) =>
      found({ unique }, { counted: { missing: new Map(), repeats } });
    expect(of({ rows: 0 })).toEqual([]);
    expect(of({ rows: 2, example: '11' })).toEqual([['unique', '2 of 200 rows, such as 11']]);
    expect(of({ rows: undefined })).toEqual([['unique', '200 rows']]);
    expect(found({ unique: ['gone'] }, {})).toEqual([['columns', 'id, day']]);
  });
});
