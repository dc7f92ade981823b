import { ids, numbers } from '../connectors/simple_rest/rig.ts';
import { total } from './habits-server.ts';

type Options = Record<string, unknown>;

/** A habit of REST APIs, and how both tools are told about it. */
export interface Habit {
  /** As in `docs/neighbours.md`. */
  readonly title: string;
  readonly query: Options;
  readonly source?: Options;
  /** A resource in dlt's REST source, without its name. Undefined if its declarations have no word for the habit. */
  readonly resource?: Options;
  readonly client?: Options;
  /** dlt's other resources, which come before this one. */
  readonly parents?: readonly Options[];
  /** How often to run both; the rows of the last run count. */
  readonly runs?: number;
  /** The wanted values of the column `id`, or that the read has to fail. */
  readonly wanted: readonly string[] | 'an error';
}

const all = numbers(1, total + 1).flat();
const ofPath = (path: string, endpoint: Options = {}, more: Options = {}): Options => ({
  endpoint: { path, data_selector: 'data', ...endpoint },
  ...more,
});
const records = 'data';

export const habits: readonly Habit[] = [
  {
    title: 'page numbers',
    query: { path: '/page', records, paging: { kind: 'page' } },
    resource: ofPath('page', { paginator: { type: 'page_number', base_page: 1, total_path: null } }),
    wanted: all,
  },
  {
    title: 'offsets',
    query: { path: '/offset', records, paging: { kind: 'offset' } },
    resource: ofPath('offset', { paginator: { type: 'offset', limit: 10, total_path: 'total' } }),
    wanted: all,
  },
  {
    title: 'a cursor in the body',
    query: { path: '/cursor', records, paging: { kind: 'cursor', cursor: 'next', parameter: 'start' } },
    resource: ofPath('cursor', { paginator: { type: 'cursor', cursor_path: 'next', cursor_param: 'start' } }),
    wanted: all,
  },
  {
    title: "the next page's URL in the body",
    query: { path: '/next', records, paging: { kind: 'next_link', path: 'next' } },
    resource: ofPath('next', { paginator: { type: 'json_link', next_url_path: 'next' } }),
    wanted: all,
  },
  {
    title: 'a Link header',
    query: { path: '/link-header', paging: { kind: 'link_header' } },
    resource: ofPath('link-header', { data_selector: '$', paginator: { type: 'header_link' } }),
    wanted: all,
  },
  {
    title: 'the page number in the body of a POST',
    query: {
      ...{ path: '/body', method: 'POST', body: { page: '{{ page.number | number }}' } },
      ...{ records, paging: { kind: 'page' } },
    },
    resource: ofPath('body', {
      method: 'POST',
      json: { page: 1 },
      paginator: { type: 'page_number', base_page: 1, page_body_path: 'page', total_path: null },
    }),
    wanted: all,
  },
  {
    title: "the last record's ID as the cursor",
    query: {
      path: '/keyset',
      records,
      paging: { kind: 'cursor', cursor: 'last_record().id', parameter: 'starting_after', more: 'has_more' },
    },
    resource: ofPath('keyset', {
      paginator: {
        type: 'cursor',
        cursor_path: 'data[-1].id',
        cursor_param: 'starting_after',
        has_more_path: 'has_more',
      },
    }),
    wanted: all,
  },
  {
    title: 'a cursor in a response header',
    query: { path: '/cursor-header', paging: { kind: 'cursor', cursor: 'header(X-Next-Cursor)', parameter: 'start' } },
    resource: ofPath('cursor-header', {
      data_selector: '$',
      paginator: { type: 'header_cursor', cursor_key: 'X-Next-Cursor', cursor_param: 'start' },
    }),
    wanted: all,
  },
  {
    title: 'a cursor in a response header that is empty on the last page',
    query: {
      path: '/empty-cursor-header',
      paging: { kind: 'cursor', cursor: 'header(X-Next-Cursor)', parameter: 'start' },
    },
    resource: ofPath('empty-cursor-header', {
      data_selector: '$',
      paginator: { type: 'header_cursor', cursor_key: 'X-Next-Cursor', cursor_param: 'start' },
    }),
    wanted: all,
  },
  {
    title: 'a list of links',
    query: { path: '/links', records, paging: { kind: 'next_link', path: "links[?@.rel=='next'].href" } },
    resource: ofPath('links', {
      paginator: { type: 'json_link', next_url_path: "links[?(@.rel=='next')].href" },
    }),
    wanted: all,
  },
  {
    title: 'the number of pages in a response header, and 404 after the last one',
    query: { path: '/pages-header', paging: { kind: 'page', pages: 'header(X-Total-Pages)' } },
    resource: ofPath('pages-header', {
      data_selector: '$',
      paginator: { type: 'page_number', base_page: 1, total_path: null },
      response_actions: [{ status_code: 404, action: 'ignore' }],
    }),
    wanted: all,
  },
  {
    title: '404 after the last page',
    query: { path: '/not-found', records, paging: { kind: 'page', stop_at: 404 } },
    resource: ofPath('not-found', {
      paginator: { type: 'page_number', base_page: 1, total_path: null },
      response_actions: [{ status_code: 404, action: 'ignore' }],
    }),
    wanted: all,
  },
  {
    title: 'another URL for all pages after the first',
    query: {
      path: '/scroll/start',
      records,
      paging: {
        ...{ kind: 'cursor', cursor: 'scroll', stop_at: 'empty' },
        next_request: { path: '/scroll/next', method: 'POST', body: { scroll: '{{ page.token }}' } },
      },
    },
    wanted: all,
  },
  {
    title: 'requests for each record of another path',
    query: {
      ...{ for_each: { path: '/accounts', records: 'data' }, path: '/accounts/{{ parent.id }}/orders' },
      ...{ parent_columns: { account: 'id' }, records },
    },
    parents: [{ name: 'accounts', ...ofPath('accounts', { paginator: 'single_page' }), selected: false }],
    resource: ofPath(
      'accounts/{resources.accounts.id}/orders',
      { paginator: 'single_page' },
      { include_from_parent: ['id'] },
    ),
    wanted: ['1', '2', '3'],
  },
  {
    title: 'the lists in all records',
    query: { path: '/orders', records: 'orders[*].lines' },
    resource: ofPath('orders', { data_selector: 'orders[*].lines[*]', paginator: 'single_page' }),
    wanted: ['1', '2', '3'],
  },
  {
    title: 'the members of an object as records',
    query: { path: '/map', records: 'items.*' },
    resource: ofPath('map', { data_selector: 'items.*', paginator: 'single_page' }),
    wanted: ['1', '2'],
  },
  {
    title: 'only records since the last run',
    query: { path: '/since', parameters: [{ name: 'since', value: '{{ since }}' }], records, cursor: 'id', start: 0 },
    resource: ofPath('since', {
      paginator: 'single_page',
      params: { since: '{incremental.start_value}' },
      incremental: { cursor_path: 'id', initial_value: 0 },
    }),
    runs: 2,
    wanted: [],
  },
  {
    title: 'Basic authentication without a password',
    query: { path: '/empty-password', records },
    source: { auth: { kind: 'basic', user: 'key', password: '' } },
    resource: ofPath('empty-password', { paginator: 'single_page' }),
    client: { auth: { type: 'http_basic', username: 'key', password: '' } },
    wanted: ['1'],
  },
  {
    title: 'integers of 64 bits, exactly',
    query: { path: '/integers', records },
    resource: ofPath('integers', { paginator: 'single_page' }),
    wanted: ['9007199254740993', '-9223372036854775808'],
  },
  {
    title: 'longer integers, exactly',
    query: { path: '/large', records },
    resource: ofPath('large', { paginator: 'single_page' }),
    wanted: ['123456789012345678901234567890'],
  },
  {
    title: 'decimals with all digits',
    query: { path: '/decimals', records },
    resource: ofPath('decimals', { paginator: 'single_page' }),
    wanted: ['0.12345678901234567890', '10.10'],
  },
  {
    title: 'csv',
    query: { path: '/csv' },
    resource: ofPath('csv', { data_selector: '$', paginator: 'single_page' }),
    wanted: ids(1, 3).map(({ id }) => String(id)),
  },
  {
    title: 'xml',
    query: { path: '/xml', records: 'row' },
    resource: ofPath('xml', { data_selector: 'r.row', paginator: 'single_page' }),
    wanted: ids(1, 3).map(({ id }) => String(id)),
  },
  {
    title: 'an error for a page that comes twice',
    query: { path: '/twice', records, paging: { kind: 'page' } },
    resource: ofPath('twice', { paginator: { type: 'page_number', base_page: 1, total_path: null } }),
    wanted: 'an error',
  },
  {
    title: "an error if the next page's place is misspelled",
    query: { path: '/next', records, paging: { kind: 'next_link', path: 'nxt' } },
    resource: ofPath('next', { paginator: { type: 'json_link', next_url_path: 'nxt' } }),
    wanted: 'an error',
  },
  {
    title: 'an error for a next page on another host',
    query: { path: '/elsewhere', records, paging: { kind: 'next_link', path: 'next' } },
    source: { auth: { kind: 'bearer', token: 'a-secret-token' } },
    resource: ofPath('elsewhere', { paginator: { type: 'json_link', next_url_path: 'next' } }),
    client: { auth: { type: 'bearer', token: 'a-secret-token' } },
    wanted: 'an error',
  },
  {
    title: 'an error for errors in a response with status 200',
    query: { path: '/error', method: 'POST', body: { query: 'query orders' }, records },
    resource: ofPath('error', { method: 'POST', json: { query: 'query orders' }, paginator: 'single_page' }),
    wanted: 'an error',
  },
  {
    title: "an error for status 202, which isn't the data yet",
    query: { path: '/accepted' },
    source: { retries: 0 },
    resource: ofPath('accepted', { data_selector: '$', paginator: 'single_page' }),
    wanted: 'an error',
  },
];
