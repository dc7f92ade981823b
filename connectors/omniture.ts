import {
  defineService,
  listAt,
  type Moment,
  option,
  Problem,
  type RequestData,
  type Scope,
  type ServiceAnswer,
  type StreamData,
} from '#sdk';

const perDay = 'variables/daterangeday';

const suite = {
  rsid: option.text({ about: 'ID of the report suite.', required: true, example: 'examplersid' }),
};

const dimension = {
  about: 'The report’s dimension. Default in the `report` stream: days.',
  example: 'variables/page',
};

const shared = {
  metrics: option.list<string>(
    { type: 'string' },
    {
      about: 'The report’s metrics.',
      default: ['metrics/visits', 'metrics/pageviews'],
      example: ['metrics/visits', 'metrics/revenue'],
    },
  ),
  segments: option.list<string>(
    { type: 'string' },
    { about: 'IDs of segments, combined with AND; the `segments` stream lists them.', example: ['s300_abc'] },
  ),
};

const report: RequestData = {
  path: '/api/{{ company | url }}/reports',
  json: {
    rsid: '{{ rsid }}',
    globalFilters: filtersOf,
    metricContainer: {
      metrics: (scope: Scope) => metricsOf(scope).map((id, i) => ({ columnId: String(i), id })),
    },
    dimension: dimensionOf,
    settings: { countRepeatInstances: true, limit: 1000, page: '{{ page.number }}' },
  },
};

const pages = { by: 'page', first: 0, last: 'lastPage', total: 'totalElements' } as const;

/** The parts that both report streams have in common. */
const figures = {
  request: report,
  records: (answer, scope) => rowsOf(answer, scope),
  paging: pages,
} satisfies Partial<StreamData>;

/**
 * Adobe Analytics API 2.0. The connector keeps the product's former name. Adobe shut down API 1.4 and its WSSE login in
 * August 2026.
 */
export default defineService({
  id: 'omniture',
  title: 'Adobe Analytics',
  summary:
    'Reads Adobe Analytics (formerly Omniture SiteCatalyst) reports with any metrics, by any dimension and by day.',
  options: {
    company: option.text({
      about: 'Global company ID; `sluice check --connect` lists the companies that the logged-in user may use.',
      required: true,
      example: 'exampleco',
    }),
  },
  base: 'https://analytics.adobe.io',
  login: {
    kind: 'oauth',
    oauth: {
      grants: ['client_credentials', 'authorization_code'],
      authorize_url: 'https://ims-na1.adobelogin.com/ims/authorize/v2',
      token_url: 'https://ims-na1.adobelogin.com/ims/token/v3',
      scopes: ['openid', 'AdobeID', 'additional_info.projectedProductContext'],
      person_scopes: ['offline_access'],
      scope_separator: ',',
      refresh: 'rotating',
      lifetime_seconds: 86_400,
    },
    headers: { authorization: 'Bearer {{ login.token }}', 'x-api-key': '{{ login.client_id }}' },
  },
  headers: { accept: 'application/json' },
  streams: {
    report: {
      about: 'Metrics by one dimension, for the whole period.',
      options: { ...suite, dimension: option.text(dimension), ...shared },
      window: { start: '28d', end: 'outside', look_back: '2d' },
      ...figures,
      columns: (scope) => ({
        ...(dimensionOf(scope) === perDay ? { date: { type: 'date', at: 'date' } as const } : {}),
        item_id: 'text',
        item: 'text',
        ...metricColumns(scope),
      }),
    },
    daily: {
      about: 'Metrics by one dimension, per day.',
      options: { ...suite, dimension: option.text({ ...dimension, required: true }), ...shared },
      window: { step: '1d', start: '7d', end: 'outside', look_back: '2d' },
      ...figures,
      columns: (scope) => ({
        date: { type: 'date', scope: 'window.from' },
        item_id: 'text',
        item: 'text',
        ...metricColumns(scope),
      }),
    },
    segments: {
      about: 'Segments that the logged-in user may use.',
      request: { path: '/api/{{ company | url }}/segments', query: { limit: 1000, page: '{{ page.number }}' } },
      records: 'content',
      paging: pages,
      columns: { id: 'text', name: 'text', description: 'text', rsid: 'text' },
    },
    components: {
      about: 'The metrics and dimensions of a report suite.',
      options: suite,
      partitions: { kind: { values: ['metrics', 'dimensions'] } },
      request: { path: '/api/{{ company | url }}/{{ partition.kind }}', query: { rsid: '{{ rsid }}' } },
      records: '',
      columns: {
        kind: { type: 'text', scope: 'partition.kind' },
        id: 'text',
        name: 'text',
        type: 'text',
        category: 'text',
        description: 'text',
      },
    },
  },
  errors: [
    {
      body: { 'columns.columnErrors.*.errorCode': true },
      verdict: 'config',
      message: 'did not return one of the metrics',
      next: 'check `metrics`; the `components` stream lists them',
    },
    { status: 429, verdict: 'wait', wait: '6s' },
    {
      status: 400,
      verdict: 'config',
      next: 'check `rsid`, `dimension`, `metrics` and `segments`; the `components` stream lists them',
    },
    {
      status: 403,
      verdict: 'permission',
      next: 'check `company`, and give the app an Adobe Analytics product profile',
    },
  ],
  budget: { rates: [{ requests: 12, within: '6s' }] },
  check: {
    request: { path: '/discovery/me' },
    message: ({ answer, company }) => foundIn(answer as Discovered, company),
  },
  limits: [
    'Adobe’s documentation confirms the URLs, the format of requests and reports, paging, the limit of 12 requests in 6 seconds per user and the 429 response if it is exceeded, that a request may take a minute, and that commas separate a server-to-server app’s scopes.',
    'It is unconfirmed whether users’ refresh tokens rotate, and how a successful response reports a refused metric.',
    'Adobe’s Developer Console shows which scopes an app requires; set unusual ones in the login’s `scopes`.',
    'A report is split by one dimension; `daily` adds the day, at the cost of one request per day.',
    'Days are in the report suite’s time zone, so set the same time zone for the job.',
    'An incremental run reads the figures of the last two days again.',
    'API 1.4, including its WSSE login, no longer works.',
  ],
  example: `sources:
  site:
    connector: omniture
    company: exampleco
    login: { client_id: "\${env:ADOBE_CLIENT_ID}", client_secret: "\${env:ADOBE_CLIENT_SECRET}" }
jobs:
  visits:
    source: site
    query: { stream: report, rsid: examplersid, start_date: "{{ month_start - 1mo }}" }
  pages:
    source: site
    query: { stream: daily, rsid: examplersid, dimension: variables/page, start_date: "{{ yesterday }}" }
`,
});

/** The prefix of an ID is optional. The IDs of calculated metrics have no prefix. */
function metricsOf({ metrics }: Scope): string[] {
  return (metrics as string[]).map((id) => (/\/|^cm/.test(id) ? id : `metrics/${id}`));
}

function dimensionOf({ dimension = perDay }: Scope): string {
  const id = String(dimension);
  return id.includes('/') ? id : `variables/${id}`;
}

const nameOf = (id: string) => id.replace(/^metrics\//, '');

function metricColumns(scope: Scope): Record<string, 'decimal'> {
  return Object.fromEntries(metricsOf(scope).map((id) => [nameOf(id), 'decimal' as const]));
}

function filtersOf({ window, segments = [] }: Scope): object[] {
  const { from, to } = window as { from: Moment; to: Moment };
  const [start, end] = [from, to].map((moment) => moment.text('YYYY-MM-DDTHH:mm:ss.SSS'));
  const wanted = (segments as string[]).map((segmentId) => ({ type: 'segment', segmentId }));
  return [{ type: 'dateRange', dateRange: `${start}/${end}` }, ...wanted];
}

interface Row {
  readonly itemId?: string;
  readonly value?: string;
  readonly data?: readonly unknown[];
}

/** Values are in the same order as `columnIds`, which contains the indexes of the request's metrics. */
function* rowsOf(answer: ServiceAnswer, scope: Scope): Generator<Record<string, unknown>> {
  const metrics = metricsOf(scope);
  const rows = listAt(answer, 'rows') as Row[];
  const names = listAt(answer, 'columns.columnIds').map((id) => nameOf(metrics[Number(id)] ?? String(id)));
  for (const { itemId: item_id, value: item = '', data = [] } of rows) {
    const pairs = names.map((name, i) => [name, figure(data[i])] as const);
    yield { item_id, item, date: dayOf(item), ...Object.fromEntries(pairs) };
  }
}

/** If the API can't compute a value, such as a ratio whose denominator is zero, it returns text instead of a number. */
function figure(value: unknown): unknown {
  return typeof value === 'string' && !/\d/.test(value) ? null : value;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `May 24, 2026` as a date. */
function dayOf(text: string): string | undefined {
  const [, month = '', day = '', year = ''] = /^([A-Z][a-z]{2}) (\d{1,2}), (\d{4})$/.exec(text) ?? [];
  const number = months.indexOf(month) + 1;
  return number === 0 ? undefined : `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

interface Discovered {
  readonly imsOrgs?: readonly { readonly companies?: readonly { readonly globalCompanyId: string }[] }[];
}

/** Lists the companies that the login can access. */
function foundIn({ imsOrgs = [] }: Discovered, wanted: unknown): string {
  const companies = imsOrgs.flatMap(({ companies: own = [] }) => own.map(({ globalCompanyId: id }) => id));
  if (companies.includes(String(wanted))) return `logged in with access to ${companies.join(', ')}`;
  throw new Problem({
    code: 'ADOBE_NO_COMPANY',
    family: 'config',
    message: 'the login has no access to this Adobe Analytics company',
    seen: String(wanted),
    allowed: companies.join(', ') || 'none',
    next: 'fix `company`, or give the app an Adobe Analytics product profile',
  });
}
