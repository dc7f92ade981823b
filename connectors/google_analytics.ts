import { defineService, type Fields, listAt, option, type Scope } from '#sdk';
import { googleOAuth } from './_google-oauth.ts';

const property = {
  property: option.text({
    about: 'Numeric IDs of the GA4 properties, separated by commas. View IDs of Universal Analytics no longer work.',
    required: true,
    example: '123456789',
  }),
};

const inGooglesWords = option.schema<object | undefined>;
const filterExample = { filter: { fieldName: 'country', stringFilter: { value: 'Germany' } } };

const admin = 'https://analyticsadmin.googleapis.com';

/** Google Analytics 4: the Data API for reports, and the Admin API for the lists of accounts and properties. */
export default defineService({
  id: 'google_analytics',
  title: 'Google Analytics',
  summary: 'Reads Google Analytics 4 reports with daily values of any metrics, by any dimensions.',
  version: 'v1beta',
  base: 'https://analyticsdata.googleapis.com',
  login: {
    kind: 'oauth',
    oauth: googleOAuth('analytics.readonly'),
  },
  streams: {
    report: {
      about: 'Metrics by dimensions.',
      options: {
        ...property,
        dimensions: option.list<string>(
          { type: 'string' },
          { about: 'Dimensions of the report.', default: ['date'], example: ['date', 'country'] },
        ),
        metrics: option.list<string>(
          { type: 'string' },
          {
            about: 'Metrics of the report.',
            default: ['activeUsers', 'sessions'],
            example: ['sessions', 'totalRevenue'],
          },
        ),
        dimension_filter: inGooglesWords(
          { type: 'object' },
          { about: 'Row filter, as a Data API FilterExpression.', example: filterExample },
        ),
        metric_filter: inGooglesWords(
          { type: 'object' },
          {
            about: 'Like `dimension_filter`, but filters rows by their metrics.',
            example: {
              filter: {
                fieldName: 'sessions',
                numericFilter: { operation: 'GREATER_THAN', value: { int64Value: '10' } },
              },
            },
          },
        ),
      },
      partitions: { property: { option: 'property' } },
      window: { start: '28d', look_back: '3d' },
      request: {
        method: 'POST',
        path: (scope) => `/${scope.api_version}/properties/${numberOf(scope)}:runReport`,
        json: {
          dateRanges: [{ startDate: '{{ window.from }}', endDate: '{{ window.to }}' }],
          dimensions: ({ dimensions }: { dimensions?: unknown }) => named(dimensions),
          metrics: ({ metrics }: { metrics?: unknown }) => named(metrics),
          dimensionFilter: '{{ dimension_filter }}',
          metricFilter: '{{ metric_filter }}',
          // Paging uses offsets. If the rows weren't ordered, some could be duplicated or missing.
          orderBys: ({ dimensions }: { dimensions?: unknown }) =>
            (dimensions as string[]).map((dimensionName) => ({ dimension: { dimensionName } })),
          // The API returns 64-bit numbers as strings.
          limit: '10000',
          offset: '{{ page.offset | text }}',
          keepEmptyRows: false,
          returnPropertyQuota: true,
        },
      },
      records: {
        at: 'rows',
        zip: [
          { names: 'dimensionHeaders.*.name', values: 'dimensionValues.*.value' },
          { names: 'metricHeaders.*.name', values: 'metricValues.*.value' },
        ],
      },
      absent: 'metricHeaders',
      paging: { by: 'offset', total: 'rowCount' },
      columns: ({ dimensions, metrics }) => ({
        property: { type: 'text', scope: 'partition.property' },
        ...Object.fromEntries((dimensions as string[]).map((name) => [name, dimensionColumn(name)])),
        ...Object.fromEntries((metrics as string[]).map((name) => [name, 'decimal' as const])),
      }),
    },
    properties: {
      about: 'Properties that the logged-in user may read, with their accounts.',
      request: {
        base: admin,
        path: '/{{ api_version }}/accountSummaries',
        query: { pageSize: 200, pageToken: '{{ page.token }}' },
      },
      records: 'accountSummaries',
      absent: '',
      paging: { by: 'token', at: 'nextPageToken', missing: 'end' },
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
      request: { path: (scope) => `/${scope.api_version}/properties/${numberOf(scope)}/metadata` },
      records: (answer) => [
        ...listAt(answer, 'dimensions').map((one) => ({ kind: 'dimension', ...(one as Fields) })),
        ...listAt(answer, 'metrics').map((one) => ({ kind: 'metric', ...(one as Fields) })),
      ],
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
  budget: {
    // A request rarely costs more than ten tokens. If few tokens are left, requests are slowed down to one per minute,
    // which uses fewer tokens per hour than Google adds.
    gauges: ['tokensPerHour', 'tokensPerProjectPerHour', 'tokensPerDay'].map((name) => ({
      at: `propertyQuota.${name}.remaining`,
      means: 'left' as const,
      threshold: 100,
      pause: '60s',
    })),
  },
  errors: [
    {
      body: { 'error.status': 'RESOURCE_EXHAUSTED', 'error.message': /\bday|daily\b/i },
      verdict: 'daily',
      messageAt: 'error.message',
    },
    { body: { 'error.status': 'RESOURCE_EXHAUSTED' }, verdict: 'wait', wait: '30s', messageAt: 'error.message' },
    {
      status: 403,
      verdict: 'permission',
      messageAt: 'error.message',
      next: 'give the logged-in account access to the property, and enable the Google Analytics Data and Admin APIs for its app',
    },
    {
      status: 400,
      verdict: 'config',
      messageAt: 'error.message',
      next: 'check `property`, `dimensions` and `metrics`; the `fields` stream lists them',
    },
  ],
  check: {
    request: { base: admin, path: '/{{ api_version }}/accountSummaries', query: { pageSize: 1 } },
    message: 'connected to Google Analytics; login accepted',
  },
  limits: [
    'Google restates recent figures, so an incremental run reads the last three days again.',
    'Google counts quotas in tokens per property, by hour and by day. Each report returns the number of tokens left; if it is below 100, Sluice logs it and sends requests one minute apart. It is unconfirmed whether Google’s error message distinguishes the daily quota from the hourly one.',
    'Google may omit rows with few users, and combine excess rows into one row called (other).',
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

/** In Google's lists, IDs have the form `properties/123`. */
function numberOf({ partition }: Scope): string {
  return String((partition as { property: unknown }).property).replace(/^properties\//, '');
}

function named(names: unknown): { name: string }[] {
  return (names as string[]).map((name) => ({ name }));
}

function dimensionColumn(name: string) {
  return name === 'date' ? ({ type: 'date', date: 'YYYYMMDD' } as const) : ('text' as const);
}
