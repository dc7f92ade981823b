import { describe, expect, it, vi } from 'vitest';
import { option, type StreamData } from '../../../src/sdk/index.ts';
import { basics, ids, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

const nothing: Routes = { 'GET /v1/things': { json: { data: [] } } };

describe('requests for each part', () => {
  it('cover every combination of parts, and skip a combination without data', async () => {
    const shops: StreamData = { ...basics, about: 'Shops.', request: { path: '/shops' }, columns: { id: 'integer' } };
    const outcome = await run(
      {
        options: { engines: option.text({ about: 'Engines to look at.', example: 'a,b' }) },
        partitions: { shop: { stream: 'shops', fields: { id: 'id' } }, engine: { option: 'engines' } },
        request: { path: '/shops/{{ partition.shop.id }}/things', query: { engine: '{{ partition.engine }}' } },
        columns: {
          shop: { type: 'integer', scope: 'partition.shop.id' },
          engine: { type: 'text', scope: 'partition.engine' },
          id: 'integer',
        },
        errors: [{ status: 400, body: { error: /not yet/ }, verdict: 'ignore' }],
      },
      {
        others: { shops },
        query: { engines: 'a, b' },
        routes: {
          'GET /v1/shops': { json: { data: ids(1, 3) } },
          'GET /v1/shops/{shop}/things': ({ part, query }) =>
            part.shop === '1' && query.get('engine') === 'b'
              ? { status: 400, json: { error: 'not yet calculated' } }
              : { json: { data: ids(0, 1) } },
        },
      },
    );
    expect(outcome.rows).toEqual([
      ['1', 'a', '0'],
      ['2', 'a', '0'],
      ['2', 'b', '0'],
    ]);
  });

  it('continue each part where the last run ended, or use only the parts that an option names', async () => {
    const stream: Partial<StreamData> = {
      options: { shop: option.text({ about: 'Shops.' }) },
      partitions: {
        shop: {
          request: { path: '/shops', query: { since: '{{ since | date }}' } },
          records: 'shops',
          fields: { id: 'id', name: 'name' },
          given: 'shop',
        },
      },
      request: { path: '/shops/{{ partition.shop.id }}/things' },
      incremental: { column: 'changed' },
      columns: { id: 'integer', shop: { type: 'text', scope: 'partition.shop.name' }, changed: 'timestamptz' },
    };
    const routes: Routes = {
      'GET /v1/shops': { json: { shops: [{ id: 1, name: 'one' }] } },
      'GET /v1/shops/{id}/things': ({ part }) => ({ json: { data: [{ id: Number(part.id) }] } }),
    };
    const asked = await run(stream, { routes, query: { start_date: '2026-01-01' } });
    expect(asked).toMatchObject({
      rows: [['1', 'one', null]],
      asked: ['GET /v1/shops?since=2026-01-01', 'GET /v1/shops/1/things'],
    });
    const named = await run(stream, { routes, query: { shop: '7, 8' } });
    expect(named.asked).toEqual(['GET /v1/shops/7/things', 'GET /v1/shops/8/things']);
  });

  it("use a part's own token if the request says so", async () => {
    const login = { kind: 'key', headers: { authorization: 'Bearer {{ key }}' } } as const;
    const key = option.text({ about: 'The key.', secret: true });
    const routes: Routes = {
      'GET /v1/parts': { json: { parts: [{ id: 1, token: 'part-1' }, { id: 2 }] } },
      'GET /v1/things': ({ headers }) => ({ json: { data: [{ by: headers.authorization }] } }),
    };
    const stream: Partial<StreamData> = {
      partitions: { part: { request: { path: '/parts' }, records: 'parts', fields: { token: 'token' } } },
      request: { path: '/things', headers: { Authorization: 'Bearer {{ partition.part.token }}' } },
      columns: { by: 'text' },
    };
    const { rows } = await run(stream, { routes, service: { login, options: { key } }, source: { key: 'ours' } });
    expect(rows).toEqual([['Bearer part-1'], ['Bearer ours']]);
  });

  it('cover one period each, with an inclusive or exclusive end, as days or as milliseconds', async () => {
    const spans = async (window: StreamData['window'], format: string) => {
      const request = {
        path: '/things',
        query: { from: `{{ window.from${format} }}`, to: `{{ window.to${format} }}` },
      };
      const query = { start_date: '2026-01-01', end_date: '2026-01-05' };
      const { asked } = await run({ window: window!, request }, { routes: nothing, query });
      return asked.map((line) => line.split('?')[1]);
    };
    expect(await spans({ step: '2d' }, '')).toEqual([
      'from=2026-01-01&to=2026-01-02',
      'from=2026-01-03&to=2026-01-04',
      'from=2026-01-05&to=2026-01-05',
    ]);
    expect(await spans({ step: '1mo', end: 'outside' }, ' | format: YYYYMMDD')).toEqual(['from=20260101&to=20260106']);
    expect(await spans({ end: 'outside' }, ' | epoch_ms')).toEqual(['from=1767225600000&to=1767657600000']);
  });

  it('cover calendar months, and resume from the start of a month', async () => {
    const stream: Partial<StreamData> = {
      window: { step: 'month', look_back: '1mo' },
      request: { path: '/things', query: { from: '{{ window.from }}', to: '{{ window.to }}' } },
    };
    const asked = async (query: Record<string, string | boolean>, watermark?: string) =>
      (await run(stream, { routes: nothing, query, ...(watermark && { watermark }) })).asked;
    expect(await asked({ start_date: '2026-01-15', end_date: '2026-03-02' })).toEqual([
      'GET /v1/things?from=2026-01-15&to=2026-01-31',
      'GET /v1/things?from=2026-02-01&to=2026-02-28',
      'GET /v1/things?from=2026-03-01&to=2026-03-02',
    ]);
    expect(await asked({ incremental: true, end_date: '2026-04-02' }, '{"until":"2026-03-31"}')).toEqual([
      'GET /v1/things?from=2026-02-01&to=2026-02-28',
      'GET /v1/things?from=2026-03-01&to=2026-03-31',
      'GET /v1/things?from=2026-04-01&to=2026-04-02',
    ]);
  });

  it('cover weeks from Monday, and resume from the start of a week', async () => {
    const stream: Partial<StreamData> = {
      window: { step: 'week' },
      request: { path: '/things', query: { from: '{{ window.from }}', to: '{{ window.to }}' } },
    };
    const asked = async (query: Record<string, string | boolean>, watermark?: string) =>
      (await run(stream, { routes: nothing, query, ...(watermark && { watermark }) })).asked;
    expect(await asked({ start_date: '2026-01-14', end_date: '2026-01-28' })).toEqual([
      'GET /v1/things?from=2026-01-14&to=2026-01-18',
      'GET /v1/things?from=2026-01-19&to=2026-01-25',
      'GET /v1/things?from=2026-01-26&to=2026-01-28',
    ]);
    expect(await asked({ incremental: true, end_date: '2026-01-26' }, '{"until":"2026-01-25"}')).toEqual([
      'GET /v1/things?from=2026-01-19&to=2026-01-25',
      'GET /v1/things?from=2026-01-26&to=2026-01-26',
    ]);
  });

  it('start with a whole month by default', async () => {
    const stream: Partial<StreamData> = {
      window: { step: 'month', start: '1mo' },
      request: { path: '/things', query: { from: '{{ window.from }}', to: '{{ window.to }}' } },
    };
    vi.useFakeTimers({ toFake: ['Temporal', 'Date'], now: Date.UTC(2026, 2, 10) });
    const { asked } = await run(stream, { routes: nothing }).finally(() => vi.useRealTimers());
    expect(asked).toEqual([
      'GET /v1/things?from=2026-02-01&to=2026-02-28',
      'GET /v1/things?from=2026-03-01&to=2026-03-10',
    ]);
  });

  it("return each period's bounds as columns", async () => {
    const stream: Partial<StreamData> = {
      window: { step: 'month' },
      columns: {
        id: 'integer',
        from: { type: 'date', scope: 'window.from' },
        to: { type: 'text', scope: 'window.to' },
      },
    };
    const routes = { 'GET /v1/things': { json: { data: [{ id: 1 }] } } };
    const query = { start_date: '2026-01-01', end_date: '2026-01-31' };
    const { rows } = await run(stream, { routes, query });
    expect(rows).toEqual([['1', '2026-01-01', '2026-01-31']]);
  });
});
