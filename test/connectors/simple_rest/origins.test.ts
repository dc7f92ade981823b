import { expect, test } from 'vitest';
import { sendJson, TestServer } from '../http-server.ts';
import { faults, ids, numbers, restBench } from './rig.ts';

const { server, extract, failure } = restBench();

async function withOther(use: (other: TestServer) => Promise<void>): Promise<void> {
  const other = await new TestServer().start();
  other.answer = (_, response) => sendJson(response, { v: ids(1, 2), next: null });
  try {
    await use(other);
  } finally {
    await other.stop();
  }
}

test.each([
  ['a bearer token', { auth: { kind: 'bearer', token: 'tok-12345' } }],
  ['a key in the query', { auth: { kind: 'key', name: 'k', value: 'key-12345', in: 'query' } }],
  ['a header with a secret name', { headers: { 'x-api-key': 'key-12345' } }],
])('an endpoint_url with a template and another origin never receives %s', async (_, source) => {
  await withOther(async (other) => {
    const query = { endpoint_url: `${other.url}/echo?d={{ today }}`, records: 'v' };
    expect(await failure(query, source)).toMatchObject({
      code: 'REST_ORIGIN',
      family: 'config',
      seen: `${other.url}/echo`,
      allowed: server.url,
    });
    expect(other.requests).toEqual([]);
  });
});

test("an endpoint_url with a template in its query is allowed if it has the source URL's origin", async () => {
  server.answer = (_, response) => sendJson(response, { v: ids(1, 2) });
  const query = { endpoint_url: `${server.url}/echo?d={{ today }}`, records: 'v' };
  expect((await extract(query, { auth: { kind: 'bearer', token: 'tok-12345' } })).rows).toEqual(numbers(1, 2));
});

test("the origin of endpoint_url is checked before a run if the source's headers contain a key", () => {
  const query = { endpoint_url: 'https://elsewhere.example.com/x' };
  const url = 'https://api.example.com/';
  expect(faults(query, { url, headers: { 'x-api-key': 'key-12345' } })).toEqual(['endpoint_url']);
  expect(faults(query, { url, headers: { 'accept-language': 'en' } })).toEqual([]);
});

test.each([
  ['without TLS', 'http://api.example.com/x'],
  ['with another port', 'https://api.example.com:8443/x'],
  ['with a subdomain', 'https://eu.api.example.com/x'],
])('an endpoint_url %s is rejected because of its origin, both before and during a run', async (_, endpoint_url) => {
  const source = { url: 'https://api.example.com/', auth: { kind: 'bearer', token: 'tok-12345' } };
  expect(faults({ endpoint_url }, source)).toEqual(['endpoint_url']);
  const refused = { code: 'REST_ORIGIN', seen: endpoint_url, allowed: 'https://api.example.com' };
  expect(await failure({ endpoint_url }, source)).toMatchObject(refused);
  expect(faults({ endpoint_url: 'https://api.example.com:443/x' }, source)).toEqual([]);
});

const signed = 'X-Amz-Signature=a%2Fb&Expires=1%202';

test.each([
  ['next link', { paging: { kind: 'next_link', path: 'next' } }],
  ['redirect', {}],
])('a %s to another origin loses only the keys that the server repeats in it', async (kind, paging) => {
  await withOther(async (other) => {
    const repeated = `${other.url}/more?api_key=key-12345&page=2&token=par-98765&${signed}&key-12345`;
    server.answer = (_, response) => {
      if (kind === 'redirect') response.writeHead(302, { location: repeated }).end();
      else sendJson(response, { v: ids(0, 1), next: repeated });
    };
    const query = { records: 'v', ...paging, parameters: [{ name: 'token', value: 'par-98765' }] };
    const source = {
      auth: { kind: 'key', name: 'api_key', value: 'key-12345', in: 'query' },
      other_origins: [other.url],
    };
    await extract(query, source);
    expect(other.requests.map(({ url }) => url)).toEqual([`/more?page=2&${signed}`]);
  });
});
