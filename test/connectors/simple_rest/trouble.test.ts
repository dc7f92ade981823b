import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import rest from '../../../connectors/simple_rest/index.ts';
import { renderProblem } from '../../../src/lib/problem.ts';
import { contextOf } from '../harness.ts';
import { sendJson, TestServer } from '../http-server.ts';
import { ids, numbers, restBench } from './rig.ts';

const { server, folder, extract, failure } = restBench();

test.each([408, 425, 429, 500, 502, 503, 504, 507, 511, 520, 522, 524, 527, 529, 530, 598])(
  'status %d is retried after the pause that the server requests',
  async (status) => {
    server.answer = (_, response, number) => {
      if (number > 1) return sendJson(response, ids(0, 1));
      response.writeHead(status, { 'retry-after': '0' }).end('busy');
    };
    expect((await extract({})).rows).toEqual(numbers(0, 1));
    expect(server.requests.length).toBe(2);
  },
);

test('retries are limited, and the error contains the delay that the server requests', async () => {
  server.answer = (_, response) => void response.writeHead(503, { 'retry-after': '0' }).end('maintenance until noon');
  expect(await failure({}, { retries: 2 })).toMatchObject({
    code: 'REST_BUSY',
    family: 'try_later',
    seen: 'status 503: maintenance until noon',
    next: expect.stringContaining('run `sluice check --connect`'),
  });
  expect(server.requests.length).toBe(3);
  server.answer = (_, response) => void response.writeHead(429, { 'retry-after': '3600' }).end();
  expect(await failure({})).toMatchObject({ family: 'try_later', retryAfterMs: 3_600_000 });
  expect(server.requests.length).toBe(4);
});

test.each<[string, Record<string, string>]>([
  ['says when to retry', { 'retry-after': '0' }],
  ['says that no requests are left', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '0' }],
])('status 403 counts as a rate limit if it %s', async (_, headers) => {
  server.answer = (_url, response, number) => {
    if (number > 1) return sendJson(response, ids(0, 1));
    response.writeHead(403, headers).end('secondary rate limit');
  };
  expect((await extract({})).rows).toEqual(numbers(0, 1));
  server.answer = (_url, response) => void response.writeHead(403, { ...headers, 'retry-after': '3600' }).end();
  expect(await failure({})).toMatchObject({
    code: 'REST_BUSY',
    family: 'try_later',
    isRateLimit: true,
    retryAfterMs: 3_600_000,
    message: expect.stringContaining('rate limited'),
  });
});

const soapFault = (code: string) =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault>${code}</s:Fault></s:Body></s:Envelope>`;
const graphErrors = (code: string) => JSON.stringify({ errors: [{ message: 'no', extensions: { code } }], data: null });

test.each<[string, number, string, number]>([
  ['SOAP 1.1 Client', 500, soapFault('<faultcode>s:Client.Auth</faultcode>'), 1],
  ['SOAP 1.2 Sender', 500, soapFault('<s:Code><s:Value>s:Sender</s:Value></s:Code>'), 1],
  ['SOAP 1.1 Server', 500, soapFault('<faultcode>s:Server</faultcode>'), 2],
  ['SOAP 1.2 Receiver', 400, soapFault('<s:Code><s:Value>s:Receiver</s:Value></s:Code>'), 2],
  ['a query that GraphQL rejects', 500, graphErrors('GRAPHQL_VALIDATION_FAILED'), 1],
  ['a GraphQL rate limit', 400, graphErrors('THROTTLED'), 2],
  ['a JSON error that is neither SOAP nor GraphQL', 500, '{"errors": ["busy"]}', 2],
  ['an unknown GraphQL code, with a transient status', 500, graphErrors('SOMETHING_ELSE'), 2],
  ['a status that is more specific than a SOAP fault', 503, soapFault('<faultcode>s:Client</faultcode>'), 2],
  ['a status that is more specific than a GraphQL error', 429, graphErrors('FORBIDDEN'), 2],
])('an error is classified by its body: %s', async (_, status, text, requests) => {
  server.answer = (_url, response) => void response.writeHead(status, { 'retry-after': '0' }).end(text);
  const problem = await failure({}, { retries: 1 });
  expect(problem).toMatchObject(
    requests === 1 ? { code: 'REST_REFUSED', family: 'job' } : { code: 'REST_BUSY', family: 'try_later' },
  );
  expect(server.requests.length).toBe(requests);
});

const reason = (code: string) => `${code}<faultstring>Unknown customer 17</faultstring>`;
const reason12 = (code: string) =>
  `<s:Code><s:Value>s:${code}</s:Value></s:Code><s:Reason><s:Text xml:lang="en">Unknown customer 17</s:Text></s:Reason>`;

test.each<[string, string, string]>([
  ['Client in SOAP 1.1', reason('<faultcode>s:Client.Auth</faultcode>'), 'job'],
  ["a server's own code", reason('<faultcode>E17</faultcode>'), 'job'],
  ['no code', reason(''), 'job'],
  ['Sender in SOAP 1.2', reason12('Sender'), 'job'],
  ['Server in SOAP 1.1', reason('<faultcode>s:Server.Busy</faultcode>'), 'try_later'],
  ['Receiver in SOAP 1.2', reason12('Receiver'), 'try_later'],
])("a SOAP fault with status 200 causes an error with the server's message: %s", async (_, fault, family) => {
  let asked = 0;
  server.answer = (_url, response) => {
    asked++;
    response.writeHead(200, { 'content-type': 'text/xml; charset=utf-8' });
    response.end(`<?xml version="1.0"?>\n${soapFault(fault).replace('<s:Body>', '<s:Header/><s:Body>')}`);
  };
  for (const query of [{}, { records: 'Order' }, { records: 'Order', null_records: 'empty' }]) {
    asked = 0;
    expect(await failure(query, { retries: 1 })).toMatchObject({
      code: 'REST_ANSWER_ERROR',
      family,
      seen: expect.stringContaining('Unknown customer 17'),
    });
    expect(asked).toBe(family === 'job' ? 1 : 2);
  }
});

test('the message of a SOAP fault with status 500 is shown without its tags', async () => {
  server.answer = (_, response) => {
    response.writeHead(500, { 'content-type': 'text/xml' });
    response.end(soapFault(`${reason('<faultcode>s:Client</faultcode>')}<detail><a>A &amp; B</a></detail>`));
  };
  expect(await failure({})).toMatchObject({
    code: 'REST_REFUSED',
    seen: 'status 500: SOAP fault s:Client: Unknown customer 17: A & B',
  });
});

test('records named Fault are rows, and so is a fault that the config reads as data', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end('<s:Envelope xmlns:s="u"><s:Body><Faults><Fault><id>1</id></Fault></Faults></s:Body></s:Envelope>');
  };
  expect((await extract({ records: 'Fault' })).rows).toEqual([['1']]);
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/xml' }).end(soapFault(reason('')));
  };
  expect((await extract({ records: 'Fault', fail_when: [] })).rows).toEqual([['Unknown customer 17']]);
});

const cuts: Record<string, (response: import('node:http').ServerResponse) => void> = {
  'announces more bytes than it sends': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100', connection: 'close' });
    response.write('[{"id":1}]', () => response.socket?.end());
  },
  'resets the connection': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('[{"id":1}]', () => response.socket?.resetAndDestroy());
  },
  'ends its chunks without the last one': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('[{"id":1}]', () => response.socket?.end());
  },
  'cuts the packed stream': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync('[{"id":1}]').subarray(0, -4));
  },
};

test.each(Object.entries(cuts))(
  'a response that %s never counts as the end, but is requested again',
  async (_, cut) => {
    server.answer = (_url, response, number) => (number === 1 ? cut(response) : sendJson(response, ids(5, 7)));
    expect((await extract({})).rows).toEqual(numbers(5, 7));
    server.answer = (_url, response) => cut(response);
    expect(await failure({}, { retries: 0 })).toMatchObject({
      code: 'REST_UNREACHABLE',
      family: 'try_later',
      next: expect.stringContaining('retried automatically'),
    });
  },
);

test('JSON that ends too early in a complete response is rejected', async () => {
  server.answer = (_, response) => sendJson(response, '[{"id":1},');
  expect(await failure({})).toMatchObject({ code: 'JSON_TRUNCATED', message: expect.stringContaining('page 1') });
});

const html = '<!DOCTYPE html><html><body>Please log in</body></html>';
const paged = { paging: { kind: 'page', size: 2 } };

test.each([
  ['is truncated', '[{"id":2},'],
  ["is a proxy's page", html],
])('a later page that %s is requested again, and its rows appear only once', async (_, broken) => {
  let faults = 0;
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page'));
    if (page === 2 && faults++ < 2) return sendJson(response, broken);
    sendJson(response, page > 3 ? [] : ids(page * 2, page * 2 + 2));
  };
  expect((await extract(paged)).rows).toEqual(numbers(2, 8));
  faults = Number.NEGATIVE_INFINITY;
  expect(await failure(paged, { retries: 1 })).toMatchObject({
    code: 'REST_UNREADABLE',
    family: 'try_later',
    seen: expect.stringMatching(/^(JSON_|RECORDS_FORMAT)/),
  });
});

test("a truncated first page without a length is requested again, but not a complete page that isn't data", async () => {
  const openEnded = (response: import('node:http').ServerResponse, text: string) => {
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(text);
  };
  server.answer = (_, response, number) =>
    number === 1 ? openEnded(response, '[{"id":0},{"i') : sendJson(response, ids(0, 2));
  expect((await extract({})).rows).toEqual(numbers(0, 2));
  server.answer = (_, response) => openEnded(response, html);
  expect(await failure({})).toMatchObject({ code: 'RECORDS_FORMAT', family: 'job' });
});

test.each([
  ['THROTTLED', 'try_later', 3],
  ['BAD_USER_INPUT', 'job', 1],
])('a GraphQL error with the code %s and status 200 belongs to the family %s', async (code, family, requests) => {
  server.answer = (_, response) => sendJson(response, graphErrors(code));
  const query = { method: 'POST', body: { query: '{ a { id } }' }, records: 'data.a' };
  expect(await failure(query, { retries: 2 })).toMatchObject({ code: 'REST_ANSWER_ERROR', family });
  expect(server.requests.length).toBe(requests);
});

test('a refused response with status 200 is read again, and nothing of it is left in the result', async () => {
  const good = JSON.stringify({ data: { a: ids(0, 2) } });
  server.answer = (_, response, number) => sendJson(response, number === 1 ? graphErrors('THROTTLED') : good);
  const query = { method: 'POST', body: { query: '{ a { id } }' }, records: 'data.a' };
  expect((await extract(query, { retries: 2 })).rows).toEqual(numbers(0, 2));
});

test('a response that stalls times out, and so does one that trickles endlessly', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('[');
  };
  expect(await failure({}, { retries: 0, timeout_seconds: 2 })).toMatchObject({
    code: 'REST_UNREACHABLE',
    seen: 'UND_ERR_BODY_TIMEOUT',
  });
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  };
  expect(await failure({}, { retries: 0, answer_seconds: 0.3 })).toMatchObject({
    code: 'REST_UNREACHABLE',
    message: expect.stringContaining('timed out'),
  });
});

test('an unreachable server is reported as a try_later problem', async () => {
  const gone = await new TestServer().start();
  const { url } = gone;
  await gone.stop();
  expect(await failure({}, { url, retries: 0 })).toMatchObject({
    code: 'REST_UNREACHABLE',
    family: 'try_later',
    seen: 'ECONNREFUSED',
  });
});

test.each([
  [401, 'REST_LOGIN', 'login'],
  [403, 'REST_LOGIN', 'login'],
  [404, 'REST_NOT_FOUND', 'job'],
  [400, 'REST_REFUSED', 'job'],
  [422, 'REST_REFUSED', 'job'],
  [501, 'REST_REFUSED', 'job'],
  [505, 'REST_REFUSED', 'job'],
])("status %d causes %s and isn't retried", async (status, code, family) => {
  server.answer = (_, response) => void response.writeHead(status).end('{"error": "no\n such thing"}');
  expect(await failure({ path: 'x' })).toMatchObject({
    code,
    family,
    seen: `status ${status}: {"error": "no such thing"}`,
  });
  expect(server.requests.length).toBe(1);
});

test('no error contains a credential, even if the server repeats it', async () => {
  server.answer = ({ href }, response) =>
    void response.writeHead(400).end(`you sent ${href} with ${server.requests.at(-1)!.headers.authorization}`);
  const password = 'hunter2-hunter2';
  const first = await failure({}, { auth: { kind: 'basic', user: 'ann', password } });
  const key = 'key-0123456789';
  const second = await failure({}, { auth: { kind: 'key', name: 'k', value: key, in: 'query' } });
  server.answer = (_, response) => void response.writeHead(400).end(JSON.stringify(server.requests.at(-1)));
  const hidden = ['header-secret-1', 'parameter-secret-2', 'query-secret-3'];
  const parameters = [
    { name: 'X-Api-Key', value: hidden[1]!, type: 'header' },
    { name: 'access_token', value: hidden[2]!, type: 'query' },
  ];
  const third = await failure({ parameters }, { headers: { 'x-session': hidden[0]! } });
  for (const secret of hidden) expect(renderProblem(third)).not.toContain(secret);
  const shown = [first, second].map((problem) => renderProblem(problem) + problem.message).join();
  expect(shown).not.toContain(password);
  expect(shown).not.toContain(Buffer.from(`ann:${password}`).toString('base64'));
  expect(shown).not.toContain(key);
  expect(shown).toContain('[redacted]');
});

test('a web page that a server sends instead of data is reported with its text', async () => {
  const page =
    '<!DOCTYPE html><html><head><style>p{color:red}</style><title>No such page</title></head><p>Ask <b>Ann</b>.</p>';
  server.answer = (_, response) => void response.writeHead(404, { 'content-type': 'text/html' }).end(page);
  await expect(extract({})).rejects.toMatchObject({
    code: 'REST_NOT_FOUND',
    seen: 'status 404: a page: No such page Ask Ann .',
    next: "check `path` or `endpoint_url`, and the source's `url`",
  });
});

test('a stopped run throws the reason, even during the pause before a retry', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped by the test');
  server.answer = (_, response) => {
    response.writeHead(503, { 'retry-after': '30' }).end();
  };
  const context = contextOf(rest, { source: { url: server.url }, query: {}, folder, signal: stop.signal });
  // Emitted when the pause starts.
  const log = { ...context.log, warn: () => void setImmediate(() => stop.abort(reason)) };
  await expect(rest.extract({ ...context, log })).rejects.toBe(reason);
});

test('a run that is stopped while its rows are read throws the reason', async () => {
  server.answer = (_, response) => sendJson(response, ids(0, 200_000));
  const stop = new AbortController();
  const reason = new Error('stopped by the test');
  const context = contextOf(rest, { source: { url: server.url }, query: {}, folder, signal: stop.signal });
  const { batches } = await rest.extract(context);
  const reading = (async () => {
    for await (const _ of batches) stop.abort(reason);
  })();
  await expect(reading).rejects.toBe(reason);
});
