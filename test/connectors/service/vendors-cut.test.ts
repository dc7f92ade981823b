import { describe, expect, it } from 'vitest';
import type { Connector } from '../../../src/sdk/index.ts';
import { failService } from '../doubles/service-suite.ts';
import type { Reply, Routes } from '../doubles/vendor.ts';

interface Cut {
  readonly id: string;
  readonly what: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly source?: Readonly<Record<string, unknown>>;
  readonly kept?: Readonly<Record<string, string>>;
  readonly routes: Routes;
  readonly code: string;
}

const error: Reply = { json: { error_message: 'quota exceeded' } };
const soap = (inside: string): Reply => ({
  text: `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${inside}</soap:Body></soap:Envelope>`,
  headers: { 'content-type': 'text/xml' },
});
const salesforce = { instance_url: 'https://acme.my.salesforce.com' };
const api = '/services/data/v64.0';

/** Answers with status 200 that lack what the vendor always writes: a part, or an error that looks like a good answer. */
const cuts: readonly Cut[] = [
  {
    id: 'salesforce',
    what: 'more records without their address',
    query: { stream: 'query', soql: 'select Id from Account' },
    kept: salesforce,
    routes: { [`GET ${api}/query`]: { json: { totalSize: 3, done: false, records: [{ Id: 'a' }] } } },
    code: 'SERVICE_NO_WAY_ON',
  },
  {
    id: 'salesforce',
    what: 'fewer records than its total',
    query: { stream: 'query', soql: 'select Id from Account' },
    kept: salesforce,
    routes: { [`GET ${api}/query`]: { json: { totalSize: 3, done: true, records: [{ Id: 'a' }] } } },
    code: 'SERVICE_PAGES_SHORT',
  },
  {
    id: 'salesforce',
    what: 'a record whose own list is cut',
    query: { stream: 'query', soql: 'select Id, (select Id from Contacts) from Account' },
    kept: salesforce,
    routes: {
      [`GET ${api}/query`]: {
        json: {
          totalSize: 1,
          done: true,
          records: [
            { attributes: {}, Id: 'a', Contacts: { totalSize: 9, done: false, nextRecordsUrl: '/x', records: [] } },
          ],
        },
      },
    },
    code: 'SALESFORCE_NESTED_CUT',
  },
  {
    id: 'omniture',
    what: 'a page without lastPage',
    source: { company: 'c' },
    query: { stream: 'segments' },
    routes: { 'GET /api/c/segments': { json: { content: [{ id: 's1' }] } } },
    code: 'SERVICE_PAGE_FLAG',
  },
  {
    id: 'omniture',
    what: 'a report without rows',
    source: { company: 'c' },
    query: { stream: 'report', rsid: 'rs' },
    routes: { 'POST /api/c/reports': { json: { lastPage: true, columns: { columnIds: ['0', '1'] } } } },
    code: 'SERVICE_NO_LIST',
  },
  {
    id: 'iformbuilder',
    what: 'an error in place of the list',
    source: { server: 'app' },
    query: { stream: 'pages', profile: 47 },
    routes: { 'GET /exzact/api/v60/profiles/47/pages': error },
    code: 'SERVICE_NO_LIST',
  },
  {
    id: 'iformbuilder',
    what: 'fewer forms than its header counts',
    source: { server: 'app' },
    query: { stream: 'pages', profile: 47 },
    routes: {
      'GET /exzact/api/v60/profiles/47/pages': ({ query }) => ({
        json: query.get('offset') === '0' ? [{ id: 1 }] : [],
        headers: { 'total-count': '3' },
      }),
    },
    code: 'SERVICE_PAGES_SHORT',
  },
  {
    id: 'comscore',
    what: 'an order without a number',
    source: { user: 'ann', password: 's3cret' },
    query: { stream: 'key_measures', time_periods: [204] },
    routes: { 'POST /KeyMeasures.asmx': soap('<SubmitReportResponse xmlns="http://comscore.com/"/>') },
    code: 'SERVICE_JOB_FAILED',
  },
  {
    id: 'shopify',
    what: 'a bulk operation that was not made',
    source: { shop: 'acme', token: 'tok-12345' },
    query: { stream: 'bulk_orders' },
    routes: {
      'POST /admin/api/2026-07/graphql.json': {
        json: { data: { bulkOperationRunQuery: { bulkOperation: null, userErrors: [] } } },
      },
    },
    code: 'SERVICE_JOB_FAILED',
  },
  {
    id: 'facebook',
    what: 'a report that was not made',
    source: { token: 'tok-12345' },
    query: { stream: 'report', account: '11' },
    routes: { 'POST /v26.0/act_11/insights': error },
    code: 'SERVICE_JOB_FAILED',
  },
  {
    id: 'google_drive',
    what: 'a search that left something out',
    query: { stream: 'files' },
    routes: { 'GET /drive/v3/files': { json: { kind: 'drive#fileList', incompleteSearch: true, files: [] } } },
    code: 'SERVICE_FAILED',
  },
  {
    id: 'hubspot',
    what: 'fewer records than it found',
    source: { token: 'tok-12345' },
    query: { stream: 'deals', properties: ['dealname'] },
    routes: {
      'GET /crm/v3/properties/deals': { json: { results: [{ name: 'dealname', type: 'string' }] } },
      'POST /crm/v3/objects/deals/search': { json: { total: 2, results: [{ id: '1', properties: {} }] } },
    },
    code: 'SERVICE_PAGES_SHORT',
  },
  ...(
    [
      ['box', 'GET /2.0/folders/0/items', { stream: 'files' }],
      ['dropbox', 'POST /2/files/list_folder', { stream: 'files' }],
      ['google_drive', 'GET /drive/v3/files', { stream: 'files' }],
      ['google_analytics', 'POST /v1beta/properties/11:runReport', { stream: 'report', property: '11' }],
      ['google_adwords', 'POST /v26/customers/11/googleAds:search', { stream: 'campaigns', customer: '11' }],
      ['google_spreadsheets', 'GET /v4/spreadsheets/s', { stream: 'sheets' }, { spreadsheet: 's' }],
      ['hubspot', 'GET /crm/v3/owners', { stream: 'owners' }, { token: 'tok-12345' }],
      ['facebook', 'GET /v26.0/act_11/campaigns', { stream: 'campaigns', account: '11' }, { token: 'tok-12345' }],
      ['marketo', 'GET /rest/v1/activities/types.json', { stream: 'activity_types' }, { munchkin: '1-A-2' }],
      [
        'shopify',
        'GET /admin/api/2026-07/orders.json',
        { stream: 'order_lines' },
        { shop: 'acme', token: 'tok-12345' },
      ],
      ['survey_monkey', 'GET /v3/surveys', { stream: 'surveys' }, { token: 'tok-12345' }],
      ['versature', 'GET /api/cdrs/users/', { stream: 'calls' }],
      ['versature', 'GET /api/users/', { stream: 'users' }],
      ['xero', 'GET /connections', { stream: 'invoices' }],
      ['salesforce', `GET ${api}/sobjects`, { stream: 'objects' }],
    ] as const
  ).map(
    ([id, route, query, source = {}]): Cut => ({
      id,
      what: `an error with status 200 for ${query.stream}`,
      source,
      query,
      ...(id === 'salesforce' ? { kept: salesforce } : {}),
      routes: { [route]: error },
      code: 'SERVICE_NO_LIST',
    }),
  ),
];

describe('an answer with status 200 that is not whole', () => {
  it.each(cuts)('of $id is refused: $what', async ({ id, query, source = {}, kept, routes, code }) => {
    const { default: service } = (await import(
      id === 'facebook' ? '../../../connectors/facebook/index.ts' : `../../../connectors/${id}.ts`
    )) as { default: Connector };
    const problem = await failService({ service, query, source, routes, ...(kept === undefined ? {} : { kept }) });
    expect(problem).toMatchObject({ code });
  });
});
