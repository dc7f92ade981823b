/**
 * Doubles of APIs that can't be installed. Each one does only what the vendor's public documentation says: how a request
 * logs in, which headers and parameters it needs, and what the pages contain.
 */

export const secret = 'a-key-of-the-api';
/** Number of records of each API. */
export const total = 25;
const pageSize = 10;

export interface DoubleRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface DoubleAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type Double = (request: DoubleRequest) => DoubleAnswer;

const numbers = (from: number): number[] =>
  Array.from({ length: Math.max(0, Math.min(pageSize, total - from)) }, (_, i) => from + i + 1);
const refused = (status: number, body: unknown): DoubleAnswer => ({ status, body });
const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const isBearer = ({ headers }: DoubleRequest): boolean => headers.authorization === `Bearer ${secret}`;

/** https://docs.stripe.com/api/pagination, https://docs.stripe.com/api/authentication */
const stripe: Double = ({ url, headers }) => {
  if (headers.authorization !== basic(secret, '')) return refused(401, { error: { type: 'invalid_request_error' } });
  if (url.pathname !== '/v1/charges') return refused(404, { error: { type: 'invalid_request_error' } });
  const after = url.searchParams.get('starting_after') ?? 'ch_0';
  const page = numbers(Number(after.slice(3)));
  const data = page.map((n) => ({ id: `ch_${n}`, object: 'charge', amount: n * 100, currency: 'eur', metadata: {} }));
  return { body: { object: 'list', url: '/v1/charges', has_more: page.at(-1)! < total, data } };
};

/** https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api */
const github: Double = (request) => {
  const { url, headers } = request;
  if (!isBearer(request)) return refused(401, { message: 'Bad credentials' });
  if (headers['user-agent'] === undefined) return refused(403, { message: 'Request forbidden' });
  if (headers['x-github-api-version'] !== '2022-11-28') return refused(400, { message: 'Unsupported version' });
  if (url.pathname !== '/repos/acme/shop/issues') return refused(404, { message: 'Not Found' });
  const page = Number(url.searchParams.get('page') ?? 1);
  const last = Math.ceil(total / pageSize);
  const link = (to: number, rel: string): string => {
    const target = new URL(url);
    target.searchParams.set('page', String(to));
    return `<${target.href}>; rel="${rel}"`;
  };
  const links = page < last ? [link(page + 1, 'next'), link(last, 'last')] : [link(page - 1, 'prev'), link(1, 'first')];
  const body = numbers((page - 1) * pageSize).map((n) => ({ id: 1000 + n, number: n, title: `Issue ${n}` }));
  return { headers: { link: links.join(', ') }, body };
};

/** https://developer.zendesk.com/api-reference/introduction/pagination/ */
const zendesk: Double = ({ url, headers }) => {
  if (headers.authorization !== basic('ann@acme.example/token', secret))
    return refused(401, { error: "Couldn't authenticate you" });
  const ticket = /^\/api\/v2\/tickets\/(\d+)\/comments\.json$/.exec(url.pathname)?.[1];
  if (ticket !== undefined) return { body: { comments: [{ id: 100 + Number(ticket) }], meta: { has_more: false } } };
  if (url.pathname !== '/api/v2/tickets.json' || !url.searchParams.has('page[size]')) return refused(404, {});
  const page = numbers(Number(url.searchParams.get('page[after]') ?? 0));
  const next = new URL(url);
  next.searchParams.set('page[after]', String(page.at(-1)));
  return {
    body: {
      tickets: page.map((n) => ({ id: n, subject: `Ticket ${n}`, tags: ['a', 'b'] })),
      meta: { has_more: page.at(-1)! < total, after_cursor: String(page.at(-1)), before_cursor: String(page[0]) },
      links: { next: page.at(-1)! < total ? next.href : null, prev: null },
    },
  };
};

/** https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-search/ */
const jira: Double = ({ url, headers }) => {
  if (headers.authorization !== basic('ann@acme.example', secret)) return refused(401, {});
  if (url.pathname !== '/rest/api/3/search/jql') return refused(404, {});
  if (url.searchParams.get('jql') !== 'project = SHOP AND updated >= -30d ORDER BY key') return refused(400, {});
  const hasFields = url.searchParams.get('fields') === 'summary,status,updated';
  const token = url.searchParams.get('nextPageToken');
  const page = numbers(token === null ? 0 : Number(Buffer.from(token, 'base64').toString()));
  const isLast = page.at(-1)! >= total;
  const issues = page.map((n) => ({
    id: String(10_000 + n),
    key: `SHOP-${n}`,
    ...(hasFields
      ? { fields: { summary: `Issue ${n}`, status: { name: 'Done' }, updated: '2026-03-01T10:00:00.000+0000' } }
      : {}),
  }));
  const next = isLast ? {} : { nextPageToken: Buffer.from(String(page.at(-1))).toString('base64') };
  return { body: { issues, isLast, ...next } };
};

/** https://developers.notion.com/reference/intro#pagination, https://developers.notion.com/reference/versioning */
const notion: Double = (request) => {
  const { method, url, headers } = request;
  if (!isBearer(request)) return refused(401, { object: 'error', code: 'unauthorized' });
  if (headers['notion-version'] === undefined) return refused(400, { object: 'error', code: 'missing_version' });
  const isQuery = /^\/v1\/databases\/[0-9a-f]{32}\/query$/.test(url.pathname);
  if (!isQuery || method !== 'POST') return refused(400, { object: 'error', code: 'invalid_request_url' });
  const { page_size: size, start_cursor: cursor = '0' } = JSON.parse(request.body) as Record<string, unknown>;
  if (typeof cursor !== 'string' || Number(size) > 100)
    return refused(400, { object: 'error', code: 'validation_error' });
  const page = numbers(Number(cursor));
  const has_more = page.at(-1)! < total;
  const results = page.map((n) => ({
    object: 'page',
    id: `page-${n}`,
    properties: { Name: { id: 'title', title: [{ plain_text: `Task ${n}` }] }, Effort: { id: 'a', number: n } },
  }));
  return { body: { object: 'list', results, has_more, next_cursor: has_more ? String(page.at(-1)) : null } };
};

/** https://airtable.com/developers/web/api/list-records */
const airtable: Double = (request) => {
  const { url } = request;
  if (!isBearer(request)) return refused(401, { error: { type: 'AUTHENTICATION_REQUIRED' } });
  if (url.pathname !== '/v0/appExampleBase01/Contacts') return refused(404, { error: 'NOT_FOUND' });
  const page = numbers(Number((url.searchParams.get('offset') ?? 'itr/0').slice(4)));
  const records = page.map((n) => ({
    id: `rec${n}`,
    createdTime: '2026-03-01T10:00:00.000Z',
    fields: { Name: `Contact ${n}` },
  }));
  return { body: { records, ...(page.at(-1)! < total ? { offset: `itr/${page.at(-1)}` } : {}) } };
};

/** https://hl7.org/fhir/R4/http.html#paging, https://hl7.org/fhir/R4/bundle.html#searchset */
const fhir: Double = (request) => {
  const { url, headers } = request;
  if (!isBearer(request)) return refused(401, { resourceType: 'OperationOutcome' });
  if (url.pathname !== '/r4/Patient' || headers.accept !== 'application/fhir+json') return refused(406, {});
  const page = numbers(Number(url.searchParams.get('after') ?? 0));
  const next = new URL(url);
  next.searchParams.set('after', String(page.at(-1)));
  const link = [
    { relation: 'self', url: url.href },
    ...(page.at(-1)! < total ? [{ relation: 'next', url: next.href }] : []),
  ];
  const entry = page.map((n) => ({
    fullUrl: `${url.origin}/r4/Patient/${n}`,
    resource: { resourceType: 'Patient', id: String(n), birthDate: '1980-01-31' },
    search: { mode: 'match' },
  }));
  return {
    headers: { 'content-type': 'application/fhir+json; charset=utf-8' },
    body: { resourceType: 'Bundle', type: 'searchset', total, link, entry },
  };
};

/** https://docs.oasis-open.org/odata/odata-json-format/v4.01/odata-json-format-v4.01.html */
const odata: Double = ({ url, headers }) => {
  if (headers.authorization !== basic('reader', secret)) return refused(401, { error: { code: '401' } });
  // In OData, a plus sign isn't a space.
  const filter = decodeURIComponent(/[?&](?:\$|%24)filter=([^&]*)/.exec(url.search)?.[1] ?? '');
  if (url.pathname !== '/odata/Orders' || filter !== 'id gt 20') return refused(400, { error: { code: '400' } });
  const skip = Number(url.searchParams.get('$skiptoken') ?? 0);
  const page = numbers(skip);
  const value = page.map((n) => ({ id: 20 + n, name: `item ${20 + n}`, price: '1.50' }));
  const next = { '@odata.nextLink': `Orders?$filter=id%20gt%2020&$count=true&$skiptoken=${page.at(-1)}` };
  return {
    headers: { 'content-type': 'application/json;odata.metadata=minimal' },
    body: { '@odata.context': '$metadata#Orders', '@odata.count': total, value, ...(page.at(-1)! < total ? next : {}) },
  };
};

/** https://docs.oracle.com/en/database/oracle/oracle-rest-data-services/24.4/orddg/developing-REST-applications.html */
const oracle: Double = ({ url, headers }) => {
  if (headers.authorization !== basic('reader', secret)) return refused(401, { code: 'Unauthorized' });
  if (url.pathname !== '/ords/shop/orders/') return refused(404, { code: 'NotFound' });
  if (url.searchParams.get('q') !== '{"$orderby":{"id":"asc"}}') return refused(400, { code: 'BadRequest' });
  const offset = Number(url.searchParams.get('offset') ?? 0);
  const items = numbers(offset).map((n) => ({ id: n, customer: `Customer ${n}`, amount: '1.50', links: [] }));
  const next = new URL(url);
  next.searchParams.set('offset', String(offset + items.length));
  const hasMore = offset + items.length < total;
  const links = [{ rel: 'self', href: url.href }, ...(hasMore ? [{ rel: 'next', href: next.href }] : [])];
  return { body: { items, hasMore, limit: pageSize, offset, count: items.length, links } };
};

/** The doubles, by the recipe's title, with the first and last value of a column. */
export const doubles: Readonly<Record<string, { double: Double; column: string; values: readonly [string, string] }>> =
  {
    Stripe: { double: stripe, column: 'id', values: ['ch_1', 'ch_25'] },
    GitHub: { double: github, column: 'title', values: ['Issue 1', 'Issue 25'] },
    Zendesk: { double: zendesk, column: 'subject', values: ['Ticket 1', 'Ticket 25'] },
    Jira: { double: jira, column: 'fields.summary', values: ['Issue 1', 'Issue 25'] },
    Notion: { double: notion, column: 'properties.Effort.number', values: ['1', '25'] },
    Airtable: { double: airtable, column: 'fields.Name', values: ['Contact 1', 'Contact 25'] },
    FHIR: { double: fhir, column: 'id', values: ['1', '25'] },
    'OData (ERP systems)': { double: odata, column: 'name', values: ['item 21', 'item 45'] },
    'Oracle REST Data Services': { double: oracle, column: 'customer', values: ['Customer 1', 'Customer 25'] },
  };
