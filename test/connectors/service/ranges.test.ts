import { expect, it } from 'vitest';
import { begin, caseOf, fail, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

/** Records by modification time. The vendor supports a start date but no end date. */
const changes = {
  request: { path: '/things', query: { since: '{{ since | iso }}' } },
  columns: { id: 'integer', changed: 'timestamptz' },
  incremental: { column: 'changed', key: 'id' },
} as const;

const things = [
  { id: 1, changed: '2026-01-31T23:30:00Z' },
  { id: 2, changed: '2026-02-01T10:00:00Z' },
  { id: 3, changed: '2026-02-02T22:59:59Z' },
  { id: 4, changed: '2026-02-02T23:00:00Z' },
];
const routes: Routes = {
  'GET /v1/things': ({ query }) => ({
    json: { data: things.filter(({ changed }) => changed >= new Date(query.get('since') ?? 0).toISOString()) },
  }),
};
const range = { from: '2026-02-01', to: '2026-02-03' };

it("reads a range of days in the job's time zone even if the service has no end parameter, and keeps the watermark", async () => {
  const watermark = JSON.stringify({ since: '2026-03-01T00:00:00Z', edge: ['2'] });
  const query = { incremental: true };
  const outcome = await run(changes, { routes, query, watermark, range, timezone: 'Europe/Berlin' });
  expect(outcome).toMatchObject({
    rows: [
      ['1', '2026-01-31T23:30:00Z'],
      ['2', '2026-02-01T10:00:00Z'],
      ['3', '2026-02-02T22:59:59Z'],
    ],
    asked: ['GET /v1/things?since=2026-01-31T23:00:00Z'],
    watermark: undefined,
    cursor: 'changed',
    covers: { column: 'changed', from: '2026-01-31T23:00:00Z', to: '2026-02-02T23:00:00Z' },
  });
});

it('treats the columns of the kept rows as found in an earlier record, with and without a range', async () => {
  const keptColumns = (['changed', 'id', 'note'] as const).map((name) => ({ name, type: 'text', seen: true }) as const);
  const given = { routes, query: { incremental: true }, keptColumns };
  for (const part of [{}, { range }]) {
    const { extraction, leave } = await begin({ ...changes, columns: 'discovered' }, { ...given, ...part });
    expect(extraction).toMatchObject({ columns: keptColumns.map(({ name, type }) => ({ name, type })) });
    expect(extraction).toMatchObject({ absentColumns: ['note'], cursor: 'changed' });
    await leave();
  }
});

it("requests the range's days from a stream with dates, regardless of the query and the last run", async () => {
  const outcome = await run(
    {
      request: { path: '/report', query: { from: '{{ window.from }}', to: '{{ window.to }}' } },
      window: { step: '1d', look_back: '3d' },
    },
    {
      routes: { 'GET /v1/report': { json: { data: [{ id: 1 }] } } },
      query: { incremental: true, start_date: '{{ today - 1d }}' },
      watermark: JSON.stringify({ until: '2026-03-01' }),
      range,
    },
  );
  expect(outcome.asked).toEqual([
    'GET /v1/report?from=2026-02-01&to=2026-02-01',
    'GET /v1/report?from=2026-02-02&to=2026-02-02',
  ]);
  expect(outcome).toMatchObject({ watermark: undefined, covers: undefined });
});

it("reports which streams support ranges, and rejects ends that aren't dates", async () => {
  const rangesBy = (stream: object) => caseOf(stream, { routes }).service.rangesBy?.({ stream: 'things' });
  expect(rangesBy(changes)).toBe('the time of the change');
  expect(rangesBy({ window: {} })).toBe('start_date to end_date');
  expect(rangesBy({})).toBeUndefined();
  const refused = await fail(changes, { routes, query: { incremental: true }, range: { from: '1', to: '2' } });
  expect(refused).toMatchObject({ code: 'SERVICE_RANGE', family: 'config', seen: '1' });
});

it('names the column with the modification time, if the rows contain it', async () => {
  const outcome = await run(changes, { routes, query: { incremental: true } });
  expect(outcome.cursor).toBe('changed');
});
