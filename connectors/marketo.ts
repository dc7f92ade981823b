import { defineService, type Moment, option, type Scope } from '#sdk';

/** The asset API returns times in this format: `2026-01-31T09:00:00Z+0000`. */
const assetTime = (at: string) =>
  ({ type: 'timestamptz', at, date: 'YYYY-MM-DDTHH:mm:ssZ+0000', zone: 'UTC' }) as const;

const leadsExport = '/bulk/{{ api_version }}/leads/export';

/**
 * Adobe Marketo Engage: REST API for activities and programs, bulk extract for leads. Error responses have status code
 * 200.
 */
export default defineService({
  id: 'marketo',
  title: 'Marketo',
  summary: 'Reads leads, lead activities and programs from Adobe Marketo Engage.',
  options: {
    munchkin: option.text({
      about: 'Munchkin ID of the subscription: the first part of its API host name.',
      required: true,
      pattern: '^[A-Za-z0-9-]+$',
      example: '123-ABC-456',
    }),
  },
  version: 'v1',
  base: 'https://{{ munchkin }}.mktorest.com',
  login: {
    kind: 'oauth',
    oauth: {
      grants: ['client_credentials'],
      token_url: 'https://{munchkin}.mktorest.com/identity/oauth/token',
      token_request: 'query',
      token_method: 'GET',
      // All clients of a service share one token. The token response says how long the token remains valid.
      refresh: 'none',
      lifetime_seconds: 3600,
    },
  },
  streams: {
    leads: {
      about: 'Leads with any of their fields, read with a bulk extract.',
      options: {
        columns: option.list<string>(
          { type: 'string' },
          {
            about: 'Field names, as in the REST API.',
            default: ['id', 'email', 'firstName', 'lastName', 'company', 'leadSource', 'createdAt', 'updatedAt'],
            example: ['id', 'leadScore', 'createdAt'],
          },
        ),
        by: option.choice(['createdAt', 'updatedAt'], {
          about:
            'Whether to filter by the date of creation or of the last change. `updatedAt` is not available in all subscriptions.',
          default: 'createdAt',
        }),
      },
      window: { step: '31d', end: 'outside' },
      job: {
        create: {
          path: `${leadsExport}/create.json`,
          json: {
            format: 'CSV',
            fields: '{{ fields }}',
            filter: { createdAt: span('createdAt'), updatedAt: span('updatedAt') },
          },
        },
        keep: { id: 'result.0.exportId' },
        start: { method: 'POST', path: `${leadsExport}/{{ job.id }}/enqueue.json` },
        poll: { path: `${leadsExport}/{{ job.id }}/status.json` },
        state: 'result.0.status',
        done: ['Completed'],
        failed: ['Failed', 'Cancelled'],
        // The vendor updates the status of jobs once a minute.
        every: '60s',
      },
      request: { path: `${leadsExport}/{{ job.id }}/file.json` },
      decode: { as: 'csv', null_text: 'null', drop_nul: true },
      records: '',
      columns: {
        request: { path: '/rest/{{ api_version }}/leads/describe.json' },
        records: 'result',
        name: 'rest.name',
        type: 'dataType',
        types: {
          integer: 'integer',
          score: 'integer',
          float: 'decimal',
          currency: 'decimal',
          percent: 'decimal',
          boolean: 'boolean',
          date: 'date',
          datetime: 'timestamptz',
        },
        wanted: '{{ columns }}',
      },
    },
    activities: {
      about: 'Lead activities: visits, opened emails, submitted forms.',
      options: {
        activity_types: option.list<number>(
          { type: 'integer' },
          {
            about: 'Numeric IDs of at most ten activity types; the `activity_types` stream lists them.',
            required: true,
            example: [1, 6, 10],
          },
        ),
      },
      partitions: {
        start: {
          request: {
            path: '/rest/{{ api_version }}/activities/pagingtoken.json',
            query: { sinceDatetime: firstInstant },
          },
          records: { one: '' },
          fields: { token: 'nextPageToken' },
        },
      },
      request: {
        path: '/rest/{{ api_version }}/activities.json',
        query: { nextPageToken: '{{ page.token }}', activityTypeIds: '{{ activity_types | join: , }}', batchSize: 300 },
      },
      records: 'result',
      absent: 'success',
      // Pages before the last one may be empty.
      paging: { by: 'token', first: '{{ partition.start.token }}', at: 'nextPageToken', more: 'moreResult' },
      incremental: { column: 'at', key: 'marketoGUID', settles: '10m' },
      columns: {
        id: { type: 'text', at: 'marketoGUID' },
        lead_id: { type: 'integer', at: 'leadId' },
        at: { type: 'timestamptz', at: 'activityDate' },
        activity_type: { type: 'integer', at: 'activityTypeId' },
        campaign_id: { type: 'integer', at: 'campaignId' },
        subject_id: { type: 'integer', at: 'primaryAttributeValueId' },
        subject: { type: 'text', at: 'primaryAttributeValue' },
        attributes: 'json',
      },
    },
    programs: {
      about: 'Programs with their channels and statuses.',
      request: {
        path: '/rest/asset/{{ api_version }}/programs.json',
        query: {
          offset: '{{ page.offset }}',
          maxReturn: 200,
          earliestUpdatedAt: '{{ since | in: UTC | format: YYYY-MM-DDTHH:mm:ssZ }}',
        },
      },
      records: 'result',
      // After the last page, the response contains a warning instead of a list.
      absent: 'success',
      paging: { by: 'offset' },
      incremental: { column: 'updated_at', key: 'id', settles: '5m' },
      columns: {
        id: 'integer',
        name: 'text',
        description: 'text',
        type: 'text',
        channel: 'text',
        status: 'text',
        workspace: 'text',
        folder: { type: 'text', at: 'folder.folderName' },
        url: 'text',
        created_at: assetTime('createdAt'),
        updated_at: assetTime('updatedAt'),
      },
    },
    activity_types: {
      about: 'The activity types and their IDs.',
      request: { path: '/rest/{{ api_version }}/activities/types.json' },
      records: 'result',
      columns: { id: 'integer', name: 'text', description: 'text' },
    },
  },
  errors: [
    { body: { 'errors.*.code': ['600', '601', '602'] }, verdict: 'login' },
    {
      body: { 'errors.*.code': '603' },
      verdict: 'permission',
      next: 'in Marketo, give the API user’s role the permission that the response names',
    },
    { body: { 'errors.*.code': '607' }, verdict: 'daily' },
    { body: { 'errors.*.code': '1029', 'errors.*.message': /quota/i }, verdict: 'daily' },
    { body: { 'errors.*.code': '1029' }, verdict: 'wait', wait: '1m', message: 'has too many exports in progress' },
    { body: { 'errors.*.code': '606' }, verdict: 'wait', wait: '20s' },
    { body: { 'errors.*.code': ['502', '604', '608', '611', '614', '615'] }, verdict: 'wait' },
    {
      body: { 'errors.*.code': '1035' },
      verdict: 'config',
      message: 'does not support exports by last change in this subscription',
      next: 'set `by: createdAt`, or ask the vendor to enable such exports',
    },
    { body: { 'errors.*.code': /^(?:610|7\d\d|1\d\d\d)$/ }, verdict: 'config' },
    { body: { success: false }, verdict: 'fail' },
  ],
  budget: { rates: [{ requests: 100, within: '20s' }], at_once: 10 },
  check: {
    request: { path: '/rest/{{ api_version }}/leads/describe.json' },
    message: ({ answer }) =>
      `connected to Marketo; login accepted; leads have ${(answer as { result?: unknown[] }).result?.length ?? 0} fields`,
  },
  limits: [
    'Marketo’s documentation confirms the URLs, paging tokens, export states, and limits of 31 days per export, two exports at a time and ten in the queue, and 100 calls in 20 seconds. Marketo also allows 500 MB of exports and 50,000 calls per day; both limits reset at midnight Central time.',
    'It is unconfirmed that one call allows at most ten activity types and that activities appear within ten minutes.',
    'Deleted leads are not reported.',
    'Even a small export takes a minute or more.',
    'Custom activities, and fields that existed only in the SOAP API, are not read.',
  ],
  example: `sources:
  marketing:
    connector: marketo
    munchkin: 123-ABC-456
    login: { client_id: "\${env:MARKETO_ID}", client_secret: "\${env:MARKETO_SECRET}" }
jobs:
  new_leads:
    source: marketing
    query: { stream: leads, start_date: "{{ month_start }}", columns: [id, leadSource, createdAt] }
  opened:
    source: marketing
    query: { stream: activities, activity_types: [10], start_date: "{{ today - 7d }}" }
`,
});

/** An export's inclusive bounds in whole seconds; undefined if the export is filtered by the other date field. */
function span(by: 'createdAt' | 'updatedAt') {
  return ({ by: wanted, window, now }: Scope) => {
    if (wanted !== by) return undefined;
    const { from, to } = window as { from: Moment; to: Moment };
    return { startAt: second(from), endAt: second(isBefore(to, now) ? to.plus('-1s') : now) };
  };
}

function isBefore(a: Moment, b: Moment): boolean {
  return a.at.epochMilliseconds < b.at.epochMilliseconds;
}

function second({ at }: Moment): string {
  return at.toInstant().toString({ smallestUnit: 'second' });
}

/** The time from which activities are read. Default: 30 days ago. */
function firstInstant({ since, now }: Scope): string {
  return second((since as Moment | undefined) ?? now.plus('-30d'));
}
