import { defineService, option, type Scope, type StreamData } from '#sdk';

const properties = option.list<string>(
  { type: 'string', minLength: 1 },
  {
    about:
      'Properties to read as columns, including custom ones, in addition to `id`, `created_at` and `updated_at`. Defaults: for deals, dealname, amount, dealstage, pipeline, closedate and hubspot_owner_id; for contacts, email, firstname, lastname, lifecyclestage, hs_lead_status and hubspot_owner_id; for companies, name, domain, industry, country, numberofemployees, annualrevenue and hubspot_owner_id.',
    example: ['dealname', 'amount', 'closedate'],
  },
);

/**
 * HubSpot API. The vendor's documentation confirms the addresses, paging, search and its limits, token URLs and error
 * fields.
 */
export default defineService({
  id: 'hubspot',
  title: 'HubSpot',
  summary:
    'Reads HubSpot deals, contacts and companies with any of their properties, as well as owners and deal stages.',
  options: {
    token: option.text({
      about: 'Access token of a private app; replaces `login`.',
      secret: true,
      example: `$\{env:HUBSPOT_TOKEN}`,
    }),
  },
  version: 'v3',
  base: 'https://api.hubapi.com',
  login: [
    { when: 'token', kind: 'key', headers: { authorization: 'Bearer {{ token }}' } },
    {
      kind: 'oauth',
      oauth: {
        grants: ['authorization_code'],
        authorize_url: 'https://app.hubspot.com/oauth/authorize',
        // HubSpot will shut down the older /oauth/v1/token on 16 February 2027.
        token_url: 'https://api.hubapi.com/oauth/2026-03/token',
        scopes: [
          'oauth',
          'crm.objects.deals.read',
          'crm.objects.contacts.read',
          'crm.objects.companies.read',
          'crm.objects.owners.read',
        ],
        refresh: 'static',
        lifetime_seconds: 1800,
      },
    },
  ],
  streams: {
    deals: objects('deals', {
      about: 'Deals with their amounts and stages.',
      modified: 'hs_lastmodifieddate',
      usual: ['dealname', 'amount', 'dealstage', 'pipeline', 'closedate', 'hubspot_owner_id'],
    }),
    contacts: objects('contacts', {
      about: 'Contacts with their lifecycle stages.',
      modified: 'lastmodifieddate',
      usual: ['email', 'firstname', 'lastname', 'lifecyclestage', 'hs_lead_status', 'hubspot_owner_id'],
    }),
    companies: objects('companies', {
      about: 'Companies.',
      modified: 'hs_lastmodifieddate',
      usual: ['name', 'domain', 'industry', 'country', 'numberofemployees', 'annualrevenue', 'hubspot_owner_id'],
    }),
    owners: {
      about: 'The owners of deals, contacts and companies.',
      request: { path: crm('owners'), query: { limit: 100, after: '{{ page.token }}' } },
      records: 'results',
      paging: { by: 'token', at: 'paging.next.after', missing: 'end' },
      columns: {
        id: 'text',
        email: 'text',
        first_name: { type: 'text', at: 'firstName' },
        last_name: { type: 'text', at: 'lastName' },
        user_id: { type: 'integer', at: 'userId' },
        created_at: { type: 'timestamptz', at: 'createdAt' },
        updated_at: { type: 'timestamptz', at: 'updatedAt' },
        archived: 'boolean',
      },
    },
    stages: {
      about: 'Deal stages, which are the values of `dealstage`, with their pipelines.',
      request: { path: crm('pipelines', '/deals') },
      records: 'results',
      each: ({ stages, ...pipeline }) => ((stages ?? []) as object[]).map((stage) => ({ ...stage, pipeline })),
      columns: {
        id: 'text',
        label: 'text',
        position: { type: 'integer', at: 'displayOrder' },
        probability: { type: 'decimal', at: 'metadata.probability' },
        is_closed: { type: 'boolean', at: 'metadata.isClosed' },
        pipeline_id: { type: 'text', at: 'pipeline.id' },
        pipeline: { type: 'text', at: 'pipeline.label' },
        archived: 'boolean',
      },
    },
  },
  errors: [
    { status: 429, body: { policyName: /daily/i }, verdict: 'daily' },
    {
      status: 403,
      body: { category: 'MISSING_SCOPES' },
      verdict: 'permission',
      message: 'requires a scope that the token does not have',
      next: 'give the app the scopes that the response names, then log in again or create a new token',
    },
    // The API gateway returns this error for a malformed token.
    { status: 530, verdict: 'login', message: 'cannot read the token' },
    { status: 400, verdict: 'config' },
  ],
  budget: {
    rates: [{ requests: 4, within: '1s' }],
    gauges: [
      {
        at: { header: 'x-hubspot-ratelimit-remaining' },
        means: 'left',
        pause: { at: { header: 'x-hubspot-ratelimit-interval-milliseconds' }, unit: 'milliseconds' },
      },
    ],
  },
  check: {
    request: { path: crm('owners'), query: { limit: 1 } },
    message: 'connected to HubSpot; credentials accepted',
  },
  limits: [
    'Sluice reads deals, contacts and companies with searches. A search returns at most 10,000 results, so Sluice sends one search after the other, in order of ID. Searches do not find archived objects.',
    'HubSpot’s search index is updated with a delay, so an incremental run also rereads changes from the ten minutes before the last run.',
    'HubSpot allows four search requests per second. Private apps also have a daily limit; when it is used up, the run fails.',
    'HubSpot retires version v3 of its API in September 2027. `api_version: 2026-03` uses its successor, which returns the same data.',
    'HubSpot’s documentation does not say which scopes the list of properties requires.',
  ],
  example: `sources:
  crm:
    connector: hubspot
    token: "\${env:HUBSPOT_TOKEN}"
jobs:
  deals:
    source: crm
    query:
      stream: deals
      properties: [dealname, amount, dealstage, closedate]
`,
});

/** The path of a CRM object. A dated API version follows the object; an older version precedes it. */
function crm(thing: string, rest = '') {
  return ({ api_version: version }: Scope) =>
    String(version).startsWith('v') ? `/crm/${version}/${thing}${rest}` : `/crm/${thing}/${version}${rest}`;
}

/**
 * Records of one kind from the search endpoint, with keyset pagination by ID. Offsets would end at 10,000 records, and
 * a record would be skipped whenever an earlier record changes.
 */
function objects(
  kind: string,
  { about, modified, usual }: { about: string; modified: string; usual: readonly string[] },
): StreamData {
  return {
    about,
    options: { properties },
    request: {
      path: crm('objects', `/${kind}/search`),
      json: {
        filterGroups: [
          {
            filters: [
              {
                propertyName: modified,
                operator: 'GTE',
                value: "{{ since | default: '1970-01-01T00:00:00Z' | epoch_ms }}",
              },
              { propertyName: 'hs_object_id', operator: 'GT', value: '{{ page.token | text }}' },
            ],
          },
        ],
        sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }],
        properties: ({ fields }: Scope) => [...new Set([...(fields as string[]), modified])],
        limit: 200,
      },
    },
    records: 'results',
    // The total only counts records with an ID after the last one read.
    paging: { by: 'token', at: { last_record: 'id' }, first: 0, present: 'paging.next.after', remaining: 'total' },
    incremental: { column: 'updated_at', key: 'id', settles: '10m' },
    columns: {
      request: { path: crm('properties', `/${kind}`) },
      records: 'results',
      name: 'name',
      type: 'type',
      types: { number: 'decimal', bool: 'boolean', date: { type: 'date', date: 'iso' }, datetime: 'timestamptz' },
      wanted: ({ properties: wanted }) => ((wanted as string[] | undefined)?.length ? wanted : usual),
      within: 'properties',
      always: {
        id: 'text',
        created_at: { type: 'timestamptz', at: 'createdAt' },
        updated_at: { type: 'timestamptz', at: `properties.${modified}` },
      },
    },
  };
}
