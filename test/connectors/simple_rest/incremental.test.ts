import { beforeEach, describe, expect, it } from 'vitest';
import rest from '../../../connectors/simple_rest/index.ts';
import { sendJson } from '../http-server.ts';
import { faults, restBench } from './rig.ts';

const { server, extract, failure, asked } = restBench();

type Item = Record<string, unknown>;
/** The server's records, in the order in which it returns them. */
let items: Item[];
/** How the server compares a record's value with the requested time. */
let isAfter: (at: unknown, since: string) => boolean;

const instant = (text: unknown) => Date.parse(String(text));

beforeEach(() => {
  items = [];
  isAfter = (at, since) => instant(at) >= instant(since);
  server.answer = ({ searchParams }, response) => {
    const since = searchParams.get('since');
    const until = searchParams.get('until');
    const page = Number(searchParams.get('page') ?? 1);
    const wanted = items
      .filter(({ at }) => since === null || isAfter(at, since))
      .filter(({ at }) => until === null || !isAfter(at, until));
    sendJson(response, wanted.slice(2 * page - 2, 2 * page));
  };
});

const query = {
  path: '/x',
  parameters: [
    { name: 'since', value: '{{ since }}' },
    { name: 'until', value: '{{ until }}' },
  ],
  paging: { kind: 'page' },
  cursor: 'at',
};
const idsOf = ({ rows }: { rows: readonly (readonly (string | null)[])[] }) => rows.map(([id]) => id);
/** The `since` of a run's first request. */
const since = () => new URL(asked()[0]!, 'http://h').searchParams.get('since');
/** The parameters of each request, without their names. */
const spans = () => asked().map((url) => [...new URL(url, 'http://h').searchParams.values()].join(' '));

async function run(more: Item = {}, watermark?: string | undefined, how: object = {}) {
  server.requests.length = 0;
  return extract({ ...query, ...more }, {}, { ...(watermark === undefined ? {} : { watermark }), ...how });
}

describe('an incremental read', () => {
  it('reads everything, then only what is new, from the highest value on any page', async () => {
    items = [
      { id: 1, at: '2026-01-01T10:00:00Z' },
      { id: 2, at: '2026-01-03T10:00:00Z' },
      { id: 3, at: '2026-01-02T10:00:00Z' },
    ];
    const first = await run();
    expect(first).toMatchObject({
      columns: [
        { name: 'id', type: 'integer' },
        { name: 'at', type: 'timestamptz' },
      ],
      unchanged: false,
    });
    expect(idsOf(first)).toEqual(['1', '2', '3']);
    expect(since()).toBeNull();
    const second = await run({}, first.watermark);
    expect(second).toMatchObject({ rows: [], unchanged: true, watermark: first.watermark });
    expect(since()).toBe('2026-01-03T10:00:00Z');
    items.unshift({ id: 4, at: '2026-01-03T10:00:00Z' }, { id: 5, at: '2026-01-09T00:00:00Z' });
    const third = await run({}, second.watermark);
    expect(idsOf(third)).toEqual(['4', '5']);
    items = [];
    const fourth = await run({}, third.watermark);
    expect(fourth).toMatchObject({ rows: [], unchanged: true, watermark: undefined });
    await run({}, third.watermark);
    expect(since()).toBe('2026-01-09T00:00:00Z');
  });

  /** A run that begins at this time on January 2. */
  const runAt = (time: string, watermark?: string) => {
    const attemptFacts = { texts: new Map<string, string>(), since: instant(`2026-01-02T${time}Z`), folder: '' };
    return run({}, watermark, { attemptFacts });
  };

  it('requests records again that changed while it read the pages after theirs', async () => {
    const page = (...records: Item[]) => records;
    const pages = [
      page({ id: 1, at: '2026-01-01T00:00:00Z' }, { id: 2, at: '2026-01-01T00:00:00Z' }),
      page({ id: 3, at: '2026-01-02T10:00:07Z' }),
    ];
    items = pages.flat();
    const first = await runAt('10:00:00');
    expect(idsOf(first)).toEqual(['1', '2', '3']);
    items[0] = { id: 1, at: '2026-01-02T10:00:03Z' };
    const second = await runAt('11:00:00', first.watermark);
    expect(since()).toBe('2026-01-02T10:00:00Z');
    expect(idsOf(second)).toEqual(['1']);
    expect(await runAt('12:00:00', second.watermark)).toMatchObject({ rows: [], unchanged: true });
    expect(since()).toBe('2026-01-02T10:00:07Z');
  });

  it('finds new records although one has a time in the far future, which it returns once', async () => {
    const future = { id: 9, at: '2999-12-31T00:00:00Z' };
    items = [future, { id: 1, at: '2026-01-02T09:00:00Z' }];
    const first = await runAt('10:00:00');
    items.push({ id: 2, at: '2026-01-02T10:30:00Z' });
    const second = await runAt('11:00:00', first.watermark);
    expect(idsOf(second)).toEqual(['2']);
    // A response may lack a record that the next one has again.
    items.shift();
    items.push({ id: 3, at: '2026-01-02T11:30:00Z' });
    const third = await runAt('12:00:00', second.watermark);
    expect(idsOf(third)).toEqual(['3']);
    items.push(future);
    const fourth = await runAt('13:00:00', third.watermark);
    expect(fourth).toMatchObject({ rows: [], unchanged: true });
    items.push({ ...future, changed: true });
    const fifth = await runAt('14:00:00', fourth.watermark);
    expect(idsOf(fifth)).toEqual(['9']);
    expect(await runAt('15:00:00', fifth.watermark)).toMatchObject({ rows: [], unchanged: true });
  });

  it('starts at `start`, which can be a template', async () => {
    await run({ start: '2020-01-01' });
    expect(since()).toBe('2020-01-01');
    await run({ start: '{{ today - 7d }}' }, undefined, { logicalAt: Date.UTC(2026, 0, 31), timezone: 'UTC' });
    expect(since()).toBe('2026-01-24');
    await run({ start: 100 });
    expect(since()).toBe('100');
  });

  it('finds late records within the lag, and does not return known ones again, but changed ones', async () => {
    items = [
      { id: 1, at: '2026-01-01T09:55:00Z' },
      { id: 2, at: '2026-01-01T10:00:00Z' },
      { id: 3, at: '2026-01-01T08:00:00Z' },
    ];
    const { watermark } = await run({ lag: '10m' });
    items.push({ id: 4, at: '2026-01-01T09:52:00Z' }, { id: 1, at: '2026-01-01T09:55:00Z', v: 2 });
    const second = await run({ lag: '10m' }, watermark);
    expect(since()).toBe('2026-01-01T09:50:00Z');
    expect(idsOf(second)).toEqual(['4', '1']);
    expect(idsOf(await run({ lag: '10m' }, second.watermark))).toEqual([]);
  });

  it('drops records below the watermark if the server rounds the requested time or ignores it', async () => {
    items = [
      { id: 1, at: '2026-01-01T09:00:00Z' },
      { id: 2, at: '2026-01-01T10:00:00Z' },
    ];
    const { watermark } = await run();
    isAfter = () => true;
    items.push({ id: 3, at: '2026-01-01T11:00:00Z' });
    expect(idsOf(await run({ parameters: [{ name: 'since', value: '{{ since | date }}' }] }, watermark))).toEqual([
      '3',
    ]);
    expect(since()).toBe('2026-01-01');
  });

  it('compares integers, decimals and times exactly', async () => {
    const big = (at: string) => `{"id": ${at.length}, "at": ${at}}`;
    const reading = async (values: readonly string[], more: Item = {}) => {
      server.answer = (_, response) => sendJson(response, `[${values.map(big).join()}]`);
      const { watermark } = await run({ ...more, paging: { kind: 'none' } });
      await run({ ...more, paging: { kind: 'none' } }, watermark);
      return since();
    };
    expect(await reading(['9007199254740993', '9007199254740992', '999'])).toBe('9007199254740993');
    expect(await reading(['12345678901234567890', '12345678901234567891'], { lag: 1 })).toBe('12345678901234567890');
    expect(await reading(['1.5', '1.10000000000000000001', '1.500000000000000001'])).toBe('1.500000000000000001');
    expect(await reading(['"9"', '"10"'])).toBe('10');
    expect(
      await reading([
        '"2026-01-01T10:00:00.123456788Z"',
        '"2026-01-01T12:00:00.123456789+02:00"',
        '"2026-01-01T09:59:59Z"',
      ]),
    ).toBe('2026-01-01T10:00:00.123456789Z');
    expect(await reading(['"2026-01-02"', '"2026-01-10"', '"2026-01-09"'])).toBe('2026-01-10');
    expect(await reading(['"2026-01-02 10:00:00"', '"2026-01-02 9:00:00"'].slice(0, 1), { lag: '1h' })).toBe(
      '2026-01-02T09:00:00',
    );
    const epoch = { types: { at: { type: 'timestamptz', format: 'epoch_ms' } } };
    expect(await reading(['"1769850000123"'], epoch)).toBe('2026-01-31T09:00:00.123Z');
  });

  it('compares decimals by value, whatever zeros follow their digits', async () => {
    const once = { paging: { kind: 'none' } };
    const reading = (body: string, watermark?: string, more: Item = {}) => {
      server.answer = (_, response) => sendJson(response, body);
      return run({ ...once, ...more }, watermark);
    };
    const first = await reading('[{"id":1,"at":1.5,"sum":2.10},{"id":2,"at":1.50,"sum":3},{"id":3,"at":1.49,"sum":0}]');
    const again = '{"id":1,"at":1.500,"sum":2.1},{"id":2,"at":1.5,"sum":3.00}';
    const second = await reading(`[${again}]`, first.watermark);
    expect(second).toMatchObject({ rows: [], unchanged: true });
    const third = await reading(`[{"id":4,"at":1.50,"sum":2.1},${again}]`, second.watermark);
    expect(third.rows).toEqual([['4', '1.50', '2.1']]);
    const fourth = await reading('[{"id":5,"at":2,"sum":1.0},{"id":4,"at":1.5,"sum":2.10}]', third.watermark);
    expect(fourth.rows).toEqual([['5', '2', '1.0']]);
    // A response with nothing but whole numbers is no other type of column.
    const fifth = await reading('[{"id":5,"at":2,"sum":1},{"id":6,"at":3,"sum":1}]', fourth.watermark);
    expect(fifth.rows).toEqual([['6', '3', '1']]);
    expect(fifth.columns[1]).toEqual({ name: 'at', type: 'decimal' });
    await reading('[]', fifth.watermark, { lag: 1 });
    expect(since()).toBe('2');
  });

  it('sends an integer in a JSON body as a number with all its digits', async () => {
    items = [{ id: 1, at: 1 }];
    server.answer = (_, response) => sendJson(response, '[{"id": 1, "at": 12345678901234567891}]');
    const more = { method: 'POST', parameters: [], body: { after: '{{ since }}' }, paging: { kind: 'none' } };
    const { watermark } = await run(more);
    await run(more, watermark);
    expect(server.requests[0]!.body).toBe('{"after":12345678901234567891}');
  });

  it('remembers equal records as often as they occur', async () => {
    items = [
      { id: 1, at: 5 },
      { id: 1, at: 5 },
    ];
    isAfter = (at, since) => Number(at) >= Number(since);
    const { watermark } = await run({ paging: { kind: 'none' }, path: '/x?page=1' });
    const three = '[{"id":1,"at":5},{"id":1,"at":5},{"id":1,"at":5}]';
    server.answer = (_, response) => sendJson(response, three);
    expect(idsOf(await run({ paging: { kind: 'none' } }, watermark))).toEqual(['1']);
  });

  it('reports that rows may come again if too many have the highest value', async () => {
    const many = (count: number) => JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, at: 7 })));
    server.answer = (_, response) => sendJson(response, many(21_000));
    const first = await run({ paging: { kind: 'none' } });
    expect(first.comesAgain).toEqual({ why: 'too_many' });
    const second = await run({ paging: { kind: 'none' } }, first.watermark);
    expect(second.rows).toHaveLength(11_000);
    server.answer = (_, response) => sendJson(response, many(10_000));
    expect((await run({ paging: { kind: 'none' } })).comesAgain).toBeUndefined();
  });

  it('recognizes a record whose response has other values outside the records', async () => {
    let number = 0;
    server.answer = (_, response) => {
      number++;
      sendJson(response, { number, rows: [{ id: 1, at: 5 }] }, { 'x-number': String(number) });
    };
    const more = {
      paging: { kind: 'none' },
      records: 'rows',
      header_columns: { header: 'x-number' },
      page_columns: { number: 'number' },
    };
    const first = await run(more);
    expect(first.rows).toEqual([['1', '1', '1', '5']]);
    expect(await run(more, first.watermark)).toMatchObject({ rows: [], unchanged: true });
  });

  it('reads csv, and skips records without a value only if told to', async () => {
    server.answer = (_, response) => response.writeHead(200, { 'content-type': 'text/csv' }).end('id,at\n1,\n2,3\n');
    const once = { paging: { kind: 'none' } };
    expect(await failure({ ...query, ...once })).toMatchObject({
      code: 'REST_NULL_CURSOR',
      where: { column: 'at', row: 1 },
    });
    expect((await run({ ...once, null_cursors: 'leave_out' })).rows).toEqual([['2', '3']]);
    const pages = [
      [{ id: 1, at: null }, { id: 2 }],
      [
        { id: 3, at: 9 },
        { id: 4, at: '' },
      ],
      [],
    ];
    server.answer = (_, response, n) => sendJson(response, pages[n - 1]);
    const result = await run({ null_cursors: 'leave_out' });
    expect(idsOf(result)).toEqual(['3']);
    server.answer = (_, response) => sendJson(response, pages[0]);
    const nothing = await run({ ...once, null_cursors: 'leave_out' }, result.watermark);
    expect(nothing).toMatchObject({ rows: [], unchanged: true, watermark: undefined });
  });

  it('names the record whose value cannot be compared, and the columns if the cursor is none of them', async () => {
    const failed = async (values: unknown[], more: Item = {}) => {
      server.answer = (_, response) =>
        sendJson(
          response,
          values.map((at) => ({ at })),
        );
      return failure({ ...query, paging: { kind: 'none' }, ...more });
    };
    expect(await failed(['2026-01-01T00:00:00Z', 'never'])).toMatchObject({ code: 'CURSOR_VALUE', where: { row: 2 } });
    expect(await failed(['abc'])).toMatchObject({ code: 'CURSOR_VALUE', where: { column: 'at' }, seen: 'abc' });
    expect(await failed([1.5, 'x'])).toMatchObject({ code: 'CURSOR_VALUE', where: { row: 2 }, seen: 'x' });
    expect(await failed([true])).toMatchObject({ code: 'CURSOR_TYPE' });
    expect(await failed([1], { cursor: 'id' })).toMatchObject({ code: 'REST_NO_CURSOR', allowed: 'at' });
    const { watermark } = await run({ paging: { kind: 'none' } });
    server.answer = (_, response) => sendJson(response, [{ at: '2026-01-01' }]);
    expect(await failure({ ...query, paging: { kind: 'none' } }, {}, { watermark: watermark! })).toMatchObject({
      code: expect.stringMatching(/^CURSOR_/),
    });
  });

  it('reads a past range again, whatever the server does with it', async () => {
    items = [
      { id: 1, at: '2026-01-31T23:00:00Z' },
      { id: 2, at: '2026-02-01T00:00:00Z' },
      { id: 3, at: '2026-01-01T00:00:00Z' },
    ];
    const { watermark } = await run();
    const range = { from: '2026-01-01', to: '2026-02-01' };
    const january = await run({}, watermark, { range, timezone: 'UTC' });
    expect(idsOf(january)).toEqual(['1', '3']);
    expect(january).toMatchObject({
      covers: { column: 'at', from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' },
      watermark: undefined,
    });
    expect(asked()[0]).toBe('/x?since=2026-01-01T00%3A00%3A00Z&until=2026-02-01T00%3A00%3A00Z&page=1');
    isAfter = () => true;
    const berlin = { range, timezone: 'Europe/Berlin' };
    expect(idsOf(await run({ parameters: [{ name: 'since', value: '{{ since }}' }] }, watermark, berlin))).toEqual([
      '3',
    ]);
    expect(await failure(query, {}, { range })).toMatchObject({ code: 'CURSOR_RANGE' });
  });

  it('reads the row at the start of a past range from an API that returns only later ones, if there is a lag', async () => {
    isAfter = (at, since) => instant(at) > instant(since);
    items = [
      { id: 1, at: '2025-12-31T23:30:00Z' },
      { id: 2, at: '2026-01-01T00:00:00Z' },
      { id: 3, at: '2026-01-31T00:00:00Z' },
    ];
    const more = { lag: '1h' };
    const { watermark } = await run(more);
    const january = await run(more, watermark, { range: { from: '2026-01-01', to: '2026-02-01' }, timezone: 'UTC' });
    expect(idsOf(january)).toEqual(['2', '3']);
    expect(january.covers).toEqual({ column: 'at', from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' });
    expect(since()).toBe('2025-12-31T23:00:00Z');
  });

  it('requests long spans step by step with `window`, up to now or to the end of a backfill', async () => {
    const now = { logicalAt: Date.UTC(2026, 2, 10, 12), timezone: 'UTC' };
    const more = { start: '2026-01-01', window: { step: '1mo' }, paging: { kind: 'none' } };
    items = [
      { id: 1, at: '2026-01-31T10:00:00Z' },
      { id: 2, at: '2026-02-10T12:00:00Z' },
    ];
    const { watermark, rows } = await run(more, undefined, now);
    expect(rows.map(([id]) => id)).toEqual(['1', '2']);
    expect(spans()).toEqual(['2026-01-01 2026-02-01', '2026-02-01 2026-03-01', '2026-03-01 2026-03-10T12:00:00Z']);
    await run(more, watermark, now);
    expect(spans()).toEqual(['2026-02-10T12:00:00Z 2026-03-10T12:00:00Z']);
    await run(more, watermark, { ...now, range: { from: '2025-01-01', to: '2025-02-15' } });
    expect(spans()).toEqual(['2025-01-01T00:00:00Z 2025-02-01T00:00:00Z', '2025-02-01T00:00:00Z 2025-02-15T00:00:00Z']);
  });

  it('sends a time without a zone as it is written, also at the ends of periods', async () => {
    isAfter = (at, since) => String(at) >= since;
    // This time doesn't exist in Berlin.
    items = [{ id: 1, at: '2026-03-29T02:30:00.25' }];
    const more = { start: '2026-03-28T00:00:00', window: { step: '1d' }, paging: { kind: 'none' } };
    const now = { logicalAt: Date.UTC(2026, 2, 29, 12), timezone: 'Europe/Berlin' };
    const { watermark, columns } = await run(more, undefined, now);
    expect(columns[1]).toEqual({ name: 'at', type: 'timestamp' });
    expect(spans()).toEqual(['2026-03-28T00:00:00 2026-03-29T00:00:00', '2026-03-29T00:00:00 2026-03-29T14:00:00']);
    await run(more, watermark, now);
    expect(spans()).toEqual(['2026-03-29T02:30:00.25 2026-03-29T14:00:00']);
    await run(more, watermark, { ...now, range: { from: '2026-01-01', to: '2026-01-02T12:00' } });
    expect(spans()).toEqual(['2026-01-01T00:00:00 2026-01-02T00:00:00', '2026-01-02T00:00:00 2026-01-02T12:00:00']);
  });

  it('requests no period that ends before it begins, because clocks were set back', async () => {
    isAfter = (at, since) => String(at) >= since;
    items = [{ id: 1, at: '2026-10-25T02:50:00' }];
    const more = { start: '2026-10-25T01:00:00', window: { step: '1h' }, paging: { kind: 'none' } };
    const at = (minute: number) => ({ logicalAt: Date.UTC(2026, 9, 25, 1, minute), timezone: 'Europe/Berlin' });
    const { watermark } = await run(more, undefined, at(55));
    expect(spans()).toEqual(['2026-10-25T01:00:00 2026-10-25T02:00:00', '2026-10-25T02:00:00 2026-10-25T02:55:00']);
    expect(await run(more, watermark, at(10))).toMatchObject({ rows: [], unchanged: true });
    expect(spans()).toEqual([]);
  });

  it('ends the last period of a backfill of days at its end, or a day earlier with `bound: inside`', async () => {
    items = [{ id: 1, at: '2026-01-31' }];
    const more = { start: '2026-01-01', paging: { kind: 'none' } };
    const { watermark } = await run(more);
    const backfill = { range: { from: '2025-01-01', to: '2025-02-01' }, timezone: 'UTC' };
    await run({ ...more, window: { step: '1mo' } }, watermark, backfill);
    expect(spans()).toEqual(['2025-01-01 2025-02-01']);
    await run({ ...more, window: { step: '1mo', bound: 'inside' } }, watermark, backfill);
    expect(spans()).toEqual(['2025-01-01 2025-01-31']);
  });
});

describe('the options of an incremental read', () => {
  it('belong together', () => {
    expect(faults({ path: '/x', lag: '1m', start: 1, null_cursors: 'leave_out' })).toEqual([
      'lag',
      'start',
      'null_cursors',
    ]);
    expect(faults({ path: '/x', cursor: 'at' })).toEqual(['cursor']);
    expect(faults({ path: '/x?since={{ since }}', cursor: 'at' })).toEqual(['start']);
    expect(faults({ path: '/x?since={{ since | default: 0 }}', cursor: 'at' })).toEqual([]);
    expect(faults({ path: '/x?since={{ since }}', cursor: 'at', start: 0 })).toEqual([]);
    expect(faults({ path: '/x?a={{ since }}&b={{ until }}', cursor: 'at', start: 0 })).toEqual(['path']);
    const windowed = { path: '/x?a={{ since }}&b={{ until }}', cursor: 'at', start: '2026-01-01' };
    expect(faults({ ...windowed, window: { step: '1d' } })).toEqual([]);
    expect(faults({ ...windowed, window: { start: '2026-01-01' } })).toEqual(['window']);
    expect(faults({ path: '/x?a={{ window.from }}', window: { step: '1d' } })).toEqual(['window']);
    expect(faults({ ...windowed, conditional: true })).toContain('cursor');
    expect(faults({ paths: ['/eu?a={{ since }}', '/us?a={{ since }}'], cursor: 'id', start: 0 })).toEqual(['cursor']);
    expect(faults({ path: '/x?since={{ since }}' })).toEqual(['path']);
  });

  it('let a person set the watermark by value', () => {
    const former = '{"column":"at","type":"timestamptz","value":"2026-01-01T00:00:00Z","columns":[],"seen":[]}';
    const given = { former, query: { cursor: 'at' } } as never;
    expect(rest.readsOnFrom!('2026-02-01T00:00:00Z', given)).toContain('"value":"2026-02-01T00:00:00Z"');
    expect(() => rest.readsOnFrom!('soon', given)).toThrow();
    expect(rest.readsOnFrom!('{"etag":"x"}', { former, query: {} } as never)).toBe('{"etag":"x"}');
  });
});
