import { expect, test } from 'vitest';
import rest from '../../../connectors/simple_rest/index.ts';
import { Problem, renderProblem } from '../../../src/lib/problem.ts';
import { TestLogin } from '../doubles/logins.ts';
import { contextOf } from '../harness.ts';
import { sendJson } from '../http-server.ts';
import { ids, numbers, restBench } from './rig.ts';

const { server, folder, extract, askedInFull } = restBench();

test("the login's token is sent, and a new one is requested if it's refused", async () => {
  server.answer = (_, response) => {
    const { authorization } = server.requests.at(-1)!.headers;
    if (authorization === 'Bearer token-2') sendJson(response, ids(0, 1));
    else response.writeHead(401).end();
  };
  const auth = {
    kind: 'client_credentials',
    token_url: 'https://id.example/token',
    scopes: ['read'],
    client_authentication: 'basic',
  };
  const login = new TestLogin();
  expect((await extract({}, { auth }, { login })).rows).toEqual(numbers(0, 1));
  expect(login.refusals).toEqual(['token-1']);
  expect(rest.oauth?.(contextOf(rest, { source: { auth }, query: {}, folder }).source)).toEqual({
    grants: ['client_credentials'],
    token_url: 'https://id.example/token',
    refresh: 'none',
    scopes: ['read'],
    client_authentication: 'basic',
  });
  expect(rest.oauth?.(contextOf(rest, { source: {}, query: {}, folder }).source)).toBeUndefined();
});

test('a login call gets the token; an expired session is renewed, and closed after the run', async () => {
  let sessions = 0;
  server.answer = ({ pathname, searchParams }, response) => {
    const { body, headers } = server.requests.at(-1)!;
    if (pathname === '/login')
      return sendJson(response, { data: { token: `session-${++sessions}-${JSON.parse(body).password.length}` } });
    if (pathname === '/logout') return void response.writeHead(204).end();
    if (headers['x-session'] !== `session-${sessions}-8` || (sessions === 1 && searchParams.get('page') === '2')) {
      return void response.writeHead(401).end();
    }
    return sendJson(
      response,
      searchParams.get('page') === '3'
        ? []
        : ids(Number(searchParams.get('page')), Number(searchParams.get('page')) + 1),
    );
  };
  const auth = {
    kind: 'login_call',
    call: { path: '/login', body: { user: 'ann', password: 'hunter22' } },
    token_path: 'data.token',
    name: 'X-Session',
    logout: { path: '/logout', method: 'POST' },
  };
  expect((await extract({ paging: { kind: 'page' } }, { auth })).rows).toEqual(numbers(1, 3));
  expect(sessions).toBe(2);
  expect(askedInFull().at(-1)).toBe('POST /logout');
  server.answer = (_, response) => void response.writeHead(400).end('hunter22 is no password');
  const problem = await extract({}, { auth }).catch((error: unknown) => error as Problem);
  expect(renderProblem(problem as Problem)).not.toContain('hunter22');
});

test.each(['login_call', 'client_credentials'])(
  'requests that are sent at the same time with an expired token of %s get the same new one',
  async (kind) => {
    let logins = 0;
    const waiting: (() => void)[] = [];
    server.answer = ({ pathname }, response) => {
      if (pathname === '/login') return sendJson(response, { token: `token-${++logins}` });
      const id = Number(pathname.slice(1));
      const { authorization } = server.requests.at(-1)!.headers;
      if (authorization === 'Bearer token-2') return sendJson(response, ids(id, id + 1));
      // All four requests are refused, the last one after the others have used the new token.
      if (id === 4) waiting.push(() => response.writeHead(401).end());
      else waiting.unshift(() => response.writeHead(401).end());
      if (waiting.length !== 4) return;
      for (const refuse of waiting.slice(0, -1)) refuse();
      setTimeout(waiting.at(-1)!, 100);
    };
    const call = { path: '/login', body: { user: 'ann' } };
    const auth =
      kind === 'login_call' ? { kind, call, token_path: 'token' } : { kind, token_url: 'https://id.example/token' };
    const login = new TestLogin();
    const query = { for_each: { values: [1, 2, 3, 4] }, path: '/{{ parent.value }}' };
    expect((await extract(query, { auth }, { login })).rows).toEqual(numbers(1, 5));
    expect([logins, login.refusals]).toEqual(kind === 'login_call' ? [2, []] : [0, ['token-1']]);
  },
);

test("the logout request has the session's credentials", async () => {
  server.answer = ({ pathname }, response) =>
    pathname === '/session' ? sendJson(response, { token: 'session-4711' }) : sendJson(response, ids(0, 1));
  const call = { path: '/session', body: { user: 'ann' } };
  const auth = { kind: 'login_call', call, token_path: 'token', logout: { path: '/session', method: 'DELETE' } };
  await extract({ path: '/rows' }, { auth });
  const { method, headers } = server.requests.at(-1)!;
  expect([method, headers.authorization]).toEqual(['DELETE', 'Bearer session-4711']);
});

test.each<[string, Record<string, unknown>, Record<string, string>]>([
  ['a header', { token_path: 'header(X-Auth-Token)' }, { authorization: 'Bearer head-4711' }],
  ['all cookies', { token_path: 'cookies' }, { cookie: 'session=cook-4711; csrf=csrf-4711' }],
  ['one cookie', { token_path: 'cookie(session)' }, { cookie: 'session=cook-4711' }],
  ['a cookie that is sent as a header', { token_path: 'cookie(csrf)', name: 'X-CSRF' }, { 'x-csrf': 'csrf-4711' }],
])('a login call can return its token in %s, even with a redirect', async (_, more, sent) => {
  const cookies = [
    'session=cook-4711; Path=/; HttpOnly; Expires=Wed, 01 Jan 2099 00:00:00 GMT',
    'csrf=csrf-4711',
    'old=x; Max-Age=0',
    'gone=; Path=/',
  ];
  server.answer = ({ pathname }, response) => {
    if (pathname !== '/login') return sendJson(response, ids(0, 1));
    response.writeHead(303, { location: '/welcome', 'set-cookie': cookies, 'x-auth-token': 'head-4711' }).end();
  };
  const auth = { kind: 'login_call', call: { path: '/login', form: { user: 'ann', password: 'hunter22' } }, ...more };
  expect((await extract({ path: '/rows' }, { auth })).rows).toEqual(numbers(0, 1));
  expect(server.requests.map(({ url }) => url)).toEqual(['/login', '/rows']);
  expect(server.requests.at(-1)!.headers).toMatchObject(sent);
  server.answer = ({ pathname }, response) => {
    if (pathname === '/login') response.writeHead(303, { 'set-cookie': cookies, 'x-auth-token': 'head-4711' }).end();
    else response.writeHead(400).end(JSON.stringify(server.requests.at(-1)!.headers));
  };
  const problem = await extract({ path: '/rows' }, { auth }).catch((error: unknown) => error as Problem);
  expect(renderProblem(problem as Problem)).not.toContain('4711');
});

test('a login call without a token says where it was expected, and shows only names', async () => {
  server.answer = (_, response) => sendJson(response, { access: 'hidden-token-1', data: {} }, { 'x-b': '1' });
  const auth = { kind: 'login_call', call: { path: '/login' }, token_path: 'data.token' };
  await expect(extract({}, { auth })).rejects.toMatchObject({
    code: 'SERVICE_NO_TOKEN',
    family: 'login',
    message: `The response to the login call has no token at \`data.token\` (${server.url}/login)`,
    seen: expect.stringMatching(/^status 200, fields: access, data; headers: .*x-b/),
  });
});

test('password and jwt_bearer are OAuth logins with the options of their grant', () => {
  const token_url = 'https://id.example/token';
  const described = (auth: Record<string, unknown>) =>
    rest.oauth?.(contextOf(rest, { source: { auth: { token_url, ...auth } }, query: {}, folder }).source);
  expect(described({ kind: 'password', client_authentication: 'basic_plain' })).toEqual({
    ...{ grants: ['password'], token_url, refresh: 'rotating', client_authentication: 'basic_plain' },
  });
  expect(described({ kind: 'jwt_bearer', audience: 'https://a', claims: { scope: 'x' }, algorithm: 'ES256' })).toEqual({
    ...{ grants: ['jwt_bearer'], token_url, refresh: 'none' },
    assertion: { algorithm: 'ES256', audience: 'https://a', claims: { scope: 'x' } },
  });
  expect(described({ kind: 'client_credentials', client_authentication: 'private_key_jwt' })).toMatchObject({
    client_authentication: 'private_key_jwt',
    assertion: {},
  });
});

test('a temporarily unavailable token is requested again, just as a page is', async () => {
  server.answer = (_, response) => sendJson(response, ids(0, 1));
  class Faltering extends TestLogin {
    asked = 0;
    override async token() {
      if (++this.asked === 1) throw new Problem({ code: 'LOGIN_UNREACHABLE', family: 'try_later', message: 'away' });
      return super.token();
    }
  }
  const auth = { kind: 'client_credentials', token_url: 'https://id.example/token' };
  const login = new Faltering();
  expect((await extract({}, { auth }, { login })).rows).toEqual(numbers(0, 1));
  expect(login.asked).toBe(2);
});

test('a login call that fails temporarily is retried as often as a page request', async () => {
  let logins = 0;
  server.answer = ({ pathname }, response) => {
    if (pathname !== '/login') return sendJson(response, ids(0, 1));
    logins += 1;
    if (logins < 3) return void response.writeHead(503, { 'retry-after': '0' }).end();
    sendJson(response, { token: 'session-1' });
  };
  const auth = { kind: 'login_call', call: { path: '/login' }, token_path: 'token' };
  expect((await extract({}, { auth })).rows).toEqual(numbers(0, 1));
  expect(logins).toBe(3);
  server.answer = (_, response) => {
    logins += 1;
    response.writeHead(503, { 'retry-after': '0' }).end();
  };
  logins = 0;
  await expect(extract({}, { auth, retries: 2 })).rejects.toMatchObject({ code: 'REST_BUSY', family: 'try_later' });
  expect(logins).toBe(3);
});
