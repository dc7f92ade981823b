import {
  type ColumnData,
  type ColumnType,
  columnTypes,
  defineService,
  type Fields,
  option,
  type Paging,
  Problem,
  renderDeep,
  type Scope,
  type StreamData,
  textOf,
} from '#sdk';
import { googleOAuth } from './_google-oauth.ts';

/** The last page has no page token, and Google omits empty lists, but the field mask is always present. */
const paging: Paging = { by: 'token', at: 'nextPageToken', missing: 'end' };
const absent = 'fieldMask';
const conversionWindow = '14d';

const customer = {
  customer: option.text({
    about: 'Account IDs, separated by commas. If `manager` is set, the default is all enabled accounts below it.',
    example: '123-456-7890',
  }),
};

const customers = {
  customer: {
    request: {
      path: ({ manager }) => `/customers/${digitsOf(manager ?? missingManager())}/googleAds:search`,
      json: {
        query:
          "SELECT customer_client.id FROM customer_client WHERE customer_client.manager = FALSE AND customer_client.status = 'ENABLED'",
        pageToken: '{{ page.token }}',
      },
    },
    records: 'results',
    fields: { id: 'customerClient.id' },
    given: 'customer',
    absent,
    paging,
  },
} as const satisfies StreamData['partitions'];

const campaign = {
  campaign_id: 'campaign.id',
  campaign: 'campaign.name',
  status: 'campaign.status',
  channel: 'campaign.advertising_channel_type',
};

/** Google Ads API, the successor to the AdWords API. The connector keeps the old API's name. */
export default defineService({
  id: 'google_adwords',
  title: 'Google Ads',
  summary:
    'Reads daily Google Ads (formerly AdWords) campaign and keyword performance, and the results of any GAQL query.',
  version: 'v26',
  base: 'https://googleads.googleapis.com/{{ api_version }}',
  options: {
    manager: option.text({
      about: 'ID of the manager account, if you access the accounts through one.',
      example: '123-456-7890',
    }),
    developer_token: option.text({
      about:
        'Developer token. Since September 2026, Google neither requires nor uses it; Sluice sends it if you set it.',
      secret: true,
      example: `\${env:GOOGLE_ADS_DEVELOPER_TOKEN}`,
    }),
  },
  headers: {
    'login-customer-id': ({ manager }) => (manager === undefined ? undefined : digitsOf(manager)),
    'developer-token': '{{ developer_token }}',
  },
  login: {
    kind: 'oauth',
    oauth: googleOAuth('adwords'),
  },
  streams: {
    campaigns: performance('Daily performance and cost of each campaign.', 'campaign', campaign),
    keywords: performance('Daily performance and cost of each ad group keyword.', 'keyword_view', {
      campaign_id: 'campaign.id',
      campaign: 'campaign.name',
      ad_group_id: 'ad_group.id',
      ad_group: 'ad_group.name',
      keyword: 'ad_group_criterion.keyword.text',
      match_type: 'ad_group_criterion.keyword.match_type',
    }),
    report: {
      about: 'The result of your own Google Ads Query Language (GAQL) query.',
      options: {
        ...customer,
        gaql: option.text({
          about: 'The query; {{ window.from }} and {{ window.to }} are `start_date` and `end_date`.',
          required: true,
          pattern: '^\\s*[Ss][Ee][Ll][Ee][Cc][Tt]\\s[\\s\\S]+\\s[Ff][Rr][Oo][Mm]\\s',
          example:
            "SELECT segments.date, ad_group.name, metrics.clicks FROM ad_group WHERE segments.date BETWEEN '{{ window.from }}' AND '{{ window.to }}'",
        }),
        types: option.map<ColumnType>(
          { enum: columnTypes },
          {
            about: 'Column types by column name; values are checked against these types.',
            example: { 'metrics.ctr': 'decimal' },
          },
        ),
      },
      partitions: customers,
      window: { start: '30d', look_back: conversionWindow },
      request: search((scope) => renderDeep(scope.gaql, scope)),
      records: 'results',
      absent,
      paging,
      columns: ({ gaql, types }) =>
        Object.fromEntries(fieldsOf(String(gaql)).map((name) => [name, columnOf(name, types as Types)])),
    },
    accounts: {
      about: 'Accounts that the logged-in user can access, including those below manager accounts.',
      partitions: {
        root: {
          request: { path: '/customers:listAccessibleCustomers' },
          records: 'resourceNames',
          fields: { id: 'value' },
          given: 'manager',
        },
      },
      request: {
        path: (scope) => `/customers/${rootOf(scope)}/googleAds:search`,
        json: {
          query:
            'SELECT customer_client.id, customer_client.descriptive_name, customer_client.currency_code, customer_client.time_zone, customer_client.status, customer_client.manager, customer_client.level FROM customer_client',
          pageToken: '{{ page.token }}',
        },
      },
      records: 'results.*.customerClient',
      absent,
      paging,
      each: (account, scope) => ({ ...account, root: rootOf(scope) }),
      columns: {
        reached_through: { type: 'integer', at: 'root' },
        id: 'integer',
        name: { type: 'text', at: 'descriptiveName' },
        currency: { type: 'text', at: 'currencyCode' },
        time_zone: { type: 'text', at: 'timeZone' },
        status: 'text',
        manager: 'boolean',
        level: 'integer',
      },
    },
  },
  errors: [
    refusal('authorizationError', 'CUSTOMER_NOT_ENABLED', { verdict: 'ignore', message: 'has closed this account' }),
    refusal('authorizationError', 'USER_PERMISSION_DENIED', {
      verdict: 'permission',
      message: 'does not give the logged-in user access to this account',
      next: 'set `manager` if the account is accessed through a manager account; the `accounts` stream lists all accounts',
    }),
    refusal('authorizationError', ['CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION', 'DEVELOPER_TOKEN_NOT_APPROVED'], {
      verdict: 'permission',
      message: 'allows this app to access only test accounts',
      next: 'apply for a higher access level on the Google Ads API page of the Google Cloud console',
    }),
    refusal('quotaError', 'ACCESS_PROHIBITED', { verdict: 'permission' }),
    refusal('quotaError', /./, {
      verdict: 'wait',
      wait: { at: 'error.details.*.errors.*.details.quotaErrorDetails.retryDelay', unit: 'seconds' },
    }),
    {
      status: 400,
      verdict: 'config',
      messageAt: 'error.details.*.errors.*.message',
      next: 'check `customer` and `gaql`; client accounts have metrics, manager accounts do not',
    },
    { status: 404, verdict: 'config', next: 'set `api_version` to a version that Google still serves' },
  ],
  check: {
    request: { path: '/customers:listAccessibleCustomers' },
    message: ({ answer }) =>
      `${((answer as { resourceNames?: unknown[] }).resourceNames ?? []).length} Google Ads accounts can be accessed directly`,
  },
  limits: [
    'Google discontinued the AdWords API and its query language, so reports use the Google Ads Query Language.',
    'Google attributes a conversion to the day of its click, even if the conversion happens weeks later, so an incremental run rereads the last 14 days. Longer conversion windows are not covered.',
    'Amounts are in the account’s currency; a `report` returns them as Google does, in millionths (`cost_micros`).',
    'Google documents limits of 2,880 requests a day for apps with explorer access and 15,000 for apps with basic access. It is unconfirmed that a page of 10,000 rows counts as one request.',
    'Closed accounts are skipped and logged. Google seems to support an API version for about a year (unconfirmed); select another version with `api_version`.',
  ],
  example: `sources:
  ads:
    connector: google_adwords
    manager: 123-456-7890
    login: { client_id: "\${env:GOOGLE_CLIENT_ID}", client_secret: "\${env:GOOGLE_CLIENT_SECRET}" }
jobs:
  costs:
    source: ads
    query: { stream: campaigns, start_date: "{{ month_start - 1mo }}" }
`,
});

/** A stream of daily metrics. Its columns are listed by their GAQL names. */
function performance(about: string, from: string, named: Readonly<Record<string, string>>): StreamData {
  const chosen = {
    date: 'segments.date',
    account_id: 'customer.id',
    account: 'customer.descriptive_name',
    currency: 'customer.currency_code',
    ...named,
    impressions: 'metrics.impressions',
    clicks: 'metrics.clicks',
    cost: 'metrics.cost_micros',
    conversions: 'metrics.conversions',
    conversion_value: 'metrics.conversions_value',
  };
  return {
    about,
    options: customer,
    partitions: customers,
    window: { step: '14d', start: '30d', look_back: conversionWindow },
    request: search(
      `SELECT ${Object.values(chosen).join(', ')} FROM ${from} WHERE segments.date BETWEEN '{{ window.from }}' AND '{{ window.to }}' ORDER BY segments.date`,
    ),
    records: 'results',
    absent,
    paging,
    each: ({ metrics, ...rest }) => ({ ...rest, metrics: { ...(metrics as Fields), costMicros: costOf(metrics) } }),
    columns: Object.fromEntries(Object.entries(chosen).map(([name, field]) => [name, columnOf(field)])),
  };
}

/** The page token is sent in the body. Google sets the page size and rejects requests that specify a different one. */
function search(query: string | ((scope: Scope) => unknown)): StreamData['request'] {
  return {
    path: ({ partition }) => `/customers/${digitsOf((partition as { customer: Fields }).customer.id)}/googleAds:search`,
    json: { query, pageToken: '{{ page.token }}' },
  };
}

function refusal(
  kind: string,
  code: string | readonly string[] | RegExp,
  rule: Pick<NonNullable<StreamData['errors']>[number], 'verdict' | 'message' | 'next' | 'wait'>,
): NonNullable<StreamData['errors']>[number] {
  return {
    body: { [`error.details.*.errors.*.errorCode.${kind}`]: code },
    messageAt: 'error.details.*.errors.*.message',
    ...rule,
  };
}

/** Normalizes an account number. Also accepts `123-456-7890` and `customers/1234567890`. */
function digitsOf(account: unknown): string {
  return String(account).replaceAll(/\D/g, '');
}

function rootOf({ partition }: Scope): string {
  return digitsOf((partition as { root: Fields }).root.id);
}

function missingManager(): never {
  throw new Problem({
    code: 'SERVICE_ACCOUNT',
    family: 'config',
    message: 'no Google Ads accounts are set',
    next: 'set `customer` in the query, or `manager` in the source for all accounts below it; the `accounts` stream lists them',
  });
}

/** Converts an amount in millionths to an exact decimal. */
function costOf(metrics: unknown): string | undefined {
  const micros = textOf((metrics as { costMicros?: unknown } | undefined)?.costMicros);
  if (micros === undefined || !/^-?\d+$/.test(micros)) return micros;
  const digits = micros.replace('-', '').padStart(7, '0');
  const cost = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
  return micros.startsWith('-') ? `-${cost}` : cost;
}

type Types = Readonly<Record<string, ColumnType>>;

/** The fields that a query selects, in order. */
function fieldsOf(gaql: string): readonly string[] {
  const list = /^\s*select\s+([\s\S]+?)\s+from\s/i.exec(gaql)?.[1] ?? '';
  return list.split(',').map((field) => field.trim());
}

/** Google's responses use camel-case names, such as `costMicros`. */
function columnOf(field: string, types: Types = {}): ColumnData {
  const at = field.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return { type: Object.hasOwn(types, field) ? types[field]! : typeOf(field), at };
}

function typeOf(field: string): ColumnType {
  if (/^metrics\.(?:impressions|clicks)$|\.id$/.test(field)) return 'integer';
  if (/^segments\.(?:date|week|month|quarter)$/.test(field)) return 'date';
  const isNumber = field.startsWith('metrics.') && !/_types$|_url$|^metrics\.historical_/.test(field);
  return isNumber ? 'decimal' : 'text';
}
