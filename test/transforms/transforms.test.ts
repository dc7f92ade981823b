import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Batch, batchOf, batchText, cellText } from '../../src/sdk/batch.ts';
import type { Column, ColumnType } from '../../src/sdk/column.ts';
import { columnTypes } from '../../src/sdk/column.ts';
import { transforms } from '../../src/transforms/index.ts';
import { bytesBatch, columnsOf, outcome, prepare, problemOf, transformById } from './rig.ts';

const columns = columnsOf({ id: 'integer', country: 'text', amount: 'decimal' });
const rows = [
  [1, 'DE', '10.00'],
  [2, null, '9.5'],
  [3, '', null],
] as const;

describe('the transforms', () => {
  it('use their file names as IDs', () => {
    const files = readdirSync(join(import.meta.dirname, '../../src/transforms/all'));
    expect(transforms.map(({ id }) => `${id}.ts`)).toEqual(files.sort());
  });

  it('each have a schema with a description and an example', () => {
    for (const { schema } of transforms) {
      expect(schema.description).toMatch(/\.$/);
      expect(schema.examples).toHaveLength(1);
    }
  });

  it("don't change their input", () => {
    const given: Record<string, unknown> = {
      select: ['id'],
      rename: { id: 'key' },
      cast: { id: 'text' },
      filter: 'id > 1',
      compute: { id: 'id + 1' },
      sort: 'id',
      limit: 1,
      distinct: null,
      explode: 'country',
    };
    for (const { id } of transforms) {
      const batch = bytesBatch(columns, id === 'explode' ? [[1, '[2]', null]] : rows);
      const before = batchText(batch);
      outcome(prepare(id, given[id], columns), batch);
      expect(batchText(batch)).toEqual(before);
      expect(batch.columns).toBe(columns);
    }
  });

  it.each([
    ['select', ['contry']],
    ['rename', { contry: 'x' }],
    ['cast', { contry: 'text' }],
    ['sort', 'contry'],
    ['distinct', { columns: ['contry'] }],
    ['explode', 'contry'],
    ['explode', { column: 'id', columns: { a: 'a' }, header_from: { column: 'contry' } }],
  ])('%s suggests the closest column', (id, given) => {
    expect(problemOf(() => prepare(id, given, columns))).toMatchObject({
      code: 'TRANSFORM_COLUMN_UNKNOWN',
      family: 'config',
      allowed: 'id, country, amount',
      next: 'did you mean "country"?',
    });
  });
});

describe('select', () => {
  it('keeps the listed columns in the given order, without changing a cell', () => {
    const prepared = prepare('select', ['amount', 'id'], columns);
    const batch = bytesBatch(columns, rows);
    expect(outcome(prepared, batch)).toEqual([
      ['10.00', '1'],
      ['9.5', '2'],
      [null, '3'],
    ]);
    expect(prepared.apply(batch)!.cells[0]).toBe(batch.cells[2]);
  });

  it('rejects a duplicate column', () => {
    expect(problemOf(() => prepare('select', ['id', 'id'], columns)).code).toBe('TRANSFORM_COLUMN_TWICE');
    expect(transformById('select').check!(['id', 'id'])).toEqual(['"id" is selected twice']);
    expect(transformById('select').check!(['id', 'country'])).toEqual([]);
  });
});

describe('rename', () => {
  it('can swap names', () => {
    const prepared = prepare('rename', { id: 'country', country: 'id' }, columns);
    expect(prepared.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'country integer',
      'id text',
      'amount decimal',
    ]);
  });

  it('rejects an existing name, and allows columns named like JavaScript members', () => {
    expect(problemOf(() => prepare('rename', { id: 'amount' }, columns)).code).toBe('TRANSFORM_COLUMN_TWICE');
    const odd: Column[] = [
      { name: 'a', type: 'text' },
      { name: 'toString', type: 'text' },
    ];
    expect(prepare('rename', { a: 'b' }, odd).columns[1]!.name).toBe('toString');
  });
});

describe('cast', () => {
  const cast = (from: ColumnType, to: ColumnType, text: string | null, more = {}) => {
    const one = [{ name: 'it', type: from }];
    return outcome(prepare('cast', { it: { type: to, ...more } }, one), bytesBatch(one, [[text]]))[0]![0];
  };

  it.each<[ColumnType, ColumnType, string, string]>([
    ['text', 'integer', ' +007 ', '7'],
    ['text', 'integer', '-0', '0'],
    ['text', 'integer', '12.00', '12'],
    ['text', 'integer', '123456789012345678901234567890', '123456789012345678901234567890'],
    ['decimal', 'integer', '12.000', '12'],
    ['float', 'integer', '1e3', '1000'],
    ['boolean', 'integer', 'true', '1'],
    ['text', 'decimal', '.5', '0.5'],
    ['text', 'decimal', '01.50', '1.50'],
    ['text', 'decimal', '5.', '5'],
    ['text', 'decimal', '1.25e3', '1250'],
    ['text', 'decimal', '125e-4', '0.0125'],
    ['text', 'decimal', '-0.00', '0.00'],
    ['float', 'decimal', '1e21', '1000000000000000000000'],
    ['float', 'decimal', 'NaN', 'NaN'],
    ['text', 'float', '1.50', '1.5'],
    ['decimal', 'float', '0.1000', '0.1'],
    ['text', 'boolean', 'Yes', 'true'],
    ['integer', 'boolean', '0', 'false'],
    ['text', 'date', '2024-02-29', '2024-02-29'],
    ['timestamp', 'date', '2024-02-29T23:59:59.9', '2024-02-29'],
    ['timestamptz', 'date', '2024-02-29T23:59:59+14:00', '2024-02-29'],
    ['timestamp', 'time', '2024-02-29T23:59:59.123456', '23:59:59.123456'],
    ['text', 'time', '07:30', '07:30:00'],
    ['date', 'timestamp', '2024-02-29', '2024-02-29T00:00:00'],
    ['text', 'timestamp', '2024-02-29 01:02', '2024-02-29T01:02:00'],
    ['timestamptz', 'timestamp', '2024-02-29T01:02:03.4+01:00', '2024-02-29T01:02:03.4'],
    ['text', 'timestamptz', '2024-02-29 01:02:03.4567891+0530', '2024-02-29T01:02:03.4567891+05:30'],
    ['text', 'timestamptz', '2024-02-29T01:02:03-08', '2024-02-29T01:02:03-08:00'],
    ['text', 'timestamptz', '2024-02-29T01:02:03+00:00', '2024-02-29T01:02:03Z'],
    ['text', 'uuid', '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['text', 'json', '{"a": 1}', '{"a": 1}'],
    ['decimal', 'json', '1.50', '1.50'],
    ['date', 'json', '2024-02-29', '"2024-02-29"'],
    ['integer', 'text', '7', '7'],
    ['binary', 'text', 'AAE=', 'AAE='],
  ])('converts %s to %s: %s is %s', (from, to, text, expected) => {
    expect(cast(from, to, text)).toBe(expected);
  });

  it.each<[ColumnType, ColumnType, string]>([
    ['text', 'integer', ''],
    ['text', 'integer', '1.5'],
    ['text', 'integer', '0x10'],
    ['text', 'integer', '1 000'],
    ['text', 'integer', '1e1000000000'],
    ['decimal', 'integer', '1.01'],
    ['decimal', 'integer', 'NaN'],
    ['float', 'integer', 'Infinity'],
    ['text', 'decimal', '1,5'],
    ['text', 'decimal', '1e999999999'],
    ['text', 'float', '1e999'],
    ['text', 'boolean', 'maybe'],
    ['integer', 'boolean', '2'],
    ['text', 'date', '2023-02-29'],
    ['text', 'date', '29.02.2024'],
    ['text', 'time', '24:00:00'],
    ['text', 'timestamp', '2024-02-29T01:02:03Z'],
    ['text', 'timestamptz', '2024-02-29T01:02:03'],
    ['text', 'timestamptz', '2024-02-29T01:02:03+99:00'],
    ['text', 'uuid', 'a0eebc99'],
    ['text', 'json', '{a: 1}'],
    ['float', 'json', 'NaN'],
  ])("can't convert %s to %s for %s", (from, to, text) => {
    expect(problemOf(() => cast(from, to, text))).toMatchObject({ code: 'CAST_FAILED', family: 'row' });
    expect(cast(from, to, text, { on_error: 'null' })).toBe(null);
  });

  it('keeps null', () => {
    expect(cast('text', 'integer', null)).toBe(null);
  });

  it("reports the row, the column and the value that it can't convert", () => {
    const one = columnsOf({ it: 'text' });
    const prepared = prepare('cast', { it: 'integer' }, one);
    const problem = problemOf(() => prepared.apply(bytesBatch(one, [['1'], ['x\n']]), 500));
    expect(problem).toMatchObject({ where: { row: 502, column: 'it' }, seen: '"x\\n"' });
  });

  it('rejects conversions that can never succeed', () => {
    const problem = problemOf(() => cast('timestamp', 'timestamptz', '2024-01-01T00:00:00'));
    expect(problem).toMatchObject({ code: 'CAST_IMPOSSIBLE', family: 'config', allowed: 'text, date, time, json' });
  });

  it('declares the new types of converted columns, and keeps the types of all other columns', () => {
    const { columns: after } = prepare('cast', { amount: 'text', id: { type: 'decimal' } }, columns);
    expect(after.map(({ name, type }) => `${name} ${type}`)).toEqual(['id decimal', 'country text', 'amount text']);
  });

  it("doesn't change a cell whose text stays the same", () => {
    const batch = bytesBatch(columns, rows);
    expect(prepare('cast', { id: 'decimal' }, columns).apply(batch)!.cells[0]).toBe(batch.cells[0]);
    for (const type of columnTypes) expect(cast(type, type, 'as it is')).toBe('as it is');
  });
});

describe('filter', () => {
  it('selects rows by number without copying cells, even after another filter', () => {
    const batch = bytesBatch(columns, rows);
    const first = prepare('filter', 'id >= 2', columns).apply(batch)!;
    expect(first.cells).toBe(batch.cells);
    const second = prepare('filter', 'amount > 1', columns).apply(first)!;
    expect(batchText(second)).toEqual([['2', null, '9.5']]);
    expect(prepare('filter', 'id > 3', columns).apply(batch)).toBe(null);
  });

  it('reports a row in which the result is neither true nor false', () => {
    const one = columnsOf({ doc: 'json' });
    const keep = (text: string) => prepare('filter', 'doc.ok', one).apply(bytesBatch(one, [[text]]), 0)?.length ?? 0;
    expect([keep('{"ok": true}'), keep('{"ok": false}'), keep('{"ok": null}')]).toEqual([1, 0, 0]);
    expect(problemOf(() => keep('{"ok": 1}')).where).toMatchObject({ row: 1 });
  });

  it("reports a syntax error even if the columns aren't known yet", () => {
    expect(transformById('filter').check!('a +')[0]).toContain('at character');
    expect(transformById('filter').check!('a + b > 1')).toEqual([]);
    expect(transformById('compute').check!({ x: '1 +', y: '1' })).toEqual([
      expect.stringMatching(/^x: .*at character/),
    ]);
  });
});

describe('compute', () => {
  it('replaces columns in place, appends new ones, and evaluates every expression with the original columns', () => {
    const prepared = prepare('compute', { id: 'id + 1', next: 'id + 1', big: 'amount > 9.9' }, columns);
    expect(prepared.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'id integer',
      'country text',
      'amount decimal',
      'next integer',
      'big boolean',
    ]);
    expect(outcome(prepared, bytesBatch(columns, rows))).toEqual([
      ['2', 'DE', '10.00', '2', 'true'],
      ['3', null, '9.5', '3', 'false'],
      ['4', '', null, '4', null],
    ]);
  });

  it('computes only the rows that a filter has kept', () => {
    const batch = prepare('filter', 'id != 2', columns).apply(bytesBatch(columns, rows))!;
    const prepared = prepare('compute', { share: '6 / (id - 2)' }, columns);
    expect(batchText(prepared.apply(batch)!).map((row) => row[3])).toEqual(['-6', '6']);
  });
});

describe('limit', () => {
  it('passes the given number of rows across batches, and reports when it has enough', () => {
    const prepared = prepare('limit', 4, columns);
    expect(prepared.satisfied).toBe(false);
    expect(outcome(prepared, bytesBatch(columns, rows), bytesBatch(columns, rows)).map(([id]) => id)).toEqual([
      '1',
      '2',
      '3',
      '1',
    ]);
    expect(prepared.satisfied).toBe(true);
    expect(prepare('limit', 0, columns).satisfied).toBe(true);
  });
});

describe('distinct', () => {
  it('keeps the first of several equal rows, with null distinct from an empty string and cells kept apart', () => {
    const two = columnsOf({ a: 'text', b: 'text' });
    const batch = bytesBatch(two, [
      ['x', 'y'],
      ['xy', ''],
      ['x', 'y'],
      [null, 'y'],
      ['', 'y'],
      [null, 'y'],
      ['-', 'y'],
    ]);
    expect(outcome(prepare('distinct', null, two), batch)).toEqual([
      ['x', 'y'],
      ['xy', ''],
      [null, 'y'],
      ['', 'y'],
      ['-', 'y'],
    ]);
    expect(outcome(prepare('distinct', { columns: ['b'] }, two), batch, batch)).toEqual([
      ['x', 'y'],
      ['xy', ''],
    ]);
  });

  it('fails the run if there are more distinct rows than max_rows', () => {
    const prepared = prepare('distinct', { max_rows: 2 }, columns);
    expect(problemOf(() => prepared.apply(bytesBatch(columns, rows)))).toMatchObject({
      code: 'DISTINCT_TOO_MANY_ROWS',
      family: 'job',
    });
    expect(
      outcome(prepare('distinct', { max_rows: 3 }, columns), bytesBatch(columns, [...rows, ...rows])),
    ).toHaveLength(3);
  });
});

describe('sort', () => {
  const sorted = (type: ColumnType, cells: readonly (string | null)[], order = 'asc') => {
    const one = columnsOf({ it: type });
    const prepared = prepare('sort', [{ column: 'it', order }], one);
    return outcome(
      prepared,
      bytesBatch(
        one,
        cells.map((cell) => [cell]),
      ),
    ).map((row) => row[0]);
  };

  it.each<[ColumnType, (string | null)[]]>([
    ['integer', ['-9223372036854775809', '-10', '-9', '9', '10', '9007199254740992', '9007199254740993', null]],
    [
      'decimal',
      ['-Infinity', '-1.5', '0', '1.05', '1.5', '9007199254740992.9', '9007199254740993', 'Infinity', 'NaN', null],
    ],
    ['float', ['-Infinity', '-1e300', '0.1', '2', '1e21', 'Infinity', 'NaN', null]],
    ['text', ['', 'B', 'a', 'ä', '\ufffd', '😀', null]],
    ['boolean', ['false', 'true', null]],
    ['date', ['0044-03-15', '1999-12-31', '2024-01-01', '12024-01-01', null]],
    ['timestamp', ['2024-01-01T00:00:00', '2024-01-01T00:00:00.000001', '2024-01-01T00:00:00.1', null]],
    ['timestamptz', ['2024-01-01T01:00:00+02:00', '2023-12-31T23:30:00Z', '2024-01-01T00:00:00+00:00', null]],
    ['uuid', ['0a', '1a', 'aa', null]],
  ])('sorts %s by value, nulls last in either direction', (type, right) => {
    const mixed = [...right.slice(3), ...right.slice(0, 3).reverse()];
    expect(sorted(type, mixed)).toEqual(right);
    expect(sorted(type, mixed, 'desc')).toEqual([...right.slice(0, -1).reverse(), null]);
  });

  it('sorts by several columns and keeps the order of equal rows', () => {
    const prepared = prepare('sort', ['country', { column: 'amount', order: 'desc' }], columns);
    const batch = bytesBatch(columns, [
      [1, 'b', '1'],
      [2, 'a', '1'],
      [3, 'a', '2.0'],
      [4, 'a', '2'],
      [5, null, '9'],
    ]);
    expect(outcome(prepared, batch).map(([id]) => id)).toEqual(['3', '4', '2', '1', '5']);
  });

  it('buffers only the rows that a filter has kept, as bytes or as values, across many batches', () => {
    const prepared = prepare('sort', { by: [{ column: 'id', order: 'desc' }] }, columns);
    const many = (from: number) =>
      Array.from({ length: 900 }, (_, r) => [from + r, r % 2 ? null : `c${from + r}`, '1.0']);
    const even = (batch: Batch): Batch => prepare('filter', 'id % 2 == 0', columns).apply(batch)!;
    const out = outcome(
      prepared,
      even(bytesBatch(columns, many(0))),
      even(batchOf(columns, many(900))),
      even(bytesBatch(columns, many(1800))),
    );
    expect(out).toEqual(Array.from({ length: 1350 }, (_, i) => [String(2698 - 2 * i), `c${2698 - 2 * i}`, '1.0']));
  });

  it('can start with values and continue with bytes', () => {
    const prepared = prepare('sort', 'id', columns);
    expect(outcome(prepared, batchOf(columns, [[2, 'b', null]]), bytesBatch(columns, [[1, null, '5']]))).toEqual([
      ['1', null, '5'],
      ['2', 'b', null],
    ]);
  });

  it('fails the run if its limit is exceeded, and never drops rows', () => {
    const problem = problemOf(() =>
      prepare('sort', { by: ['id'], max_rows: 2 }, columns).apply(bytesBatch(columns, rows)),
    );
    expect(problem).toMatchObject({ code: 'SORT_TOO_MANY_ROWS', family: 'job', allowed: 'max_rows: 2' });
    expect(outcome(prepare('sort', { by: ['id'], max_rows: 3 }, columns), bytesBatch(columns, rows))).toHaveLength(3);
  });

  it('returns no rows for empty input', () => {
    expect(outcome(prepare('sort', 'id', columns))).toEqual([]);
  });
});

describe('a chain of transforms', () => {
  it("keeps an unchanged cell's bytes", () => {
    const batch = bytesBatch(columns, rows);
    const steps: [string, unknown][] = [
      ['filter', 'id > 1'],
      ['compute', { country: 'coalesce(country, "?")' }],
      ['rename', { amount: 'total' }],
      ['select', ['total', 'country']],
    ];
    let current = batch;
    let known: readonly Column[] = columns;
    for (const [id, given] of steps) {
      const prepared = prepare(id, given, known);
      current = prepared.apply(current)!;
      known = prepared.columns;
    }
    expect(batchText(current)).toEqual([
      ['9.5', '?'],
      [null, ''],
    ]);
    expect(current.cells[0]).toBe(batch.cells[2]);
    expect(cellText(current.cells[0]!, 'decimal', 1)).toBe('9.5');
  });
});
