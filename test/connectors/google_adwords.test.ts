import { expect, it } from 'vitest';
import ads from '../../connectors/google_adwords.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked, Reply, Routes } from './doubles/vendor.ts';

const day = (n: number, account: string, cost: string) => ({
  segments: { date: `2026-01-0${n}` },
  customer: { resourceName: `customers/${account}`, id: account, descriptiveName: 'Shop', currencyCode: 'EUR' },
  campaign: {
    resourceName: 'x',
    id: '9007199254740993',
    name: 'Spring',
    status: 'ENABLED',
    advertisingChannelType: 'SEARCH',
  },
  metrics: { impressions: '1000', clicks: '20', costMicros: cost, conversions: 2.5, conversionsValue: 99.9 },
});
const row = (n: number, account: string, cost: string) => [
  `2026-01-0${n}`,
  account,
  'Shop',
  'EUR',
  '9007199254740993',
  'Spring',
  'ENABLED',
  'SEARCH',
  '1000',
  '20',
  cost,
  '2.5',
  '99.9',
];

/** Two pages per period: the body of the second request contains the token. */
const pages: Routes = {
  'POST /v26/customers/{id}/googleAds:search': ({ body, part }: Asked) =>
    body.pageToken === undefined
      ? { json: { results: [day(1, part.id!, '12345678'), day(2, part.id!, '0')], nextPageToken: 'p2' } }
      : { json: { results: [day(3, part.id!, '-500000')], nextPageToken: '' } },
  'GET /v26/customers:listAccessibleCustomers': { json: { resourceNames: ['customers/1', 'customers/2'] } },
};
const costs: ServiceCase = {
  service: ads,
  query: { stream: 'campaigns', customer: '123-456-7890', start_date: '2026-01-01', end_date: '2026-01-03' },
  routes: pages,
};
const gaql = (from: string, to: string) =>
  `SELECT segments.date, customer.id, customer.descriptive_name, customer.currency_code, campaign.id, campaign.name, campaign.status, campaign.advertising_channel_type, metrics.impressions, metrics.clicks, metrics.cost_micros, metrics.conversions, metrics.conversions_value FROM campaign WHERE segments.date BETWEEN '${from}' AND '${to}' ORDER BY segments.date`;
const asked = (id: string, [from, to]: readonly [string, string], token = '') =>
  `POST /v26/customers/${id}/googleAds:search {"query":"${gaql(from, to)}"${token}}`;
const rows = (id: string) => [row(1, id, '12.345678'), row(2, id, '0'), row(3, id, '-0.5')];

const refusal = (status: number, errorCode: object, details: object = {}): Reply => ({
  status,
  json: {
    error: {
      code: status,
      status: 'SOME',
      message: 'Request contains an invalid argument.',
      details: [{ '@type': 'type', errors: [{ errorCode, message: 'Said by Google.', details }] }],
    },
  },
});
const delayed = (retryDelay: string) =>
  refusal(
    429,
    { quotaError: 'RESOURCE_TEMPORARILY_EXHAUSTED' },
    { quotaErrorDetails: { rateScope: 'ACCOUNT', retryDelay } },
  );

describeStream(
  'Google Ads campaigns',
  costs,
  {
    columns: [
      'date date',
      'account_id integer',
      'account text',
      'currency text',
      'campaign_id integer',
      'campaign text',
      'status text',
      'channel text',
      'impressions integer',
      'clicks integer',
      'cost decimal',
      'conversions decimal',
      'conversion_value decimal',
    ],
    rows: rows('1234567890'),
    asked: [
      asked('1234567890', ['2026-01-01', '2026-01-03']),
      asked('1234567890', ['2026-01-01', '2026-01-03'], ',"pageToken":"p2"'),
    ],
  },
  [
    { name: 'a short wait from Google', faults: [{ at: 2, reply: delayed('0.01s') }] },
    {
      name: 'an allowance that is used up for hours',
      faults: [{ at: 1, reply: delayed('7200s') }],
      problem: {
        code: 'SERVICE_BUSY',
        family: 'try_later',
        retryAfterMs: 7_200_000,
        seen: expect.stringContaining('Said by'),
      },
    },
    {
      name: 'an account behind a manager account',
      faults: [{ at: 1, reply: refusal(403, { authorizationError: 'USER_PERMISSION_DENIED' }) }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login', next: expect.stringContaining('`manager`') },
    },
    {
      name: 'an app for test accounts',
      faults: [{ at: 1, reply: refusal(403, { authorizationError: 'CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION' }) }],
      problem: { code: 'SERVICE_PERMISSION', message: expect.stringContaining('test accounts') },
    },
    {
      name: 'an invalid query',
      faults: [{ at: 1, reply: refusal(400, { queryError: 'UNRECOGNIZED_FIELD' }) }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', seen: 'status 400: Said by Google.' },
    },
    {
      name: 'a version that was shut down',
      faults: [{ at: 1, reply: { status: 404, text: '<html>404</html>' } }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', next: expect.stringContaining('api_version') },
    },
    {
      name: 'a repeated page',
      faults: [{ at: 2, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
  ],
);

it('renews a token that expires between two pages', async () => {
  const outcome = await runService({ ...costs, guard: expiringAfter(1) });
  expect(outcome.rows).toEqual(rows('1234567890'));
  expect(outcome.login.refusals).toEqual(['token-1']);
});

it("reads a manager account's accounts through the manager account, and skips a closed one", async () => {
  const routes: Routes = {
    'POST /v26/customers/{id}/googleAds:search': (given: Asked) => {
      const { id } = given.part;
      if (id === '7') return refusal(403, { authorizationError: 'CUSTOMER_NOT_ENABLED' });
      if (id === '99') return { json: { results: ['7', '8'].map((one) => ({ customerClient: { id: one } })) } };
      return (pages['POST /v26/customers/{id}/googleAds:search'] as (asked: Asked) => Reply)(given);
    },
  };
  const { customer: _, ...query } = costs.query;
  const outcome = await runService({ ...costs, routes, query, source: { manager: '9-9' } });
  expect(outcome.rows).toEqual(rows('8'));
  expect(outcome.vendor.asked.every(({ headers }) => headers['login-customer-id'] === '99')).toBe(true);
  expect(outcome.vendor.asked[0]!.headers['developer-token']).toBeUndefined();
  expect(await failService({ ...costs, query })).toMatchObject({ code: 'SERVICE_ACCOUNT', family: 'config' });
});

it('requests two weeks at a time, and re-reads the last two weeks when it continues', async () => {
  const query = { ...costs.query, start_date: '2025-12-15', incremental: true };
  const first = await runService({ ...costs, query });
  expect(first.asked.filter((line) => !line.includes('pageToken'))).toEqual([
    asked('1234567890', ['2025-12-15', '2025-12-28']),
    asked('1234567890', ['2025-12-29', '2026-01-03']),
  ]);
  expect(first.watermark).toBe('{"until":"2026-01-03"}');
  const later = { ...query, end_date: '2026-01-04' };
  const second = await runService({ ...costs, query: later, watermark: first.watermark! });
  expect(second.asked[0]).toBe(asked('1234567890', ['2025-12-20', '2026-01-02']));
});

it("derives a report's columns from its query", async () => {
  const report = {
    stream: 'report',
    customer: '1',
    gaql: "select segments.date,\n campaign.id, metrics.cost_micros, metrics.conversions, metrics.interaction_event_types, campaign.start_date from campaign where segments.date between '{{ window.from }}' and '{{ window.to }}'",
    start_date: '2026-01-01',
    end_date: '2026-01-03',
    types: { 'campaign.start_date': 'date' },
  };
  const found = {
    segments: { date: '2026-01-01' },
    campaign: { id: '5', startDate: '2025-11-30' },
    metrics: { costMicros: '12345678', conversions: 2.5, interactionEventTypes: ['CLICK'] },
  };
  const routes = {
    'POST /v26/customers/1/googleAds:search': { json: { results: [found, { campaign: { id: '6' } }] } },
  };
  const outcome = await runService({ ...costs, routes, query: report });
  expect(outcome.columns).toEqual([
    'segments.date date',
    'campaign.id integer',
    'metrics.cost_micros decimal',
    'metrics.conversions decimal',
    'metrics.interaction_event_types text',
    'campaign.start_date date',
  ]);
  expect(outcome.rows).toEqual([
    ['2026-01-01', '5', '12345678', '2.5', '["CLICK"]', '2025-11-30'],
    [null, '6', null, null, null, null],
  ]);
  expect(outcome.vendor.asked[0]!.body.query).toContain("between '2026-01-01' and '2026-01-03'");
});

it('lists the accounts that the user can access', async () => {
  const routes: Routes = {
    ...pages,
    'POST /v26/customers/{id}/googleAds:search': ({ part }: Asked) => ({
      json: {
        results: [
          {
            customerClient: {
              id: part.id,
              descriptiveName: 'Shop',
              currencyCode: 'EUR',
              timeZone: 'Europe/Berlin',
              status: 'ENABLED',
              manager: false,
              level: '0',
            },
          },
        ],
      },
    }),
  };
  const { rows: found } = await runService({ ...costs, routes, query: { stream: 'accounts' } });
  expect(found).toEqual(['1', '2'].map((id) => [id, id, 'Shop', 'EUR', 'Europe/Berlin', 'ENABLED', 'false', '0']));
  expect(await checkServiceCase(costs)).toBe('2 Google Ads accounts can be accessed directly');
});

it('sends a developer token if configured', async () => {
  const { vendor } = await runService({ ...costs, source: { developer_token: 'dev-token-1' } });
  expect(vendor.asked[0]!.headers['developer-token']).toBe('dev-token-1');
});
