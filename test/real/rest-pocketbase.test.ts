import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { pocketBaseUser, startPocketBase } from '../servers/pocketbase.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Compiling the server takes minutes on first use. */
const firstUseMs = 10 * 60_000;
const all = Array.from({ length: 47 }, (_, i) => i + 1);

const login = '/api/collections/_superusers/auth-with-password';

describeWithWebServer('PocketBase', 'PocketBase', () => {
  const { extract, failure } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startPocketBase();
    const { token } = await send(login, pocketBaseUser);
    const fields = [
      { name: 'text', type: 'text' },
      { name: 'total', type: 'number' },
    ];
    await send('/api/collections', { name: 'items', type: 'base', fields }, token);
    for (const n of all) {
      await send('/api/collections/items/records', { text: `é "${n}"`, total: n / 4 }, token);
    }
  }, firstUseMs);
  afterAll(() => server?.stop());

  async function send(path: string, body: object, token = ''): Promise<{ token: string }> {
    const headers = { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: token }) };
    const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as { token: string };
  }

  const auth = {
    kind: 'login_call',
    call: { path: login, method: 'POST', body: pocketBaseUser },
    token_path: 'token',
    name: 'authorization',
  };
  const query = { path: '/api/collections/items/records?perPage=10&sort=total', records: 'items' };

  it.each<[string, object]>([
    ['an empty page', { kind: 'page' }],
    ['the last page', { kind: 'page', pages: 'totalPages' }],
    ['the total', { kind: 'page', total: 'totalItems' }],
  ])('is read with the token of a login, until %s', async (_, paging) => {
    const { columns, rows } = await extract({ ...query, paging }, { url: server.url, auth });
    expect(columns).toEqual([
      { name: 'collectionId', type: 'text' },
      { name: 'collectionName', type: 'text' },
      { name: 'id', type: 'text' },
      { name: 'text', type: 'text' },
      { name: 'total', type: 'decimal' },
    ]);
    expect(rows.map(([, , , text, total]) => [text, total])).toEqual(all.map((n) => [`é "${n}"`, String(n / 4)]));
  });

  it('refuses a wrong password', async () => {
    const call = { ...auth.call, body: { ...pocketBaseUser, password: 'wrong' } };
    expect(await failure(query, { url: server.url, auth: { ...auth, call } })).toMatchObject({
      code: 'REST_REFUSED',
      seen: expect.stringContaining('Failed to authenticate'),
    });
  });
});
