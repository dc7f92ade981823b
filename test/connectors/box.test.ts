import { expect, it } from 'vitest';
import box from '../../connectors/box.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked, Reply, Routes } from './doubles/vendor.ts';

const entry = (n: number) => ({
  type: 'file',
  id: String(n),
  etag: '1',
  name: `${n}.csv`,
  size: 9_000_000_000,
  created_at: '2026-01-05T02:00:00-08:00',
  modified_at: '2026-01-06T02:00:00-08:00',
  content_modified_at: null,
  modified_by: { type: 'user', login: 'bob@example.com' },
  owned_by: { type: 'user', login: 'ann@example.com' },
  sha1: 'f00',
});
const row = (n: number, folder = '0') => [
  ...[
    folder,
    'file',
    String(n),
    `${n}.csv`,
    '9000000000',
    '2026-01-05T02:00:00-08:00',
    '2026-01-06T02:00:00-08:00',
    null,
  ],
  ...['bob@example.com', 'ann@example.com', 'f00'],
];

const listing: ServiceCase = {
  service: box,
  query: { stream: 'files' },
  routes: {
    'GET /2.0/folders/{id}/items': ({ query, part }: Asked) => {
      if (part.id !== '0') return { json: { entries: [entry(9)], limit: 1000, next_marker: '' } };
      return query.has('marker')
        ? { json: { entries: [entry(3)], limit: 1000, next_marker: null } }
        : { json: { entries: [entry(1), entry(2)], limit: 1000, next_marker: 'm2' } };
    },
    'GET /2.0/users/me': { json: { login: 'ann@example.com' } },
  },
};
const items = (folder: string, marker = '') =>
  `GET /2.0/folders/${folder}/items?fields=type,id,name,size,created_at,modified_at,content_modified_at,modified_by,owned_by,sha1&usemarker=true${marker}&limit=1000`;

const refusal = (status: number, code: string): Reply => ({
  status,
  json: { type: 'error', status, code, message: `it is ${code}`, request_id: 'r1' },
});

describeStream(
  'a Box folder',
  listing,
  { rows: [row(1), row(2), row(3)], asked: [items('0'), items('0', '&marker=m2')] },
  [
    {
      name: 'too many requests, with the seconds to wait',
      faults: [{ at: 2, reply: { ...refusal(429, 'rate_limit_exceeded'), headers: { 'retry-after': '0' } } }],
    },
    {
      name: 'a long wait',
      faults: [{ at: 1, reply: { ...refusal(429, 'rate_limit_exceeded'), headers: { 'retry-after': '900' } } }],
      problem: { code: 'SERVICE_BUSY', family: 'try_later', retryAfterMs: 900_000 },
    },
    {
      name: 'a missing folder',
      faults: [{ at: 1, reply: refusal(404, 'not_found') }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', seen: 'status 404: it is not_found' },
    },
    {
      name: 'a folder without access',
      faults: [{ at: 1, reply: refusal(403, 'access_denied_insufficient_permissions') }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login' },
    },
    {
      name: 'a repeated page',
      faults: [{ at: 2, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
  ],
);

it('renews a token that expires between two pages', async () => {
  const { rows, login } = await runService({ ...listing, guard: expiringAfter(1) });
  expect(rows).toEqual([row(1), row(2), row(3)]);
  expect(login.refusals).toEqual(['token-1']);
});

it('reads several folders as one table', async () => {
  const outcome = await runService({ ...listing, query: { folder: '7,0' } });
  expect(outcome.rows).toEqual([row(9, '7'), row(1), row(2), row(3)]);
});

/** File contents are on another host, which must not see the token. */
const files: Routes = {
  'GET /2.0/files/{id}': ({ part }) => ({
    json: { type: 'file', id: part.id, name: `${part.id}.csv`, modified_at: '2026-01-06T02:00:00-08:00' },
  }),
  'GET /2.0/files/{id}/content': ({ base, part }) => ({
    status: 302,
    headers: { location: `${base.replace('127.0.0.1', 'localhost')}/bytes/${part.id}` },
  }),
  'GET /bytes/{id}': ({ headers, part }) =>
    headers.authorization === undefined ? { text: `id\n${part.id}\n` } : { status: 400, text: 'a token' },
  'GET /2.0/search': { json: { total_count: 1, entries: [{ type: 'file', id: '5', name: '5.csv' }] } },
};

it('reads file contents from the host that Box redirects to, without sending it the token', async () => {
  const query = { stream: 'content', file: '5, 6', path_column: 'file', modified_column: 'at' };
  const faults = [{ at: 1, to: 'GET /2.0/files/5/content', reply: { status: 202, headers: { 'retry-after': '0' } } }];
  const outcome = await runService({ ...listing, routes: files, query, faults });
  expect(outcome.rows).toEqual([
    ['5.csv', '2026-01-06T10:00:00.000Z', '5'],
    ['6.csv', '2026-01-06T10:00:00.000Z', '6'],
  ]);
});

it('reads the newest file that a search finds', async () => {
  const query = { stream: 'newest', search: 'orders', within: '7,8', endings: 'csv' };
  const outcome = await runService({ ...listing, routes: files, query });
  expect(outcome.rows).toEqual([['5']]);
  expect(outcome.asked[0]).toBe(
    'GET /2.0/search?query=orders&type=file&ancestor_folder_ids=7,8&file_extensions=csv&sort=modified_at&direction=DESC&fields=name,modified_at&limit=1',
  );
  const none = { ...files, 'GET /2.0/search': { json: { entries: [] } } };
  expect(await failService({ ...listing, routes: none, query })).toMatchObject({ code: 'SERVICE_NO_FILE' });
});

const event = (n: number) => ({
  event_id: `e${n}`,
  event_type: 'DOWNLOAD',
  created_at: '2026-01-05T02:00:00-08:00',
  created_by: { login: 'ann@example.com', name: 'Ann' },
  ip_address: '192.0.2.1',
  source: { item_id: '1' },
});
const told = (n: number) => [
  ...[`e${n}`, 'DOWNLOAD', '2026-01-05T02:00:00-08:00', 'ann@example.com', 'Ann', '192.0.2.1', '{"item_id":"1"}'],
];
const chunk = (numbers: number[], next: string | number) => ({
  json: { chunk_size: numbers.length, next_stream_position: next, entries: numbers.map(event) },
});

it('reads each event once, up to the end of the stream, and continues from there', async () => {
  const routes: Routes = {
    'GET /2.0/events': ({ query }) => {
      const at = query.get('stream_position');
      if (at === null) return chunk([1, 2], '1152922976252290886');
      if (at === '1152922976252290886') return chunk([2, 3], 77);
      return at === '77' ? chunk([], 77) : chunk([4], '88');
    },
  };
  const query = { stream: 'events', incremental: true, created_after: '2026-01-02' };
  const first = await runService({ ...listing, routes, query });
  expect(first.rows).toEqual([told(1), told(2), told(3)]);
  expect(first.asked).toEqual([
    'GET /2.0/events?stream_type=admin_logs&created_after=2026-01-02T00:00:00Z&limit=500',
    'GET /2.0/events?stream_type=admin_logs&stream_position=1152922976252290886&created_after=2026-01-02T00:00:00Z&limit=500',
    'GET /2.0/events?stream_type=admin_logs&stream_position=77&created_after=2026-01-02T00:00:00Z&limit=500',
  ]);
  expect(first.watermark).toBe('{"states":{"":"77"}}');
  const again = { ...listing, query, watermark: first.watermark! };
  expect(await runService({ ...again, routes })).toMatchObject({ rows: [], unchanged: true });
  const more: Routes = {
    'GET /2.0/events': ({ query: given }) => (given.get('stream_position') === '77' ? chunk([4], 88) : chunk([], 88)),
  };
  const second = await runService({ ...again, routes: more });
  expect(second).toMatchObject({ rows: [told(4)], watermark: '{"states":{"":"88"}}' });
  expect(second.asked[0]).toBe('GET /2.0/events?stream_type=admin_logs&stream_position=77&limit=500');
  const own = await runService({ ...listing, routes: more, query: { stream: 'events', whose: 'user' } });
  expect(own.asked[0]).toBe('GET /2.0/events?stream_type=all&limit=500');
});

it('can log in as a user, or as the app itself for an enterprise or a user', async () => {
  expect(box.oauth?.({})).toMatchObject({ grants: ['authorization_code'], refresh: 'rotating' });
  expect(box.oauth?.({ enterprise_id: '1' })).toMatchObject({
    grants: ['client_credentials'],
    token_parameters: { box_subject_type: 'enterprise', box_subject_id: '{enterprise_id}' },
  });
  expect(box.oauth?.({ user_id: '2' })?.token_parameters).toEqual({
    box_subject_type: 'user',
    box_subject_id: '{user_id}',
  });
  expect(await checkServiceCase(listing)).toBe('logged in as ann@example.com');
});
