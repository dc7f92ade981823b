import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import facebook from '../../connectors/facebook/index.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked, Reply } from './doubles/vendor.ts';

/** What a response contains next to the records if there is a single page. */
const only = { cursors: { before: 'c0', after: 'c9' } };

const error = (code: number, more: object = {}, headers: Record<string, string> = {}): Reply => ({
  status: 400,
  headers,
  json: { error: { message: 'no', type: 'OAuthException', code, fbtrace_id: 'x', ...more } },
});
const usage = (minutes: number) => ({
  'x-business-use-case-usage': JSON.stringify({
    '11': [{ type: 'ads_insights', call_count: 1, estimated_time_to_regain_access: 0 }],
    '22': [{ type: 'ads_insights', call_count: 5, estimated_time_to_regain_access: minutes }],
  }),
});

const figures = (account: string | undefined, day: number) => ({
  account_id: account,
  account_name: `Account ${account}`,
  campaign_id: '230000000000000001',
  campaign_name: 'Spring',
  impressions: '9007199254740993',
  clicks: '12',
  spend: '1234567890123.45',
  date_start: `2026-01-0${day}`,
  date_stop: `2026-01-0${day}`,
});
/** Two pages, the same for every account; the cursor is still present at the end. */
const paged = (account: string | undefined, after: string | null, base: string): Reply => {
  const cursors = { before: 'b', after: after === null ? 'c1' : 'c2' };
  const next = `${base}/v26.0/next?access_token=secret&after=c1`;
  return {
    headers: usage(0),
    json:
      after === null
        ? { data: [figures(account, 1), figures(account, 2)], paging: { cursors, next } }
        : { data: [figures(account, 3)], paging: { cursors } },
  };
};
const ads: ServiceCase = {
  service: facebook,
  query: {
    stream: 'insights',
    account: 'act_11',
    metrics: ['impressions', 'clicks', 'spend'],
    start_date: '2026-01-01',
    end_date: '2026-01-03',
  },
  routes: {
    'GET /v26.0/act_{account}/insights': ({ part, query, base }) => paged(part.account, query.get('after'), base),
    'GET /v26.0/me': { json: { id: '1', name: 'Ann' } },
  },
};
const row = (day: number, account = '11') => [
  `2026-01-0${day}`,
  account,
  `Account ${account}`,
  '230000000000000001',
  'Spring',
  '9007199254740993',
  '12',
  '1234567890123.45',
];
const fields = 'account_id,account_name,campaign_id,campaign_name,impressions,clicks,spend';
const range = (from: string, to = '2026-01-03') => `time_range={"since":"${from}","until":"${to}"}`;
const asked = (account: string, after = '', from = '2026-01-01') =>
  `GET /v26.0/act_${account}/insights?level=campaign&fields=${fields}&${range(from)}&time_increment=1&limit=500${after}`;

describeStream(
  'Facebook ad figures',
  ads,
  {
    columns: [
      'date date',
      'account_id text',
      'account_name text',
      'campaign_id text',
      'campaign_name text',
      'impressions integer',
      'clicks integer',
      'spend decimal',
    ],
    rows: [row(1), row(2), row(3)],
    asked: [asked('11'), asked('11', '&after=c1')],
  },
  [
    { name: 'too many calls, reported with 400', faults: [{ at: 2, reply: error(17, {}, usage(0)) }] },
    {
      name: 'too many calls with minutes to wait in a header',
      faults: [{ at: 1, reply: error(80_004, {}, usage(7)) }],
      problem: { code: 'SERVICE_BUSY', family: 'try_later', retryAfterMs: 420_000 },
    },
    { name: 'an error that the vendor calls transient', faults: [{ at: 1, reply: error(99, { is_transient: true }) }] },
    {
      name: 'too much data at once',
      faults: [{ at: 1, reply: error(1, { message: 'Please reduce the amount of data you’re asking for' }) }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', next: expect.stringContaining('stream: report') },
    },
    {
      name: 'an ad account in which the user has no role',
      faults: [{ at: 1, reply: error(200, { is_transient: false }) }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login' },
    },
    {
      name: 'an unknown metric',
      faults: [{ at: 1, reply: error(100) }],
      problem: { code: 'SERVICE_REFUSED', family: 'config' },
    },
    {
      name: 'an expired login',
      faults: [{ at: 1, times: 2, reply: error(190) }],
      problem: { code: 'SERVICE_LOGIN', family: 'login', next: expect.stringContaining('60 days') },
    },
    {
      name: 'a repeated page',
      faults: [{ at: 2, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
  ],
);

it('uses the token that another run renewed if its own token expires between two pages', async () => {
  const { rows, login } = await runService({ ...ads, guard: expiringAfter(1, error(190)) });
  expect([rows, login.refusals]).toEqual([[row(1), row(2), row(3)], ['token-1']]);
});

it("reads several accounts as one table, and names an account that the user can't access", async () => {
  const query = { ...ads.query, account: '11, act_22' };
  const outcome = await runService({ ...ads, query });
  expect(outcome.rows).toEqual([row(1), row(2), row(3), ...[1, 2, 3].map((day) => row(day, '22'))]);
  const faults = [{ at: 1, to: 'GET /v26.0/act_22/insights', reply: error(200) }];
  const problem = await failService({ ...ads, query, faults });
  expect([problem.code, problem.message]).toEqual(['SERVICE_PERMISSION', expect.stringContaining('act_22')]);
});

it('re-reads the last 28 days when it continues, and splits long periods', async () => {
  const query = { ...ads.query, incremental: true };
  expect((await runService({ ...ads, query })).watermark).toBe('{"until":"2026-01-03"}');
  const again = await runService({ ...ads, query, watermark: '{"until":"2026-01-02"}' });
  expect(again.asked[0]).toBe(asked('11', '', '2025-12-05'));
  const long = await runService({ ...ads, query: { ...ads.query, start_date: '2025-12-01' } });
  const spans = long.vendor.asked.map(({ query: given }) => given.get('time_range'));
  expect(spans.filter((_, i) => i % 2 === 0)).toEqual([
    '{"since":"2025-12-01","until":"2025-12-30"}',
    '{"since":"2025-12-31","until":"2026-01-03"}',
  ]);
});

it('creates columns for the requested breakdowns and actions', async () => {
  const record = {
    ...figures('11', 1),
    country: 'DE',
    purchase_roas: [{ action_type: 'omni_purchase', value: '2.5' }],
    actions: [
      { action_type: 'link_click', value: '9' },
      { action_type: 'offsite_conversion.fb_pixel_purchase', value: '3' },
    ],
    action_values: [{ action_type: 'offsite_conversion.fb_pixel_purchase', value: '59.70' }],
  };
  const outcome = await runService({
    ...ads,
    query: {
      ...ads.query,
      level: 'account',
      metrics: ['spend', 'purchase_roas', 'objective'],
      breakdowns: ['country'],
      actions: ['offsite_conversion.fb_pixel_purchase', 'lead'],
    },
    routes: { 'GET /v26.0/act_11/insights': { json: { data: [record], paging: only } } },
  });
  expect(outcome.columns.slice(3)).toEqual([
    'country text',
    'spend decimal',
    'purchase_roas json',
    'objective text',
    'offsite_conversion.fb_pixel_purchase decimal',
    'offsite_conversion.fb_pixel_purchase_value decimal',
    'lead decimal',
    'lead_value decimal',
  ]);
  const roas = '[{"action_type":"omni_purchase","value":"2.5"}]';
  expect(outcome.rows[0]?.slice(3)).toEqual(['DE', '1234567890123.45', roas, null, '3', '59.70', null, null]);
  const { searchParams } = new URL(outcome.asked[0]!.slice(4), 'http://x');
  expect(searchParams.get('fields')).toBe(
    'account_id,account_name,spend,purchase_roas,objective,actions,action_values',
  );
  expect(searchParams.get('breakdowns')).toBe('country');
});

const report: ServiceCase = {
  ...ads,
  query: { ...ads.query, stream: 'report' },
  routes: {
    'POST /v26.0/act_11/insights': { json: { report_run_id: '601' } },
    'GET /v26.0/601': { json: { id: '601', async_status: 'Job Completed', async_percent_completion: 100 } },
    'GET /v26.0/601/insights': ({ query, base }) => paged('11', query.get('after'), base),
  },
};

describeStream(
  'a Facebook report that is created in the background',
  report,
  {
    rows: [row(1), row(2), row(3)],
    asked: [
      `POST /v26.0/act_11/insights ${new URLSearchParams({
        level: 'campaign',
        fields,
        time_range: '{"since":"2026-01-01","until":"2026-01-03"}',
        time_increment: '1',
      })}`,
      'GET /v26.0/601',
      'GET /v26.0/601/insights?limit=500',
      'GET /v26.0/601/insights?limit=500&after=c1',
    ],
  },
  [
    {
      name: 'a failed report',
      faults: [{ at: 2, reply: { json: { async_status: 'Job Failed' } } }],
      problem: { code: 'SERVICE_JOB_FAILED', family: 'try_later', seen: 'Job Failed' },
    },
    {
      name: 'a repeated page',
      faults: [{ at: 4, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
  ],
);

it('reads campaigns, and keeps their budgets exactly as written', async () => {
  const campaign = { id: '23', account_id: '11', name: 'Spring', objective: 'OUTCOME_SALES', status: 'ACTIVE' };
  const times = { created_time: '2026-01-05T10:00:00+0100', start_time: '2026-01-06T00:00:00-0800' };
  const data = [{ ...campaign, ...times, effective_status: 'ACTIVE', daily_budget: '5000' }];
  const { rows } = await runService({
    ...ads,
    query: { stream: 'campaigns', account: '11' },
    routes: { 'GET /v26.0/act_11/campaigns': { json: { data, paging: only } } },
  });
  const [created, start] = ['2026-01-05T09:00:00Z', '2026-01-06T08:00:00Z'];
  expect(rows).toEqual([
    ['23', '11', 'Spring', 'OUTCOME_SALES', 'ACTIVE', 'ACTIVE', '5000', null, start, null, created, null],
  ]);
});

const post = {
  id: '5_1',
  created_time: '2026-01-02T10:00:00+0000',
  message: 'Hello',
  permalink_url: 'https://www.facebook.com/5/posts/1',
  reactions: { data: [], summary: { total_count: 7 } },
  comments: { data: [], summary: { total_count: 2 } },
};
const sent: string[] = [];
const noted = ({ headers, query }: Asked, json: unknown): Reply => {
  sent.push(`${headers.authorization} ${query.get('appsecret_proof') ?? ''}`.trim());
  return { json };
};
const posts: ServiceCase = {
  ...ads,
  query: { stream: 'posts', pages: '5', start_date: '2026-01-01', end_date: '2026-01-03' },
  routes: {
    'GET /v26.0/5': (one) => noted(one, { id: '5', name: 'Toys', access_token: 'page-token' }),
    'GET /v26.0/5/posts': (one) => noted(one, { data: [post], paging: only }),
    'GET /v26.0/me/accounts': {
      json: {
        data: [{ id: '5', name: 'Toys', category: 'Shop', fan_count: 10, followers_count: 12 }],
        paging: only,
      },
    },
  },
};

it("reads a page's posts with the page's token, and signs its requests", async () => {
  sent.length = 0;
  const { rows, asked: lines } = await runService(posts);
  expect(rows).toEqual([
    ['5_1', '5', 'Toys', '2026-01-02T10:00:00Z', 'Hello', 'https://www.facebook.com/5/posts/1', '7', '2', null],
  ]);
  expect(lines[1]).toContain('&since=1767225600&until=1767484800&limit=100');
  expect(sent).toEqual(['Bearer token-1', 'Bearer page-token']);
  const proof = (token: string) => createHmac('sha256', 's3cret').update(token).digest('hex');
  sent.length = 0;
  await runService({ ...posts, source: { token: 'system', app_secret: 's3cret' } });
  expect(sent).toEqual([`Bearer system ${proof('system')}`, `Bearer page-token ${proof('page-token')}`]);
});

it('lists the pages, and reports the logged-in user', async () => {
  const { rows } = await runService({ ...posts, query: { stream: 'pages' } });
  expect(rows).toEqual([['5', 'Toys', 'Shop', '10', '12']]);
  expect(await checkServiceCase(ads)).toBe('logged in as Ann');
});

it('exchanges the first token for a long-lived one, because there is no refresh token', () => {
  const { refresh, exchange, token_method: method } = facebook.oauth?.({}) ?? {};
  expect([refresh, exchange?.token_parameter, method]).toEqual(['none', 'fb_exchange_token', 'GET']);
  expect(facebook.oauth?.({ token: 'system' })).toBeUndefined();
});

it("doesn't suggest a stream that is already used", async () => {
  const reply = error(1, { message: 'Please reduce the amount of data you’re asking for' });
  const routes = { 'POST /v26.0/act_{account}/insights': reply };
  const { next } = await failService({ ...ads, query: { ...ads.query, stream: 'report' }, routes });
  expect(next).toBe('request fewer `metrics` or `breakdowns`, or a later `start_date`');
});
