import { describe, expect, it } from 'vitest';
import dropbox from '../../connectors/dropbox.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked } from './doubles/vendor.ts';

const entry = (id: number, more: object = {}) => ({
  '.tag': 'file',
  id: `id:${id}`,
  name: `${id}.csv`,
  path_display: `/Reports/${id}.csv`,
  size: 9007199254740993n,
  server_modified: '2026-01-05T10:00:00Z',
  ...more,
});

const json = (value: unknown) => ({
  text: JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `#${one}` : one)).replaceAll(/"#(\d+)"/g, '$1'),
  headers: { 'content-type': 'application/json' },
});
const row = (id: number) => [
  'file',
  `id:${id}`,
  `${id}.csv`,
  `/Reports/${id}.csv`,
  '9007199254740993',
  '2026-01-05T10:00:00Z',
  null,
  null,
  null,
  'false',
];

const files: ServiceCase = {
  service: dropbox,
  query: { stream: 'files', path: '/Reports' },
  routes: {
    'POST /2/files/list_folder': json({ entries: [entry(1), entry(2)], cursor: 'c1', has_more: true }),
    'POST /2/files/list_folder/continue': ({ body }) =>
      body.cursor === 'c1'
        ? json({ entries: [], cursor: 'c2', has_more: true })
        : json({ entries: [entry(3)], cursor: 'c3', has_more: false }),
    'POST /2/users/get_current_account': { json: { email: 'ann@example.com' } },
  },
};

describeStream(
  'Dropbox files',
  files,
  {
    rows: [row(1), row(2), row(3)],
    asked: [
      'POST /2/files/list_folder {"path":"/Reports","recursive":true,"include_deleted":false,"limit":2000}',
      'POST /2/files/list_folder/continue {"cursor":"c1"}',
      'POST /2/files/list_folder/continue {"cursor":"c2"}',
    ],
  },
  [
    {
      name: 'a wait in the body',
      faults: [{ at: 2, reply: { status: 429, json: { error: { reason: 'too_many_requests', retry_after: 0 } } } }],
    },
    {
      name: 'a repeated page',
      faults: [{ at: 2, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
    {
      name: 'a missing folder',
      faults: [{ at: 1, reply: { status: 409, json: { error_summary: 'path/not_found/..' } } }],
      problem: { code: 'SERVICE_REFUSED', family: 'config' },
    },
    {
      name: "a token that two consecutive logins don't fix",
      faults: [{ at: 1, times: 2, reply: { status: 401, json: { error_summary: 'expired_access_token/' } } }],
      problem: { code: 'SERVICE_LOGIN', family: 'login' },
    },
  ],
);

it('renews a token that expires between two pages', async () => {
  const { rows, login } = await runService({ ...files, guard: expiringAfter(2) });
  expect(rows).toEqual([row(1), row(2), row(3)]);
  expect(login.refusals).toEqual(['token-1']);
});

it("continues from the last run's cursor, and reports if nothing has changed", async () => {
  const first = await runService({ ...files, query: { ...files.query, incremental: true } });
  expect(first.watermark).toBe('{"states":{"":"c3"}}');
  const changed = {
    'POST /2/files/list_folder/continue': json({ entries: [entry(4)], cursor: 'c4', has_more: false }),
  };
  const again = { ...files, query: { ...files.query, incremental: true }, watermark: first.watermark! };
  const second = await runService({ ...again, routes: changed });
  expect(second).toMatchObject({ rows: [row(4)], watermark: '{"states":{"":"c4"}}', unchanged: false });
  expect(second.asked).toEqual(['POST /2/files/list_folder/continue {"cursor":"c3"}']);
  const none = { 'POST /2/files/list_folder/continue': json({ entries: [], cursor: 'c5', has_more: false }) };
  expect(await runService({ ...again, routes: none })).toMatchObject({ rows: [], unchanged: true });
});

describe('deleted Dropbox files', () => {
  const deletion = { '.tag': 'deleted', name: '2.csv', path_display: '/Reports/2.csv' };
  const routes = {
    'POST /2/files/list_folder/continue': json({ entries: [deletion, entry(4)], cursor: 'c4', has_more: false }),
  };
  const watermark = '{"states":{"":"c3"}}';
  const query = { ...files.query, incremental: true };

  it('are omitted by default', async () => {
    expect((await runService({ ...files, query, watermark, routes })).rows).toEqual([row(4)]);
  });

  it('are returned with a path and a flag if requested', async () => {
    const { rows } = await runService({ ...files, query: { ...query, deleted: true }, watermark, routes });
    const mark = ['deleted', null, '2.csv', '/Reports/2.csv', null, null, null, null, null, 'true'];
    expect(rows).toEqual([mark, row(4)]);
  });
});

it('re-reads everything if Dropbox no longer knows the cursor', async () => {
  const faults = [{ at: 1, reply: { status: 409, json: { error_summary: 'reset/..' } } }];
  const query = { ...files.query, incremental: true };
  const { rows, watermark } = await runService({ ...files, query, faults, watermark: '{"states":{"":"old"}}' });
  expect(rows).toEqual([row(1), row(2), row(3)]);
  expect(watermark).toBe('{"states":{"":"c3"}}');
  const late = [{ at: 2, reply: faults[0]!.reply }];
  expect(await failService({ ...files, query, faults: late })).toMatchObject({
    code: 'SERVICE_PLACE_LOST',
    family: 'try_later',
  });
});

it('reads the rows of files, no matter which characters their paths contain', async () => {
  const routes = {
    'POST /2/files/download': ({ headers, body }: Asked) => ({
      text: `file,body\n"${JSON.parse(String(headers['dropbox-api-arg'])).path.replaceAll('"', '')}",${typeof body}\n`,
    }),
  };
  const query = { stream: 'content', file: ['/Böð, "1".csv', '/b.csv'], path_column: 'path' };
  const { rows, vendor } = await runService({ ...files, routes, query });
  expect(rows[1]).toEqual(['/b.csv', '/b.csv', 'undefined']);
  expect(vendor.asked[0]!.headers['dropbox-api-arg']).toBe('{"path":"/B\\u00f6\\u00f0, \\"1\\".csv"}');
  const faults = [{ at: 1, reply: { status: 409, json: { error_summary: 'path/not_found/.' } } }];
  expect(await failService({ ...files, routes, query, faults })).toMatchObject({
    code: 'SERVICE_REFUSED',
    family: 'config',
  });
});

it('reports the logged-in user', async () => {
  expect(await checkServiceCase({ ...files, guard: expiringAfter(0) })).toBe('logged in as ann@example.com');
});

it("sends login requests to the configured URL instead of the vendor's", () => {
  const described = dropbox.oauth?.({ api_url: 'http://127.0.0.1:9/x/' });
  expect(described?.token_url).toBe('http://127.0.0.1:9/x/oauth2/token');
  expect(described?.authorize_url).toBe('http://127.0.0.1:9/x/oauth2/authorize');
});
