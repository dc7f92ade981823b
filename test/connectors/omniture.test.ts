import { expect, it } from 'vitest';
import omniture from '../../connectors/omniture.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked } from './doubles/vendor.ts';

const reports = '/api/exampleco/reports';
const row = (day: number) => ({ itemId: `12605${day}`, value: `May ${day}, 2026`, data: ['#682171', '#2288544.10'] });
const exact = (value: unknown) => ({
  text: JSON.stringify(value).replaceAll(/"#([\d.]+)"/g, '$1'),
  headers: { 'content-type': 'application/json' },
});

/** Two days on the first page, one on the second. */
function answer({ body }: Asked) {
  const { page } = body.settings;
  const rows = page === 0 ? [row(24), row(23)] : [row(22)];
  return exact({ totalPages: 2, number: page, lastPage: page === 1, columns: { columnIds: ['0', '1'] }, rows });
}

const given: ServiceCase = {
  service: omniture,
  source: { company: 'exampleco' },
  query: {
    stream: 'report',
    rsid: 'rs1',
    metrics: ['visits', 'metrics/revenue'],
    segments: ['s300_a'],
    start_date: '2026-05-22',
    end_date: '2026-05-24',
  },
  timezone: 'America/New_York',
  routes: {
    [`POST ${reports}`]: answer,
    'GET /discovery/me': { json: { imsOrgs: [{ companies: [{ globalCompanyId: 'exampleco' }] }] } },
  },
};
const cells = (day: number) => [`2026-05-${day}`, `12605${day}`, `May ${day}, 2026`, '682171', '2288544.10'];
const rows = [24, 23, 22].map(cells);
const asked = (page: number, from = '2026-05-22', to = '2026-05-25') =>
  `POST ${reports} ${JSON.stringify({
    rsid: 'rs1',
    globalFilters: [
      { type: 'dateRange', dateRange: `${from}T00:00:00.000/${to}T00:00:00.000` },
      { type: 'segment', segmentId: 's300_a' },
    ],
    metricContainer: {
      metrics: [
        { columnId: '0', id: 'metrics/visits' },
        { columnId: '1', id: 'metrics/revenue' },
      ],
    },
    dimension: 'variables/daterangeday',
    settings: { countRepeatInstances: true, limit: 1000, page },
  })}`;

describeStream(
  'an Adobe Analytics report',
  given,
  {
    columns: ['date date', 'item_id text', 'item text', 'visits decimal', 'revenue decimal'],
    rows,
    asked: [asked(0), asked(1)],
  },
  [
    {
      name: 'a repeated page',
      faults: [{ at: 2, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
    {
      name: 'an unknown dimension',
      faults: [{ at: 1, reply: { status: 400, json: { errorCode: 'invalid_data' } } }],
      problem: { code: 'SERVICE_REFUSED', family: 'config' },
    },
    {
      name: 'a rejected metric in a successful response',
      faults: [
        { at: 1, reply: { status: 206, json: { columns: { columnErrors: [{ errorCode: 'unauthorized_metric' }] } } } },
      ],
      problem: { code: 'SERVICE_REFUSED', family: 'config', next: expect.stringContaining('components') },
    },
    {
      name: 'a company without access',
      faults: [{ at: 1, reply: { status: 403, json: { error_code: '403025' } } }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login' },
    },
  ],
);

it('retries after six seconds if the vendor limits its rate', async () => {
  const faults = [{ at: 1, reply: { status: 429, json: { error_code: '429050' } } }];
  const problem = await failService({ ...given, faults, source: { ...given.source, retries: 0 } });
  expect(problem).toMatchObject({ code: 'SERVICE_BUSY', family: 'try_later', retryAfterMs: 6000 });
});

it("renews a token that expires between two pages, and sends the app's ID with every token", async () => {
  const guard = expiringAfter(1, { status: 401, json: { error_code: '401013', message: 'Oauth token is not valid' } });
  const { rows: all, login, vendor } = await runService({ ...given, guard });
  expect({ all, refusals: login.refusals }).toEqual({ all: rows, refusals: ['token-1'] });
  expect(new Set(vendor.asked.map(({ headers }) => headers['x-api-key']))).toEqual(new Set(['app-1']));
});

it('re-reads the last days when it continues', async () => {
  const query = { ...given.query, incremental: true };
  const { watermark } = await runService({ ...given, query });
  expect(watermark).toBe('{"until":"2026-05-24"}');
  const again = await runService({ ...given, query, watermark: watermark! });
  expect(again.asked[0]).toBe(asked(0));
});

it('requests every day separately, and returns null if a number is replaced by words', async () => {
  const routes = {
    [`POST ${reports}`]: {
      json: { lastPage: true, columns: { columnIds: ['0'] }, rows: [{ itemId: '7', value: 'home', data: ['NaN'] }] },
    },
  };
  const query = { stream: 'daily', rsid: 'rs1', dimension: 'page', metrics: ['cm300_rate'] };
  const dates = { start_date: '2026-05-01', end_date: '2026-05-02' };
  const outcome = await runService({ ...given, query: { ...query, ...dates }, routes });
  expect(outcome.columns).toEqual(['date date', 'item_id text', 'item text', 'cm300_rate decimal']);
  expect(outcome.rows).toEqual([
    ['2026-05-01', '7', 'home', null],
    ['2026-05-02', '7', 'home', null],
  ]);
  expect(outcome.vendor.asked.map(({ body }) => body.globalFilters[0].dateRange)).toEqual([
    '2026-05-01T00:00:00.000/2026-05-02T00:00:00.000',
    '2026-05-02T00:00:00.000/2026-05-03T00:00:00.000',
  ]);
});

it("lists segments from several pages, and a suite's metrics and dimensions", async () => {
  const routes = {
    'GET /api/exampleco/segments': ({ query }: Asked) => ({
      json: { content: [{ id: `s${query.get('page')}`, name: 'Phones' }], lastPage: query.get('page') === '1' },
    }),
    'GET /api/exampleco/metrics': { json: [{ id: 'metrics/visits', name: 'Visits', type: 'int' }] },
    'GET /api/exampleco/dimensions': { json: [{ id: 'variables/page', name: 'Page', type: 'string' }] },
  };
  const segments = await runService({ ...given, query: { stream: 'segments' }, routes });
  expect(segments.rows).toEqual([0, 1].map((page) => [`s${page}`, 'Phones', null, null]));
  const components = await runService({ ...given, query: { stream: 'components', rsid: 'rs1' }, routes });
  expect(components.rows).toEqual([
    ['metrics', 'metrics/visits', 'Visits', 'int', null, null],
    ['dimensions', 'variables/page', 'Page', 'string', null, null],
  ]);
});

it("names the available companies, even if the requested one isn't available", async () => {
  expect(await checkServiceCase(given)).toBe('logged in with access to exampleco');
  const other = checkServiceCase({ ...given, source: { company: 'other' } });
  await expect(other).rejects.toMatchObject({ code: 'ADOBE_NO_COMPANY', seen: 'other', allowed: 'exampleco' });
});

it('rejects fixed dates in the wrong order when the config is checked, but not templates', () => {
  const faults = (start_date: string, end_date: string) =>
    omniture.validate?.({ source: {}, query: { ...given.query, start_date, end_date } }) ?? [];
  expect(faults('2026-05-24', '2026-05-22')).toEqual([
    { option: 'start_date', message: 'is after `end_date`, so the job would read nothing' },
  ]);
  expect(faults('2026-05-22', '2026-05-22')).toEqual([]);
  expect(faults('2026-05-22T18:00:00Z', '2026-05-22')).toEqual([]);
  expect(faults('{{ today }}', '{{ yesterday }}')).toEqual([]);
});
