import { describe, expect, it } from 'vitest';
import { option, type StreamData } from '../../../src/sdk/index.ts';
import { fail, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

/** A vendor that returns three changes at a time, oldest first and without pages, and the stream that reads it. */
function capped(all: readonly { id: number; changed: string }[]): { routes: Routes; stream: Partial<StreamData> } {
  const routes: Routes = {
    'POST /v1/things': ({ body }) => ({
      json: { data: all.filter(({ changed }) => changed >= (body.since ?? '')).slice(0, 3) },
    }),
  };
  const stream: Partial<StreamData> = {
    request: { path: '/things', json: { since: '{{ since | iso }}' } },
    columns: { id: 'integer', changed: 'timestamptz' },
    incremental: { column: 'changed', key: 'id', cap: 3 },
  };
  return { routes, stream };
}

describe('a resumable stream', () => {
  it("continues from the latest change, skips records already read, and restarts at the vendor's record limit", async () => {
    const all = [1, 2, 2, 3, 4, 4, 5].map((day, i) => ({ id: i, changed: `2026-01-0${day}T00:00:00Z` }));
    const { routes, stream } = capped(all);
    const query = { incremental: true };
    const first = await run(stream, { routes, query });
    expect(first.rows.map(([id]) => id)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect(first.watermark).toBe('{"since":"2026-01-05T00:00:00Z","edge":["6"]}');
    const none = await run(stream, { routes, query, watermark: first.watermark! });
    expect(none).toMatchObject({ rows: [], unchanged: true, watermark: first.watermark });
    all.push({ id: 7, changed: '2026-01-05T00:00:00Z' });
    const next = await run(stream, { routes, query, watermark: none.watermark! });
    expect(next).toMatchObject({ rows: [['7', '2026-01-05T00:00:00Z']], unchanged: false });
    expect(next.watermark).toBe('{"since":"2026-01-05T00:00:00Z","edge":["6","7"]}');
  });

  it('keeps the watermark before records that may still arrive, and continues from the exact value if all are old', async () => {
    const now = Temporal.Now.instant();
    const fresh = now.toString({ smallestUnit: 'second' });
    const all = [
      { id: 1, changed: '2026-01-05T00:00:00Z' },
      { id: 2, changed: fresh },
    ];
    const routes: Routes = { 'GET /v1/things': () => ({ json: { data: all } }) };
    const stream: Partial<StreamData> = {
      columns: { id: 'integer', changed: 'timestamptz' },
      incremental: { column: 'changed', key: 'id', settles: '10m' },
    };
    const query = { incremental: true };
    const first = await run(stream, { routes, query });
    const { since, edge } = JSON.parse(first.watermark!) as { since: string; edge?: string[] };
    const behind = now.since(Temporal.Instant.from(since)).total('minutes');
    expect([Math.round(behind), edge]).toEqual([10, undefined]);
    // This record was changed before the one that was read, but becomes visible only now.
    all.push({ id: 3, changed: now.subtract({ minutes: 1 }).toString({ smallestUnit: 'second' }) });
    const second = await run(stream, { routes, query, watermark: first.watermark! });
    expect(second.rows.map(([id]) => id)).toEqual(['2', '3']);
    all.splice(1);
    const old = await run(stream, { routes, query });
    expect(old.watermark).toBe('{"since":"2026-01-05T00:00:00Z","edge":["1"]}');
    expect(await run(stream, { routes, query, watermark: old.watermark! })).toMatchObject({
      rows: [],
      unchanged: true,
    });
  });

  it('reads a record at the watermark again if the record has changed since then', async () => {
    const all = [1, 2, 2].map((day, i) => ({ id: i, changed: `2026-01-0${day}T00:00:00Z` }));
    const { routes, stream } = capped(all);
    const query = { incremental: true };
    const first = await run(stream, { routes, query });
    expect(first.watermark).toBe('{"since":"2026-01-02T00:00:00Z","edge":["1","2"]}');
    all[2]!.changed = '2026-01-03T00:00:00Z';
    const next = await run(stream, { routes, query, watermark: first.watermark! });
    expect(next).toMatchObject({ rows: [['2', '2026-01-03T00:00:00Z']], unchanged: false });
    expect(next.watermark).toBe('{"since":"2026-01-03T00:00:00Z","edge":["2"]}');
  });

  it("loses no record at the vendor's record limit, neither after known records nor if too many have the same time", async () => {
    const all = [1, 2, 3, 4, 5].map((id) => ({ id, changed: `2026-01-0${id}T00:00:00Z` }));
    const { routes, stream } = capped(all);
    const query = { incremental: true };
    const watermark = '{"since":"2026-01-01T00:00:00Z","edge":["1"]}';
    expect((await run(stream, { routes, query, watermark })).rows.map(([id]) => id)).toEqual(['2', '3', '4', '5']);
    for (const one of all) one.changed = '2026-01-09T00:00:00Z';
    expect(await fail(stream, { routes, query })).toMatchObject({ code: 'SERVICE_CAP', family: 'job' });
  });

  it('resumes by the column that the user chooses', async () => {
    const stream: Partial<StreamData> = {
      options: { by: option.text({ about: 'Which time.', default: 'changed', example: 'made' }) },
      columns: { id: 'integer', made: 'timestamptz', changed: 'timestamptz' },
      incremental: { column: '{{ by }}', key: 'id' },
    };
    const all = [{ id: 1, made: '2026-01-01T00:00:00Z', changed: '2026-01-09T00:00:00Z' }];
    const routes: Routes = { 'GET /v1/things': { json: { data: all } } };
    const watermark = async (query: object) =>
      (await run(stream, { routes, query: { incremental: true, ...query } })).watermark;
    expect(await watermark({})).toBe('{"since":"2026-01-09T00:00:00Z","edge":["1"]}');
    expect(await watermark({ by: 'made' })).toBe('{"since":"2026-01-01T00:00:00Z","edge":["1"]}');
  });
});
