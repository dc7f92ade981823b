import { describe, expect, it } from 'vitest';
import type { Connector } from '../../../src/sdk/index.ts';
import { failService, runService } from '../doubles/service-suite.ts';
import type { Asked, Reply, Routes } from '../doubles/vendor.ts';

interface CutCase {
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

/**
 * Responses with status 200 that lack something the vendor always sends: a part is missing, or an error looks like
 * success.
 */
const cuts: readonly CutCase[] = [
  {
    id: 'salesforce',
    what: 'more records without their URL',
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
    what: 'a record whose own list is truncated',
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
    what: 'fewer forms than in the header',
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
    what: 'a failed bulk operation',
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
    what: 'a failed report',
    source: { token: 'tok-12345' },
    query: { stream: 'report', account: '11' },
    routes: { 'POST /v26.0/act_11/insights': error },
    code: 'SERVICE_JOB_FAILED',
  },
  {
    id: 'google_drive',
    what: 'an incomplete search',
    query: { stream: 'files' },
    routes: { 'GET /drive/v3/files': { json: { kind: 'drive#fileList', incompleteSearch: true, files: [] } } },
    code: 'SERVICE_FAILED',
  },
  {
    id: 'hubspot',
    what: 'fewer records than found',
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
    ([id, route, query, source = {}]): CutCase => ({
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

describe('an incomplete response with status 200', () => {
  it.each(cuts)('from $id is rejected: $what', async ({ id, query, source = {}, kept, routes, code }) => {
    const { default: service } = (await import(
      id === 'facebook' ? '../../../connectors/facebook/index.ts' : `../../../connectors/${id}.ts`
    )) as { default: Connector };
    const problem = await failService({ service, query, source, routes, ...(kept === undefined ? {} : { kept }) });
    expect(problem).toMatchObject({ code });
  });
});

/** A stream whose first page leads to a second one, and the page as the vendor always sends it. */
interface Paged {
  readonly id: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly source?: Readonly<Record<string, unknown>>;
  readonly kept?: Readonly<Record<string, string>>;
  readonly route: string;
  /** Routes that are requested before the pages. */
  readonly others?: Routes;
  /** The records below `at` on the page; `isLast` says which page it is. */
  readonly page: (isLast: boolean, base: string) => Record<string, unknown>;
  /** The path of the list. */
  readonly at: string;
  /** The path of a flag on every page, which tests remove or set to null. */
  readonly flag?: string;
  readonly total?: string;
}

const token = { token: 'tok-12345' };
const shop = { shop: 'acme', ...token };
const pageOf = (id: string, more: object = {}) => ({ id, name: id, ...more });
const surveyLinks = (isLast: boolean, base: string) => ({
  self: 'x',
  ...(isLast ? {} : { next: `${base}/v3/x?page=2` }),
});

const paged: readonly Paged[] = [
  {
    id: 'box',
    query: { stream: 'files' },
    route: 'GET /2.0/folders/0/items',
    at: 'entries',
    page: (isLast) => ({
      entries: [pageOf(isLast ? '2' : '1', { type: 'file' })],
      ...(isLast ? {} : { next_marker: 'm' }),
    }),
  },
  {
    id: 'dropbox',
    query: { stream: 'files' },
    route: 'POST /2/files/list_folder{more}',
    at: 'entries',
    flag: 'has_more',
    page: (isLast) => ({
      entries: [pageOf(isLast ? '2' : '1', { '.tag': 'file', path_display: `/${isLast}` })],
      cursor: isLast ? 'd' : 'c',
      has_more: !isLast,
    }),
  },
  {
    id: 'google_drive',
    query: { stream: 'files' },
    route: 'GET /drive/v3/files',
    at: 'files',
    page: (isLast) => ({
      kind: 'drive#fileList',
      files: [pageOf(isLast ? '2' : '1')],
      ...(isLast ? {} : { nextPageToken: 't' }),
    }),
  },
  {
    id: 'google_analytics',
    query: { stream: 'report', property: '11', dimensions: ['date'], metrics: ['sessions'] },
    route: 'POST /v1beta/properties/11:runReport',
    at: 'rows',
    total: 'rowCount',
    page: (isLast) => ({
      dimensionHeaders: [{ name: 'date' }],
      metricHeaders: [{ name: 'sessions', type: 'TYPE_INTEGER' }],
      rows: [{ dimensionValues: [{ value: `2026010${isLast ? 2 : 1}` }], metricValues: [{ value: '7' }] }],
      rowCount: 2,
    }),
  },
  {
    id: 'hubspot',
    source: token,
    query: { stream: 'owners' },
    route: 'GET /crm/v3/owners',
    at: 'results',
    page: (isLast) => ({
      results: [pageOf(isLast ? '2' : '1')],
      ...(isLast ? {} : { paging: { next: { after: 'a' } } }),
    }),
  },
  {
    id: 'facebook',
    source: token,
    query: { stream: 'campaigns', account: '11' },
    route: 'GET /v26.0/act_11/campaigns',
    at: 'data',
    flag: 'paging',
    page: (isLast) => ({
      data: [pageOf(isLast ? '2' : '1')],
      paging: { cursors: { after: isLast ? 'z' : 'a' }, ...(isLast ? {} : { next: 'https://x.example/' }) },
    }),
  },
  {
    id: 'survey_monkey',
    source: token,
    query: { stream: 'surveys' },
    route: 'GET /v3/surveys',
    at: 'data',
    flag: 'links',
    total: 'total',
    page: (isLast, base) => ({ data: [pageOf(isLast ? '2' : '1')], total: 2, links: surveyLinks(isLast, base) }),
  },
  {
    id: 'versature',
    query: { stream: 'calls', start_date: '2026-01-01', end_date: '2026-01-02' },
    route: 'GET /api/cdrs/users/',
    at: 'result',
    flag: 'more',
    page: (isLast) => ({
      result: [{ from: { call_id: `${isLast}` }, to: {}, duration: 1 }],
      cursor: isLast ? null : 'c',
      more: !isLast,
    }),
  },
  {
    id: 'shopify',
    source: shop,
    query: { stream: 'variants' },
    route: 'POST /admin/api/2026-07/graphql.json',
    at: 'data.list.nodes',
    flag: 'data.list.pageInfo.hasNextPage',
    page: (isLast) => ({
      data: {
        list: {
          nodes: [{ legacyResourceId: isLast ? '2' : '1', product: {} }],
          pageInfo: { hasNextPage: !isLast, endCursor: isLast ? 'e' : 'c' },
        },
      },
    }),
  },
  {
    id: 'omniture',
    source: { company: 'c' },
    query: { stream: 'segments' },
    route: 'GET /api/c/segments',
    at: 'content',
    flag: 'lastPage',
    total: 'totalElements',
    page: (isLast) => ({ content: [pageOf(isLast ? '2' : '1')], lastPage: isLast, totalElements: 2 }),
  },
  {
    id: 'salesforce',
    kept: salesforce,
    query: { stream: 'query', soql: 'select Id from Account' },
    route: `GET ${api}/query{more}`,
    at: 'records',
    flag: 'done',
    total: 'totalSize',
    page: (isLast) => ({
      totalSize: 2,
      done: isLast,
      ...(isLast ? {} : { nextRecordsUrl: `${api}/query/01g-1` }),
      records: [{ Id: isLast ? 'b' : 'a' }],
    }),
  },
  {
    id: 'xero',
    query: { stream: 'invoices' },
    others: { 'GET /connections': { json: [{ tenantId: 't', tenantName: 'Acme', tenantType: 'ORGANISATION' }] } },
    route: 'GET /api.xro/2.0/Invoices',
    at: 'Invoices',
    total: 'pagination.pageCount',
    page: (isLast) => ({ Invoices: [{ InvoiceID: isLast ? '2' : '1' }], pagination: { pageCount: 2 } }),
  },
];

/** A copy with another value at a path or, if the value is undefined, without the path. */
function altered(page: object, path: string, value: unknown): object {
  const copy = structuredClone(page) as Record<string, unknown>;
  const steps = path.split('.');
  let inner = copy;
  for (const step of steps.slice(0, -1)) inner = inner[step] as Record<string, unknown>;
  if (value === undefined) delete inner[steps.at(-1)!];
  else inner[steps.at(-1)!] = value;
  return copy;
}

const spoiled = paged.flatMap((given) => {
  const cut = (what: string, spoil: (page: object) => unknown) => ({ ...given, what, spoil });
  const { at, flag, total } = given;
  return [
    ...[null, { error: 'no' }, 'no', 7].map((value) =>
      cut(`${JSON.stringify(value)} for ${at}`, (page) => altered(page, at, value)),
    ),
    cut('an error object', () => ({ error: { message: 'no', code: 1 } })),
    cut('a list', () => []),
    cut('null', () => null),
    ...(flag === undefined
      ? []
      : [undefined, null].map((value) => cut(`${String(value)} for ${flag}`, (page) => altered(page, flag, value)))),
    ...(total === undefined
      ? []
      : [
          cut(`another ${total}`, (page) => altered(page, total, 9)),
          cut(`a text for ${total}`, (page) => altered(page, total, 'many')),
        ]),
  ];
});

/** Spoils the second of two pages (`second`), or the first one if it's the only page (`only`). */
describe.each(['second', 'only'] as const)("a vendor's %s page", (which) => {
  const routesOf = ({ route, others = {}, page, at, spoil }: Paged & { spoil: (page: object) => unknown }): Routes => {
    // The vendor decides how requests select pages, so each new request gets the next page.
    const known: string[] = [];
    const [method, path] = route.split('{more}');
    const answer = ({ base, path: asked, query, body }: Asked) => {
      const line = JSON.stringify([asked, query.toString(), body]);
      if (!known.includes(line)) known.push(line);
      const number = known.indexOf(line) + (which === 'only' ? 2 : 1);
      const whole = page(number > 1, base);
      if (number === 1) return { json: whole };
      return { json: spoil(number === 2 ? whole : altered(whole, at, [])) };
    };
    const more = path === undefined ? {} : { [`${method}/{more}`]: answer };
    return { ...others, [method!]: answer, ...more };
  };
  const runOf = (given: Paged & { spoil: (page: object) => unknown }) => ({
    ...given,
    routes: routesOf(given),
    query: { ...given.query },
    source: { ...given.source },
    ...(given.kept === undefined ? {} : { kept: given.kept }),
  });
  const serviceOf = async (id: string) => {
    const path = id === 'facebook' ? 'facebook/index.ts' : `${id}.ts`;
    return ((await import(`../../../connectors/${path}`)) as { default: Connector }).default;
  };

  it.each(spoiled)('from $id is rejected if it has $what', async ({ id, ...given }) => {
    const problem = await failService({ ...runOf({ id, ...given }), service: await serviceOf(id) });
    expect(problem).toMatchObject({
      code: expect.stringMatching(/^SERVICE_|^SHOPIFY_/),
      family: expect.stringMatching(/job|try_later|config/),
    });
  });

  it.each(which === 'second' ? paged : [])('from $id is read if nothing is missing', async ({ id, ...given }) => {
    const whole = runOf({ id, ...given, spoil: (page) => page });
    const { rows } = await runService({ ...whole, service: await serviceOf(id) });
    expect(rows).toHaveLength(2);
  });
});
