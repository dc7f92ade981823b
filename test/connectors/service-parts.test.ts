import { expect, it, vi } from 'vitest';
import { defineService, option, type ServiceDescription, type StreamData } from '../../src/sdk/index.ts';
import { failService, runService, type ServiceCase } from './doubles/service-suite.ts';
import type { Routes } from './doubles/vendor.ts';

type Given = Omit<ServiceCase, 'service' | 'query'> & { readonly query?: Record<string, unknown> };

const basics: StreamData = {
  about: 'Things.',
  request: { path: '/things' },
  records: 'data',
  columns: { id: 'integer' },
};

function caseOf(stream: Partial<StreamData>, { query = {}, ...given }: Given, more: Partial<ServiceDescription> = {}) {
  const service = defineService({
    id: 'acme',
    title: 'Acme',
    summary: 'Reads what Acme has.',
    base: 'https://api.acme.example',
    login: { kind: 'none' },
    check: { request: { path: '/me' }, say: 'ok' },
    ...more,
    streams: { things: { ...basics, ...stream } },
  });
  return { ...given, query, service };
}

const nothing: Routes = { 'GET /things': { json: {} } };

it('asks month by month of the calendar, and begins a month anew when it goes on', async () => {
  const stream: Partial<StreamData> = {
    window: { step: 'month', look_back: '1mo' },
    request: { path: '/things', query: { from: '{{ window.from }}', to: '{{ window.to }}' } },
  };
  const asked = async (query: Record<string, string | boolean>, watermark?: string) =>
    (await runService(caseOf(stream, { routes: nothing, query, ...(watermark && { watermark }) }))).asked;
  expect(await asked({ start_date: '2026-01-15', end_date: '2026-03-02' })).toEqual([
    'GET /things?from=2026-01-15&to=2026-01-31',
    'GET /things?from=2026-02-01&to=2026-02-28',
    'GET /things?from=2026-03-01&to=2026-03-02',
  ]);
  expect(await asked({ incremental: true, end_date: '2026-04-02' }, '{"until":"2026-03-31"}')).toEqual([
    'GET /things?from=2026-02-01&to=2026-02-28',
    'GET /things?from=2026-03-01&to=2026-03-31',
    'GET /things?from=2026-04-01&to=2026-04-02',
  ]);
});

it('begins with a whole month where nobody says when', async () => {
  const stream: Partial<StreamData> = {
    window: { step: 'month', start: '1mo' },
    request: { path: '/things', query: { from: '{{ window.from }}', to: '{{ window.to }}' } },
  };
  vi.useFakeTimers({ toFake: ['Temporal', 'Date'], now: Date.UTC(2026, 2, 10) });
  const { asked } = await runService(caseOf(stream, { routes: nothing })).finally(() => vi.useRealTimers());
  expect(asked).toEqual(['GET /things?from=2026-02-01&to=2026-02-28', 'GET /things?from=2026-03-01&to=2026-03-10']);
});

it('gives the bounds of a span as columns', async () => {
  const stream: Partial<StreamData> = {
    window: { step: 'month' },
    columns: { id: 'integer', from: { type: 'date', scope: 'window.from' }, to: { type: 'text', scope: 'window.to' } },
  };
  const routes = { 'GET /things': { json: { data: [{ id: 1 }] } } };
  const query = { start_date: '2026-01-01', end_date: '2026-01-31' };
  const { rows } = await runService(caseOf(stream, { routes, query }));
  expect(rows).toEqual([['1', '2026-01-01', '2026-01-31']]);
});

it('reads days and times where the service means them, whatever the zone of the run', async () => {
  const stream: Partial<StreamData> = {
    request: { path: '/things', query: { since: '{{ since | in: UTC | format: YYYY-MM-DD HH:mm:ss }}' } },
    incremental: { column: 'changed', key: 'id' },
    columns: {
      id: 'integer',
      due: { type: 'date', date: 'dotnet', zone: 'UTC' },
      changed: { type: 'timestamptz', date: 'local', zone: 'UTC' },
    },
  };
  const routes = {
    'GET /things': { json: { data: [{ id: 1, due: '/Date(1767225600000+0000)/', changed: '2026-01-02T03:04:05' }] } },
  };
  const query = { incremental: true };
  const given = { routes, query, timezone: 'America/New_York' };
  const { rows, watermark } = await runService(caseOf(stream, given));
  expect(rows).toEqual([['1', '2026-01-01', '2026-01-02T03:04:05Z']]);
  const again = await runService(caseOf(stream, { ...given, watermark: watermark! }));
  expect(again).toMatchObject({ rows: [], asked: ['GET /things?since=2026-01-02 03:04:05'] });
});

it('asks for parts with what the last run had got to, or takes those that an option names', async () => {
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
    'GET /shops': { json: { shops: [{ id: 1, name: 'one' }] } },
    'GET /shops/{id}/things': ({ part }) => ({ json: { data: [{ id: Number(part.id) }] } }),
  };
  const asked = await runService(caseOf(stream, { routes, query: { start_date: '2026-01-01' } }));
  expect(asked).toMatchObject({
    rows: [['1', 'one', null]],
    asked: ['GET /shops?since=2026-01-01', 'GET /shops/1/things'],
  });
  const named = await runService(caseOf(stream, { routes, query: { shop: '7, 8' } }));
  expect(named.asked).toEqual(['GET /shops/7/things', 'GET /shops/8/things']);
});

it('takes JSON in place of a table for what it says, never for a table', async () => {
  const errors = [{ body: { 'error.code': 606 }, verdict: 'wait', wait: '0s' }] as const;
  const stream: Partial<StreamData> = { decode: 'csv', errors };
  const reply = { text: '\n{"error":{"code":606}}', headers: { 'content-type': 'text/csv' } };
  const routes = { 'GET /things': { text: 'id\n1\n', headers: { 'content-type': 'text/csv' } } };
  expect((await runService(caseOf(stream, { routes, faults: [{ at: 1, reply }] }))).rows).toEqual([['1']]);
  const other = await failService(
    caseOf(stream, { routes: { 'GET /things': { json: { id: 1 } } }, source: { retries: 0 } }),
  );
  expect(other).toMatchObject({ code: 'SERVICE_UNREADABLE', seen: '{"id":1}' });
});

it('waits as long as the answer says, or as the rule does where it says nothing', async () => {
  const errors = [{ status: 429, verdict: 'wait', wait: '20s' }] as const;
  const waited = async (headers: Record<string, string>) => {
    const given = { routes: { 'GET /things': { status: 429, headers } }, source: { retries: 0 } };
    return (await failService(caseOf({ errors }, given))).retryAfterMs;
  };
  expect([await waited({ 'retry-after': '3' }), await waited({})]).toEqual([3000, 20_000]);
});

it('shows the app beside its token where a vendor wants both', async () => {
  const login = {
    kind: 'oauth',
    oauth: { grants: ['client_credentials'], token_url: 'https://api.acme.example/token', refresh: 'none' },
    headers: { authorization: 'Bearer {{ login.token }}', 'x-api-key': '{{ login.client_id }}' },
  } as const;
  const { vendor } = await runService(caseOf({}, { routes: nothing }, { login }));
  expect(vendor.asked[0]!.headers).toMatchObject({ authorization: 'Bearer token-1', 'x-api-key': 'app-1' });
});
