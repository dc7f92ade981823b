import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import rest, { fetchDatasource } from '../../../connectors/simple_rest/index.ts';
import { contextOf } from '../harness.ts';
import { sendJson } from '../http-server.ts';
import { ids, numbers, restBench } from './rig.ts';

const { server, folder, extract, failure, asked } = restBench();

test('the path is appended to the base URL, and parameters become query parameters or headers, depending on their type', async () => {
  server.answer = (_, response) => sendJson(response, [{ id: 1 }]);
  const parameters = [
    { name: 'since', value: '2026-01-01 & more', type: 'query' },
    { name: 'limit', value: 5 },
    { name: 'X-Team', value: 'blue', type: 'header' },
  ];
  for (const given of [parameters, JSON.stringify(parameters)]) {
    await extract({ path: '/orders?status=open', parameters: given }, { url: `${server.url}/v2/?v=1` });
  }
  expect(asked()).toEqual(Array(2).fill('/v2/orders?v=1&status=open&since=2026-01-01%20%26%20more&limit=5'));
  expect(server.requests.map(({ headers }) => headers['x-team'])).toEqual(['blue', 'blue']);
  await expect(extract({ parameters: 'a=1' })).rejects.toMatchObject({ code: 'REST_PARAMETERS', family: 'config' });
});

test.each([
  ['/odata/Items?$filter=id%20gt%2020', {}, '/odata/Items?$filter=id%20gt%2020'],
  [
    '/x?$filter=id gt 20&flag&a=[1,2]&b=c+d&p=50%&u=ü',
    {},
    '/x?$filter=id%20gt%2020&flag&a=[1,2]&b=c+d&p=50%25&u=%C3%BC',
  ],
  [
    '/x?c=a,b',
    { parameters: [{ name: '$filter', value: "a+b & c='d' gt ü" }] },
    '/x?c=a,b&%24filter=a%2Bb%20%26%20c%3D%27d%27%20gt%20%C3%BC',
  ],
  [
    '/x?s=a,b&$skip=7&$top',
    { paging: { kind: 'offset', parameter: '$skip', size: 5, size_parameter: '$top' } },
    '/x?s=a,b&%24top=5&%24skip=0',
  ],
])('%s with %j is requested as a valid URI, and keeps its own escapes', async (path, more, url) => {
  server.answer = (_, response) => sendJson(response, []);
  for (const given of [{ path }, { endpoint_url: `${server.url}${path}` }]) {
    await extract({ ...given, ...more }, { auth: { kind: 'key', name: 'k', value: 'key 12345', in: 'query' } });
    // The URL class normalizes a URL that is given in full.
    const own = 'endpoint_url' in given ? url.replace('p=50%25', 'p=50%') : url;
    expect(server.requests.at(-1)?.url).toBe(`${own}&k=key%2012345`);
  }
});

test('a body is sent with the configured method: a string unchanged, anything else as JSON', async () => {
  server.answer = (_, response) => sendJson(response, [{ id: 1 }]);
  await extract({ method: 'post', body: { q: 'ü' } });
  await extract({
    method: 'POST',
    body: 'plain',
    parameters: [{ name: 'Content-Type', value: 'text/x', type: 'header' }],
  });
  expect(server.requests).toMatchObject([
    { method: 'POST', body: '{"q":"ü"}', headers: { 'content-type': 'application/json' } },
    { method: 'POST', body: 'plain', headers: { 'content-type': 'text/x' } },
  ]);
});

test.each([
  [
    { kind: 'basic', user: 'ann', password: 'pä:ss' },
    { authorization: `Basic ${Buffer.from('ann:pä:ss').toString('base64')}` },
    '/',
  ],
  [{ kind: 'bearer', token: 'tok-12345' }, { authorization: 'Bearer tok-12345' }, '/'],
  [{ kind: 'key', name: 'X-Key', value: 'key-12345' }, { 'x-key': 'key-12345' }, '/'],
  [{ kind: 'key', name: 'key', value: 'key-12345', in: 'query' }, {}, '/?key=key-12345'],
])('credentials of kind %j are sent', async (auth, headers, url) => {
  server.answer = (_, response) => sendJson(response, [{ id: 1 }]);
  await extract({}, { auth });
  expect(server.requests).toMatchObject([{ url, headers }]);
});

test('redirects are followed within the origin, and rejected to another origin', async () => {
  server.answer = ({ pathname }, response) => {
    if (pathname === '/new') return sendJson(response, ids(0, 1));
    response
      .writeHead(302, {
        location: pathname === '/old' ? '/new' : pathname === '/loop' ? '/loop' : 'http://localhost:1/x',
      })
      .end();
  };
  expect((await extract({ path: 'old' })).rows).toEqual(numbers(0, 1));
  expect(await failure({ path: 'away' })).toMatchObject({ code: 'REST_ORIGIN' });
  expect(await failure({ path: 'loop' })).toMatchObject({ code: 'REST_REDIRECTS' });
});

test('a self-signed certificate is trusted only if ca_file names it', async () => {
  const args = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=sluice-test',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
  ];
  execFileSync('openssl', [...args, '-keyout', join(folder, 'key.pem'), '-out', join(folder, 'ca.pem')], {
    stdio: 'ignore',
  });
  const [key, cert] = await Promise.all(['key.pem', 'ca.pem'].map((name) => readFile(join(folder, name))));
  const secure = createServer({ key, cert }, (_, response) => sendJson(response, ids(0, 1)));
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  try {
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
    expect(await failure({}, { url })).toMatchObject({ code: 'REST_TLS', family: 'job' });
    expect((await extract({}, { url, ca_file: 'ca.pem' })).rows).toEqual(numbers(0, 1));
    const otherHost = await failure({}, { url: url.replace('127.0.0.1', 'localhost'), ca_file: 'ca.pem' });
    expect(otherHost).toMatchObject({
      code: 'REST_TLS',
      message: expect.stringContaining('not valid for the host localhost'),
    });
    const noTls = await failure({}, { url: server.url.replace('http:', 'https:') });
    expect(noTls).toMatchObject({ code: 'REST_TLS', next: expect.stringContaining('http://') });
    expect(await failure({}, { url, ca_file: 'none.pem' })).toMatchObject({ code: 'REST_CA_FILE', family: 'config' });
  } finally {
    secure.closeAllConnections();
    await new Promise((resolve) => secure.close(resolve));
  }
});

test('check reports whether the base URL responds', async () => {
  const check = (source: Record<string, unknown>) => rest.check(contextOf(rest, { source, query: {}, folder }));
  server.answer = (_, response) => sendJson(response, {});
  expect(await check({ url: server.url })).toBe(`${server.url}/ returns status 200 and application/json`);
  server.answer = (_, response) => void response.writeHead(404).end();
  expect(await check({ url: server.url })).toContain('is reachable');
  server.answer = (_, response) => void response.writeHead(401).end();
  await expect(check({ url: server.url })).rejects.toMatchObject({ family: 'login' });
  expect(await check({})).toContain('no base URL');
  expect(server.requests.length).toBe(3);
});

test('fetchDatasource returns raw bytes, limits their number and reports failed requests', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzipSync('any \u0000 bytes'));
  };
  const limits = { signal: new AbortController().signal, timeoutMs: 5000, maxBytes: 1000 };
  const parameters = '[{"name":"a","value":"1","type":"query"},{"name":"X-A","value":"2","type":"header"}]';
  const properties = { endpoint_url: `${server.url}/x?b=0`, method: 'get', parameters };
  const bytes = async (given = limits) =>
    Buffer.concat(await Array.fromAsync(fetchDatasource(properties, given))).toString();
  expect(await bytes()).toBe('any \u0000 bytes');
  expect(server.requests).toMatchObject([{ method: 'GET', url: '/x?b=0&a=1', headers: { 'x-a': '2' } }]);
  await expect(bytes({ ...limits, maxBytes: 5 })).rejects.toMatchObject({ code: 'REST_TOO_LARGE' });
  server.answer = (_, response) => void response.writeHead(500).end();
  await expect(bytes()).rejects.toMatchObject({ code: 'REST_BUSY' });
  const nowhere = fetchDatasource({ endpoint_url: 'file:///etc/passwd' }, limits);
  await expect(nowhere.next()).rejects.toMatchObject({ code: 'REST_ADDRESS' });
});

test('a form is sent with its fields encoded, lists repeated, and fields without a value omitted', async () => {
  server.answer = ({ searchParams: _ }, response, number) =>
    sendJson(response, { rows: ids(number, number + 1), next: number === 1 ? 'n2' : null });
  const form = { q: 'a b&ü', on: '{{ today | format: YYYY }}', tag: ['x', 'y'], none: null, after: '{{ page.token }}' };
  const query = { method: 'POST', form, records: 'rows', paging: { kind: 'cursor', cursor: 'next' } };
  expect((await extract(query, {}, { logicalAt: Date.UTC(2026, 2, 1) })).rows).toEqual(numbers(1, 3));
  const type = 'application/x-www-form-urlencoded';
  expect(server.requests).toMatchObject([
    { url: '/', headers: { 'content-type': type }, body: 'q=a+b%26%C3%BC&on=2026&tag=x&tag=y' },
    { url: '/', headers: { 'content-type': type }, body: 'q=a+b%26%C3%BC&on=2026&tag=x&tag=y&after=n2' },
  ]);
});

test('a secret in a form is redacted if the server repeats it', async () => {
  server.answer = (_, response) => void response.writeHead(400).end(server.requests.at(-1)!.body);
  const problem = await failure({ method: 'POST', form: { api_key: 'form-secret-4711', a: 'b' } });
  expect(problem.seen).toBe('status 400: api_key=[redacted]&a=b');
});

test('values of parents and pages are shown, even in parameters that are named like secrets', async () => {
  server.answer = ({ search }, response) => void response.writeHead(400).end(search);
  const problem = await failure({
    for_each: { values: [{ id: 'account-4711' }] },
    parameters: [
      { name: 'account_key', value: '{{ parent.id }}' },
      { name: 'api_key', value: 'parameter-secret-4711' },
      { name: 'author', value: 'Jane Doe' },
    ],
  });
  expect(problem.seen).toBe('status 400: ?account_key=account-4711&api_key=[redacted]&author=Jane%20Doe');
});
