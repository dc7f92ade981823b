import { defineService, option } from '#sdk';

const property = {
  property: option.text({
    about:
      'Numbers of the GA4 properties, separated by commas. The view ids of Universal Analytics mean nothing any more.',
    required: true,
    example: '123456789',
  }),
};

const admin = 'https://analyticsadmin.googleapis.com';

/** Google Analytics 4: the Data API for reports, the Admin API for what there is to report on. */
export default defineService({
  id: 'google_analytics',
  title: 'Google Analytics',
  summary: 'Reads reports of Google Analytics 4: any metrics by any dimensions, day by day.',
  version: 'v1beta',
  base: 'https://analyticsdata.googleapis.com',
  login: {
    kind: 'oauth',
    oauth: {
      grants: ['authorization_code', 'jwt_bearer'],
      authorize_url: 'https://accounts.google.com/o/oauth2/v2/auth',
      token_url: 'https://oauth2.googleapis.com/token',
      revoke_url: 'https://oauth2.googleapis.com/revoke',
      pkce: true,
      scopes: ['https://www.googleapis.com/auth/analytics.readonly'],
      authorize_parameters: { access_type: 'offline', prompt: 'consent' },
      refresh: 'static',
      assertion: { algorithm: 'RS256', audience: 'https://oauth2.googleapis.com/token' },
    },
  },
  streams: {
    report: {
      about: 'Metrics by dimensions.',
      options: {
        ...property,
        dimensions: option.list<string>(
          { type: 'string' },
          { about: 'By what the figures are split.', default: ['date'], example: ['date', 'country'] },
        ),
        metrics: option.list<string>(
          { type: 'string' },
          { about: 'Which figures.', default: ['activeUsers', 'sessions'], example: ['sessions', 'totalRevenue'] },
        ),
      },
      partitions: { property: { option: 'property' } },
      window: { start: '28d', look_back: '3d' },
      request: {
        method: 'POST',
        path: '/{{ api_version }}/properties/{{ partition.property }}:runReport',
        json: {
          dateRanges: [{ startDate: '{{ window.from }}', endDate: '{{ window.to }}' }],
          dimensions: ({ dimensions }: { dimensions?: unknown }) => named(dimensions),
          metrics: ({ metrics }: { metrics?: unknown }) => named(metrics),
          // The service writes and reads 64-bit numbers as texts.
          limit: '100000',
          offset: '{{ page.offset | text }}',
          keepEmptyRows: false,
        },
      },
      records: {
        at: 'rows',
        zip: [
          { names: 'dimensionHeaders.*.name', values: 'dimensionValues.*.value' },
          { names: 'metricHeaders.*.name', values: 'metricValues.*.value' },
        ],
      },
      paging: { by: 'offset', total: 'rowCount' },
      columns: ({ dimensions, metrics }) => ({
        property: { type: 'text', scope: 'partition.property' },
        ...Object.fromEntries((dimensions as string[]).map((name) => [name, dimensionColumn(name)])),
        ...Object.fromEntries((metrics as string[]).map((name) => [name, 'decimal' as const])),
      }),
    },
    properties: {
      about: 'The properties that we may read, with their accounts.',
      request: {
        base: admin,
        path: '/{{ api_version }}/accountSummaries',
        query: { pageSize: 200, pageToken: '{{ page.token }}' },
      },
      records: 'accountSummaries',
      paging: { by: 'token', at: 'nextPageToken' },
      each: ({ propertySummaries, ...account }) =>
        ((propertySummaries ?? []) as object[]).map((summary) => ({ ...summary, account })),
      columns: {
        property: 'text',
        name: { type: 'text', at: 'displayName' },
        kind: { type: 'text', at: 'propertyType' },
        account: { type: 'text', at: 'account.account' },
        account_name: { type: 'text', at: 'account.displayName' },
      },
    },
    fields: {
      about: 'The dimensions and metrics of a property.',
      options: property,
      partitions: { property: { option: 'property' } },
      request: { path: '/{{ api_version }}/properties/{{ partition.property }}/metadata' },
      records: ({ body }) => {
        const { dimensions = [], metrics = [] } = body as { dimensions?: object[]; metrics?: object[] };
        return [
          ...dimensions.map((one) => ({ kind: 'dimension', ...one })),
          ...metrics.map((one) => ({ kind: 'metric', ...one })),
        ];
      },
      columns: {
        property: { type: 'text', scope: 'partition.property' },
        kind: 'text',
        name: { type: 'text', at: 'apiName' },
        title: { type: 'text', at: 'uiName' },
        category: 'text',
        description: 'text',
      },
    },
  },
  errors: [
    { body: { 'error.status': 'RESOURCE_EXHAUSTED', 'error.message': /\bday|daily\b/i }, verdict: 'daily' },
    { body: { 'error.status': 'RESOURCE_EXHAUSTED' }, verdict: 'wait', wait: '30s' },
    {
      status: 400,
      verdict: 'config',
      next: 'look at `property`, `dimensions` and `metrics`; the stream `fields` lists them',
    },
  ],
  check: {
    request: { base: admin, path: '/{{ api_version }}/accountSummaries', query: { pageSize: 1 } },
    say: 'Google Analytics answers and takes our login',
  },
  limits: [
    'Figures of the last days are restated: an incremental run reads the last three days again.',
    'Quotas are counted in tokens for each property, by hour and by day.',
  ],
  example: `sources:
  website:
    connector: google_analytics
    login: { client_id: "\${env:GOOGLE_CLIENT_ID}", client_secret: "\${env:GOOGLE_CLIENT_SECRET}" }
jobs:
  visits:
    source: website
    query:
      stream: report
      property: "123456789"
      dimensions: [date, country]
      metrics: [sessions, totalRevenue]
      start_date: "{{ month_start - 1mo }}"
`,
});

function named(names: unknown): { name: string }[] {
  return (names as string[]).map((name) => ({ name }));
}

function dimensionColumn(name: string) {
  return name === 'date' ? ({ type: 'date', date: 'YYYYMMDD' } as const) : ('text' as const);
}
