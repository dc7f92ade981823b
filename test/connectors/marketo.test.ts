import { expect, it, vi } from 'vitest';
import marketo from '../../connectors/marketo.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked } from './doubles/vendor.ts';

/** What Marketo returns with status 200. */
const refusal = (code: string, message = 'no') => ({
  json: { requestId: 'r', success: false, errors: [{ code, message }] },
});

const activity = (n: number) => ({
  id: n,
  marketoGUID: `g${n}`,
  leadId: 9007199254740,
  activityDate: `2026-01-0${n}T10:00:00Z`,
  activityTypeId: 10,
  primaryAttributeValue: 'Mail',
  attributes: [{ name: 'Device', value: 'phone' }],
});
const row = (n: number) => [
  `g${n}`,
  '9007199254740',
  `2026-01-0${n}T10:00:00Z`,
  '10',
  null,
  null,
  'Mail',
  '[{"name":"Device","value":"phone"}]',
];

/** Returns two activities, then none although there are more, then one. */
const pages: Readonly<Record<string, object>> = {
  t0: { nextPageToken: 't1', moreResult: true, result: [activity(1), activity(2)] },
  t1: { nextPageToken: 't2', moreResult: true },
  t2: { nextPageToken: 't3', moreResult: false, result: [activity(3)] },
};
const given: ServiceCase = {
  service: marketo,
  source: { munchkin: '123-ABC-456' },
  query: { stream: 'activities', activity_types: [6, 10], start_date: '2026-01-01' },
  routes: {
    'GET /rest/v1/activities/pagingtoken.json': { json: { success: true, nextPageToken: 't0' } },
    'GET /rest/v1/activities.json': ({ query }: Asked) => ({
      json: { success: true, requestId: query.get('nextPageToken'), ...pages[query.get('nextPageToken')!] },
    }),
    'GET /rest/v1/leads/describe.json': { json: { success: true, result: [{}, {}] } },
  },
};
const rows = [row(1), row(2), row(3)];
const asked = (token: string) =>
  `GET /rest/v1/activities.json?nextPageToken=${token}&activityTypeIds=6,10&batchSize=300`;
const to = 'GET /rest/v1/activities.json';

describeStream(
  'Marketo activities',
  given,
  {
    rows,
    asked: [
      'GET /rest/v1/activities/pagingtoken.json?sinceDatetime=2026-01-01T00:00:00Z',
      ...['t0', 't1', 't2'].map(asked),
    ],
  },
  [
    { name: 'too many concurrent calls, with status 200', faults: [{ at: 2, to, reply: refusal('615') }] },
    { name: 'an expired token, with status 200', faults: [{ at: 2, to, reply: refusal('602') }] },
    {
      name: 'a used-up daily quota, with status 200',
      faults: [{ at: 2, to, reply: refusal('607') }],
      problem: { code: 'SERVICE_DAILY_LIMIT', family: 'try_later' },
    },
    {
      name: 'a missing permission, with status 200',
      faults: [{ at: 1, reply: refusal('603') }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login' },
    },
    {
      name: 'an invalid parameter, with status 200',
      faults: [{ at: 1, to, reply: refusal('1003') }],
      problem: { code: 'SERVICE_REFUSED', family: 'config' },
    },
    {
      name: 'an unknown error with status 200',
      faults: [{ at: 1, to, reply: refusal('999') }],
      problem: { code: 'SERVICE_FAILED', family: 'job' },
    },
    {
      name: 'a repeated page',
      faults: [{ at: 2, to, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
  ],
);

it('renews a token that expires between two pages', async () => {
  const { rows: all, login } = await runService({ ...given, guard: expiringAfter(2, refusal('602')) });
  expect({ all, refusals: login.refusals }).toEqual({ all: rows, refusals: ['token-1'] });
});

it('continues from the last activity', async () => {
  const query = { ...given.query, incremental: true };
  const { watermark } = await runService({ ...given, query });
  const again = await runService({ ...given, query, watermark: watermark! });
  expect(again.asked[0]).toBe('GET /rest/v1/activities/pagingtoken.json?sinceDatetime=2026-01-03T10:00:00Z');
  expect(again).toMatchObject({ rows: [], unchanged: true });
});

it("requests its token with GET, at the subscription's own URL", async () => {
  expect(marketo.oauth?.({ munchkin: '123-ABC-456' })).toMatchObject({
    grants: ['client_credentials'],
    token_url: 'https://{munchkin}.mktorest.com/identity/oauth/token',
    token_method: 'GET',
    token_request: 'query',
  });
  expect(await checkServiceCase(given)).toContain('2 fields');
});

const fields = [
  { dataType: 'integer', rest: { name: 'id' } },
  { dataType: 'currency', rest: { name: 'revenue' } },
  { dataType: 'datetime', rest: { name: 'createdAt' } },
  { dataType: 'string', rest: { name: 'city' } },
  { dataType: 'string', soap: { name: 'Old' } },
];
const jobs = '/bulk/v1/leads/export';
const leads: ServiceCase = {
  ...given,
  query: {
    stream: 'leads',
    columns: ['id', 'revenue', 'createdAt', 'city'],
    start_date: '2026-01-01',
    end_date: '2026-01-31',
  },
  routes: {
    'GET /rest/v1/leads/describe.json': { json: { success: true, result: fields } },
    [`POST ${jobs}/create.json`]: { json: { success: true, result: [{ exportId: 'e1', status: 'Created' }] } },
    [`POST ${jobs}/e1/enqueue.json`]: { json: { success: true, result: [{ exportId: 'e1', status: 'Queued' }] } },
    [`GET ${jobs}/e1/status.json`]: { json: { success: true, result: [{ status: 'Completed' }] } },
    [`GET ${jobs}/e1/file.json`]: {
      text: 'id,revenue,createdAt,city\n1,1234567890123456.10,2026-01-02T03:04:05Z,Ul\0m\n2,null,null,null\n',
    },
  },
};

describeStream(
  'Marketo leads',
  leads,
  {
    columns: ['id integer', 'revenue decimal', 'createdAt timestamptz', 'city text'],
    rows: [
      ['1', '1234567890123456.10', '2026-01-02T03:04:05Z', 'Ulm'],
      ['2', null, null, null],
    ],
    asked: [
      'GET /rest/v1/leads/describe.json',
      `POST ${jobs}/create.json {"format":"CSV","fields":["id","revenue","createdAt","city"],"filter":{"createdAt":{"startAt":"2026-01-01T00:00:00Z","endAt":"2026-01-31T23:59:59Z"}}}`,
      `POST ${jobs}/e1/enqueue.json`,
      `GET ${jobs}/e1/status.json`,
      `GET ${jobs}/e1/file.json`,
    ],
  },
  [
    { name: 'a token that expires before the file is downloaded', faults: [{ at: 5, reply: refusal('602') }] },
    {
      name: 'a used-up quota of exports',
      faults: [{ at: 3, reply: refusal('1029', 'Export daily quota exceeded') }],
      problem: { code: 'SERVICE_DAILY_LIMIT', family: 'try_later' },
    },
    {
      name: 'a failed export',
      faults: [{ at: 4, reply: { json: { success: true, result: [{ status: 'Failed' }] } } }],
      problem: { code: 'SERVICE_JOB_FAILED', family: 'try_later' },
    },
    {
      name: "dates of change that the subscription doesn't have",
      faults: [{ at: 2, reply: refusal('1035') }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', next: expect.stringContaining('createdAt') },
    },
  ],
);

it('retries in a minute if the queue of exports is full', async () => {
  const faults = [{ at: 3, reply: refusal('1029', 'Too many jobs (10) in queue') }];
  const problem = await failService({ ...leads, faults, source: { ...leads.source, retries: 0 } });
  expect(problem).toMatchObject({ code: 'SERVICE_BUSY', family: 'try_later', retryAfterMs: 60_000 });
});

it('rejects an unknown field, and lists the known ones', async () => {
  expect(await failService({ ...leads, query: { ...leads.query, columns: ['town'] } })).toMatchObject({
    code: 'SERVICE_NO_FIELD',
    seen: 'town',
    allowed: 'id, revenue, createdAt, city',
  });
});

it('never exports more than 31 days at once, or days in the future', async () => {
  vi.useFakeTimers({ toFake: ['Temporal', 'Date'], now: Date.UTC(2026, 1, 10, 12) });
  const query = { ...leads.query, by: 'updatedAt', start_date: '2026-01-01', end_date: '2026-02-10' };
  const { vendor } = await runService({ ...leads, query }).finally(() => vi.useRealTimers());
  const filters = vendor.asked.filter(({ path }) => path.endsWith('create.json')).map(({ body }) => body.filter);
  expect(filters).toEqual([
    { updatedAt: { startAt: '2026-01-01T00:00:00Z', endAt: '2026-01-31T23:59:59Z' } },
    { updatedAt: { startAt: '2026-02-01T00:00:00Z', endAt: '2026-02-10T12:00:00Z' } },
  ]);
});

it("lists programs until a page isn't full, with times in the asset API's format", async () => {
  const program = (id: number) => ({
    id,
    name: `p${id}`,
    folder: { folderName: 'Events' },
    createdAt: '2026-01-01T09:00:00Z+0000',
    updatedAt: `2026-01-0${id}T10:00:00Z+0000`,
  });
  const routes = {
    'GET /rest/asset/v1/programs.json': ({ query }: Asked) =>
      query.get('offset') === '0'
        ? { json: { success: true, result: [program(1), program(2)] } }
        : { json: { success: true, warnings: ['No assets found for the given search criteria.'] } },
  };
  const query = { stream: 'programs', incremental: true };
  const first = await runService({ ...given, query, routes, timezone: 'America/New_York' });
  const cells = (id: number) => [String(id), `p${id}`, ...Array(5).fill(null), 'Events', null];
  expect(first.rows).toEqual([1, 2].map((id) => [...cells(id), '2026-01-01T09:00:00Z', `2026-01-0${id}T10:00:00Z`]));
  const again = await runService({ ...given, query, routes, watermark: first.watermark! });
  expect(again.asked[0]).toBe(
    'GET /rest/asset/v1/programs.json?offset=0&maxReturn=200&earliestUpdatedAt=2026-01-02T10:00:00Z',
  );
  expect(again.rows).toEqual([]);
});
