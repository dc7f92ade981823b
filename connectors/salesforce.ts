import {
  defineService,
  type Fields,
  type Moment,
  option,
  Problem,
  type RequestData,
  type Scope,
  type StreamData,
} from '#sdk';

/** The column type for each Salesforce type. Fields of other types (compound and binary ones) don't become columns. */
const types = {
  ...Object.fromEntries(
    ['id', 'string', 'picklist', 'multipicklist', 'combobox', 'textarea', 'phone', 'url', 'email', 'reference']
      .concat('encryptedstring', 'anyType', 'datacategorygroupreference')
      .map((name) => [name, 'text' as const]),
  ),
  boolean: 'boolean',
  int: 'integer',
  long: 'integer',
  double: 'decimal',
  currency: 'decimal',
  percent: 'decimal',
  date: 'date',
  time: 'time',
  datetime: { type: 'timestamptz', date: 'iso' },
} as const;

const bulkJob = '/jobs/query/{{ job.id }}';

/**
 * Salesforce REST API and Bulk API 2.0. Confirmed: addresses, paging, the API address in the token response, the states
 * of bulk jobs, their locator header, and the error code for an exceeded limit. The other error codes are unconfirmed
 * general knowledge.
 */
export default defineService({
  id: 'salesforce',
  title: 'Salesforce',
  summary: 'Reads the results of SOQL queries, and Salesforce objects with typed columns, page by page or in bulk.',
  options: {
    login_url: option.text({
      about:
        'Login URL: https://test.salesforce.com for a sandbox, or the My Domain URL, which client credentials require.',
      default: 'https://login.salesforce.com',
      example: 'https://acme.my.salesforce.com',
      pattern: '^https?://[^/]+$',
    }),
  },
  version: '64.0',
  base: '{{ login.kept.instance_url }}/services/data/v{{ api_version }}',
  login: {
    kind: 'oauth',
    oauth: {
      grants: ['authorization_code', 'client_credentials', 'jwt_bearer'],
      authorize_url: '{login_url}/services/oauth2/authorize',
      token_url: '{login_url}/services/oauth2/token',
      revoke_url: '{login_url}/services/oauth2/revoke',
      // This flow is older than the RFC and uses other parameter names. See "OAuth 2.0 Device Flow" in Salesforce's
      // help.
      device: {
        url: '{login_url}/services/oauth2/token',
        parameters: { response_type: 'device_code' },
        grant_type: 'device',
        code_parameter: 'code',
      },
      pkce: true,
      // Without a user's consent, the app's own scopes apply, and the token endpoint rejects `scope`.
      person_scopes: ['api', 'refresh_token'],
      // Salesforce doesn't say how long tokens are valid, so a token is refreshed when it's rejected. The app's
      // settings decide whether a refresh token may be used more than once. Sluice never uses a refresh token twice,
      // because reusing a single-use token would end the login.
      refresh: 'rotating',
      keep: ['instance_url'],
      assertion: { algorithm: 'RS256', audience: '{login_url}' },
    },
  },
  streams: {
    records: {
      ...objectStream('Records of an object, 2,000 at a time.'),
      request: { path: ({ deleted }) => (deleted === true ? '/queryAll' : '/query'), query: { q: soqlOf } },
      records: 'records',
      paging: { by: 'link', at: 'nextRecordsUrl', last: 'done', total: 'totalSize' },
    },
    bulk: {
      ...objectStream(
        'The same records as `records`, read with a bulk job. Use it for millions of records or for objects with hundreds of fields.',
      ),
      job: {
        create: {
          path: '/jobs/query',
          json: {
            operation: ({ deleted }: Scope) => (deleted === true ? 'queryAll' : 'query'),
            query: soqlOf,
            contentType: 'CSV',
            columnDelimiter: 'COMMA',
            lineEnding: 'LF',
          },
        },
        keep: { id: 'id' },
        poll: { path: bulkJob },
        state: 'state',
        done: ['JobComplete'],
        failed: ['Aborted', 'Failed'],
        patience: '4h',
      },
      request: { path: `${bulkJob}/results`, query: { locator: '{{ page.token }}', maxRecords: 50_000 } },
      decode: 'csv',
      records: '',
      each: withoutBlanks,
      paging: { by: 'token', at: { header: 'sforce-locator' }, missing: 'error' },
      errors: [
        {
          status: [400, 403],
          body: { '*.message': /bulk api/i },
          verdict: 'config',
          message: 'does not support bulk reads of this object',
          next: 'use `stream: records` for this object',
        },
      ],
    },
    query: {
      about: 'The result of a SOQL query, which can join objects and compute sums and counts.',
      options: {
        soql: option.text({
          about: 'The query. Fields of joined objects become columns such as `Account.Name`.',
          required: true,
          example: 'SELECT StageName, SUM(Amount) total FROM Opportunity GROUP BY StageName',
        }),
      },
      request: { path: '/query', query: { q: '{{ soql }}' } },
      records: 'records',
      each: (record) => plain(record) as Fields,
      paging: { by: 'link', at: 'nextRecordsUrl', last: 'done', total: 'totalSize' },
      columns: 'discovered',
    },
    objects: {
      about: 'The list of objects, with the names to use for `object`.',
      request: { path: '/sobjects' },
      records: 'sobjects',
      columns: { name: 'text', label: 'text', custom: 'boolean', queryable: 'boolean' },
    },
  },
  errors: [
    { body: { '*.errorCode': 'REQUEST_LIMIT_EXCEEDED' }, verdict: 'daily' },
    {
      status: [400, 404],
      body: { '*.errorCode': ['INVALID_FIELD', 'INVALID_TYPE', 'MALFORMED_QUERY', 'NOT_FOUND'] },
      verdict: 'config',
      next: 'check `object`, `columns`, `where` and `soql`; the `objects` stream lists all objects',
    },
    {
      body: { '*.errorCode': 'INVALID_QUERY_LOCATOR' },
      verdict: 'reset',
      message: 'closed the query before all pages were read',
    },
    {
      body: { '*.errorCode': 'QUERY_TIMEOUT' },
      verdict: 'fail',
      message: 'timed out on this query',
      next: 'narrow the query with `where`, or use `stream: bulk`',
    },
    {
      status: [414, 431],
      verdict: 'config',
      message: 'does not accept such a long URL',
      next: 'set `columns` to the columns that you need, or read it with `stream: bulk`',
    },
    { body: { '*.errorCode': 'UNABLE_TO_LOCK_ROW' }, verdict: 'wait' },
  ],
  check: {
    request: { path: '/limits' },
    message:
      'logged in; {{ answer.DailyApiRequests.Remaining }} of {{ answer.DailyApiRequests.Max }} daily requests are left',
  },
  limits: [
    'Salesforce limits the number of requests that an organization sends in 24 hours, from all of its apps. When the limit is reached, the run fails, and a later run continues.',
    'A query returns the data as of its start. An incremental run also rereads changes from the ten minutes before the last run, because long transactions become visible late.',
    'Deleted records are included only with `deleted: true` and are marked by `IsDeleted`. Addresses and locations are split into their parts; files are not read.',
    'For objects without `SystemModstamp`, set `changed_field` to the field by which runs resume, such as LastModifiedDate, CreatedDate or LoginTime.',
    'Refresh Token Rotation is supported; since 2026, apps used in more than two production orgs require it. Do not use the same login in another program, and run the job at least every 30 days.',
    'Salesforce’s documentation does not say whether a signed assertion can request scopes, whether a running query sees later changes, or how long a URL may be.',
  ],
  example: `sources:
  crm:
    connector: salesforce
    login: { client_id: "\${env:SALESFORCE_KEY}", client_secret: "\${env:SALESFORCE_SECRET}" }
jobs:
  pipeline:
    source: crm
    query:
      stream: records
      object: Opportunity
      columns: [Name, StageName, Amount, CloseDate]
      where: IsClosed = false
`,
});

/** The parts that `records` and `bulk` have in common: the object, its fields and the start date. */
function objectStream(about: string): Pick<StreamData, 'about' | 'options' | 'incremental' | 'columns'> {
  return {
    about,
    options: {
      object: option.text({ about: 'API name of the object.', required: true, example: 'Opportunity' }),
      columns: option.list<string>(
        { type: 'string', minLength: 1 },
        { about: 'Names of the fields that become columns. Default: all.', example: ['Name', 'Amount'] },
      ),
      where: option.text({ about: 'A SOQL condition.', example: "StageName = 'Closed Won'" }),
      deleted: option.boolean({ about: 'Include deleted records.', default: false }),
      changed_field: option.text({
        about: 'The field with the time of the last change, for `incremental` and `start_date`.',
        default: 'SystemModstamp',
        example: 'CreatedDate',
      }),
    },
    incremental: { column: '{{ changed_field }}', key: 'Id', settles: '10m' },
    columns: {
      request: { path: '/sobjects/{{ object | url }}/describe' } satisfies RequestData,
      records: 'fields',
      name: 'name',
      type: 'type',
      only: { type: Object.keys(types) },
      types,
      wanted: wantedFields,
    },
  };
}

/** The fields that the user selected, and those that are required to resume the read. */
function wantedFields({ columns, incremental, changed_field: changed }: Scope): unknown {
  const named = columns as readonly string[] | undefined;
  if (named === undefined || named.length === 0) return undefined;
  return incremental === true ? [...named, 'Id', changed] : named;
}

function soqlOf({ fields, object, where, since, changed_field: changed }: Scope): string {
  const conditions = [
    ...(since === undefined ? [] : [`${changed} >= ${(since as Moment).text('iso')}`]),
    ...(where === undefined ? [] : [`(${where})`]),
  ];
  const filter = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `SELECT ${(fields as readonly string[]).join(', ')} FROM ${object}${filter}`;
}

/** In a bulk job's results, empty cells mean null, because Salesforce has no empty strings. */
function withoutBlanks(record: Fields): Fields {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, value === '' ? null : value]));
}

/** A record and its nested records without their type and URL attributes. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null && 'nextRecordsUrl' in value) throw nestedCut(value as Fields);
  if (typeof value !== 'object' || value === null || !('attributes' in value)) return value;
  const { attributes: _, ...fields } = value as Fields;
  return Object.fromEntries(Object.entries(fields).map(([name, inner]) => [name, plain(inner)]));
}

/** A nested list has pages of its own. These pages aren't read. */
function nestedCut({ totalSize }: Fields): Problem {
  return new Problem({
    code: 'SALESFORCE_NESTED_CUT',
    family: 'config',
    message: 'Salesforce returned only the first records of a nested list',
    seen: `a nested list of ${String(totalSize)} records`,
    next: 'read the nested object in a separate job, or narrow the inner query in `soql`',
  });
}
