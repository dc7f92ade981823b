import { createHmac } from 'node:crypto';
import { defineService, option, type Scope } from '#sdk';
import { budget, errors, tooMuch } from './errors.ts';
import { account, adAccount, asking, byCursor, insights } from './insights.ts';

/**
 * Graph API and Marketing API. Confirmed: addresses, paging and its end, asynchronous reports,
 * usage headers, errors in `error.code`, and tokens without refresh. The meanings of some codes are unconfirmed general
 * knowledge.
 */
export default defineService({
  id: 'facebook',
  title: 'Facebook',
  summary: 'Reads daily figures for Facebook ads, and campaigns, pages and page posts.',
  options: {
    token: option.text({
      about: 'System user token to use instead of `login`. Such a token may never expire.',
      secret: true,
      example: `$\{env:FACEBOOK_TOKEN}`,
    }),
    app_secret: option.text({
      about: 'App secret. Set it if the app requires `appsecret_proof` in each request.',
      secret: true,
      example: `$\{env:FACEBOOK_APP_SECRET}`,
    }),
  },
  version: 'v26.0',
  base: 'https://graph.facebook.com/{{ api_version }}',
  login: [
    {
      when: 'token',
      kind: 'key',
      headers: { authorization: 'Bearer {{ token }}' },
      query: { appsecret_proof: proofOf },
    },
    {
      kind: 'oauth',
      headers: { authorization: 'Bearer {{ login.token }}' },
      query: { appsecret_proof: proofOf },
      oauth: {
        grants: ['authorization_code'],
        authorize_url: 'https://www.facebook.com/{api_version}/dialog/oauth',
        token_url: 'https://graph.facebook.com/{api_version}/oauth/access_token',
        token_method: 'GET',
        token_request: 'query',
        scopes: ['ads_read', 'pages_show_list', 'pages_read_engagement'],
        scope_separator: ',',
        // The first token is valid for an hour or two. It's exchanged for a token that is valid for 60 days. After
        // that, a person must log in again.
        refresh: 'none',
        exchange: { parameters: { grant_type: 'fb_exchange_token' }, token_parameter: 'fb_exchange_token' },
      },
    },
  ],
  streams: {
    insights: {
      ...insights('Figures for ads, one row per day.'),
      errors: [tooMuch('use `stream: report` or fewer `breakdowns`')],
      window: { step: '30d', start: '30d', look_back: '28d' },
      request: { path: adAccount('/insights'), query: { ...asking, limit: 500, after: '{{ page.token }}' } },
    },
    report: {
      ...insights(
        'The same figures as `insights`, from a report that Facebook generates in the background. Use it for long periods and many breakdowns.',
      ),
      errors: [tooMuch('request fewer `metrics` or `breakdowns`, or a later `start_date`')],
      window: { step: '90d', start: '30d', look_back: '28d' },
      job: {
        create: { path: adAccount('/insights'), form: asking },
        keep: { id: 'report_run_id' },
        poll: { path: '/{{ job.id }}' },
        state: 'async_status',
        done: ['Job Completed'],
        failed: ['Job Failed', 'Job Skipped'],
      },
      request: { path: '/{{ job.id }}/insights', query: { limit: 500, after: '{{ page.token }}' } },
    },
    campaigns: {
      about: 'Campaigns with their states and budgets.',
      options: { account },
      partitions: { account: { option: 'account' } },
      request: {
        path: adAccount('/campaigns'),
        query: {
          fields:
            'id,account_id,name,objective,status,effective_status,daily_budget,lifetime_budget,start_time,stop_time,created_time,updated_time',
          limit: 200,
          after: '{{ page.token }}',
        },
      },
      records: 'data',
      paging: byCursor,
      columns: {
        id: 'text',
        account_id: 'text',
        name: 'text',
        objective: 'text',
        status: 'text',
        effective_status: 'text',
        daily_budget: 'integer',
        lifetime_budget: 'integer',
        start_time: time('start_time'),
        stop_time: time('stop_time'),
        created_time: time('created_time'),
        updated_time: time('updated_time'),
      },
    },
    posts: {
      about: 'Page posts with their reactions, comments and shares.',
      options: {
        pages: option.text({
          about: 'Numeric IDs of the pages, separated by commas; the `pages` stream lists them.',
          required: true,
          example: '112233445566',
        }),
      },
      partitions: {
        id: { option: 'pages' },
        page: {
          request: { path: '/{{ partition.id | url }}', query: { fields: 'id,name,access_token' } },
          records: { one: '' },
          fields: { id: 'id', name: 'name', token: 'access_token' },
        },
      },
      window: { start: '90d', end: 'outside', look_back: '28d' },
      request: {
        path: '/{{ partition.page.id }}/posts',
        headers: { authorization: 'Bearer {{ partition.page.token }}' },
        query: {
          fields:
            'id,created_time,message,permalink_url,shares,reactions.limit(0).summary(true),comments.limit(0).summary(true)',
          since: '{{ window.from | epoch }}',
          until: '{{ window.to | epoch }}',
          limit: 100,
          after: '{{ page.token }}',
        },
      },
      records: 'data',
      paging: byCursor,
      columns: {
        id: 'text',
        page_id: { type: 'text', scope: 'partition.page.id' },
        page: { type: 'text', scope: 'partition.page.name' },
        created_time: time('created_time'),
        message: 'text',
        url: { type: 'text', at: 'permalink_url' },
        reactions: { type: 'integer', at: 'reactions.summary.total_count' },
        comments: { type: 'integer', at: 'comments.summary.total_count' },
        shares: { type: 'integer', at: 'shares.count' },
      },
    },
    pages: {
      about: 'Pages that the logged-in user may read, with their likes and followers.',
      request: {
        path: '/me/accounts',
        query: { fields: 'id,name,category,fan_count,followers_count', limit: 100, after: '{{ page.token }}' },
      },
      records: 'data',
      paging: byCursor,
      columns: {
        id: 'text',
        name: 'text',
        category: 'text',
        likes: { type: 'integer', at: 'fan_count' },
        followers: { type: 'integer', at: 'followers_count' },
      },
    },
  },
  errors,
  budget,
  check: { request: { path: '/me', query: { fields: 'id,name' } }, message: 'logged in as {{ answer.name }}' },
  limits: [
    'Facebook restates figures for up to 28 days, so an incremental run reads the last 28 days again, including posts from those days and their reactions.',
    'Days are in the time zone of the ad account, regardless of `timezone`.',
    'Budgets are in the smallest unit of the account’s currency, such as cents, as the API returns them.',
    'A login lasts 60 days and cannot be renewed automatically: log in again. System user tokens may never expire.',
    'An API version is supported for about two years; `api_version` selects it.',
    'Facebook’s documentation does not confirm some error numbers and the types of some metrics. Metrics of unknown type are returned as text.',
  ],
  example: `sources:
  ads:
    connector: facebook
    token: "\${env:FACEBOOK_TOKEN}"
jobs:
  spend:
    source: ads
    query:
      stream: insights
      account: "1234567890"
      level: campaign
      metrics: [impressions, clicks, spend]
`,
});

function time(at: string) {
  return { type: 'timestamptz', at, date: 'iso' } as const;
}

/** The appsecret_proof: an HMAC of the access token with the app secret. */
function proofOf({ app_secret: secret, token, login, partition }: Scope): string | undefined {
  if (secret === undefined) return undefined;
  const page = (partition as { readonly page?: { readonly token?: unknown } } | undefined)?.page?.token;
  const carried = page ?? token ?? (login as { readonly token?: unknown } | undefined)?.token;
  return createHmac('sha256', String(secret)).update(String(carried)).digest('hex');
}
