import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Bench, bench, fixtures, keys, scratch } from './service.ts';

/** How other programs call this API. They can't be changed, so the service must accept what they send. */

interface Said {
  readonly status: number;
  readonly text: string;
}

/** Runs the real curl, with `input` as its standard input. */
function curl(args: readonly string[], input = ''): Promise<Said> {
  const flags = ['--silent', '--show-error', '--noproxy', '*', '--max-time', '30', '--write-out', '\n%{http_code}'];
  return new Promise((resolve, reject) => {
    const child = execFile('curl', [...flags, ...args], (error, stdout) => {
      if (error !== null) return reject(error);
      const end = stdout.lastIndexOf('\n');
      resolve({ status: Number(stdout.slice(end + 1)), text: stdout.slice(0, end) });
    });
    // If curl gets an early refusal, it doesn't read its input to the end.
    child.stdin!.on('error', () => undefined).end(input);
  });
}

/** Sends a raw request in pieces and returns everything received until the connection ends. */
function raw({ port }: { port: number }, pieces: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', async () => {
      socket.setNoDelay(true);
      for (const piece of pieces) {
        socket.write(piece);
        if (pieces.length > 1) await wait(1);
      }
    });
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

const key = `kf-api-key: ${keys.acmeAdmin}`;
const keyed = ['--header', key];
const json = ['--header', 'content-type: application/json'];
const dataOf = async (given: Bench, id: string): Promise<string> =>
  (await given.call('GET', `/datasource-instances/${id}/data?raw=true`)).text;

describe('curl', () => {
  it.each([
    ['without a content type', ['--header', 'content-type:']],
    ['as a form, which is its default', []],
    ['with csv labeled as json', json],
    ['as application/csv', ['--header', 'content-type: application/csv']],
    ['as text/csv with a charset', ['--header', 'Content-Type: text/csv; charset=UTF-8']],
    ['with an invalid content type', ['--header', 'content-type: ;;;']],
    ['chunked', ['--header', 'transfer-encoding: chunked']],
    ['and waits for 100 Continue', ['--header', 'expect: 100-continue']],
    [
      'and waits for 100 Continue, chunked',
      ['--header', 'expect: 100-continue', '--header', 'transfer-encoding: chunked'],
    ],
    ['over HTTP/1.0', ['--http1.0']],
    ['and asks for HTTP/2', ['--http2']],
    [
      'with unknown headers',
      ['--header', 'x-request-id: 7', '--header', 'kf-user-id: someone', '--header', 'accept: */*;q=0'],
    ],
    ['with a header without a value', ['--header', 'x-empty;']],
    ['without connection reuse', ['--header', 'connection: close']],
    ['with a cookie and a referrer', ['--cookie', 'a=b', '--referer', 'http://elsewhere.test/']],
  ])('uploads %s', async (_how, flags) => {
    const given = await bench();
    const id = await given.source({ format: 'csv' });
    const body = 'id,name\n1,žluťoučký 🐎\n';
    const address = `${given.service.url}/datasource-instances/${id}/data`;
    const said = await curl([...keyed, ...flags, '--request', 'PUT', '--data-binary', '@-', address], body);
    expect(said).toEqual({ status: 200, text: '{"meta":{"success":true,"status":200},"data":{}}' });
    expect(await dataOf(given, id)).toBe(body);
  });

  it('uploads a file or its standard input with PUT', async () => {
    const given = await bench();
    const id = await given.source({ format: 'xml' });
    const file = join(await scratch(), 'data.xml');
    const body = `<r>${'<a>1</a>'.repeat(300_000)}</r>`;
    await writeFile(file, body);
    for (const prefix of ['/api/1.0', '/api/1']) {
      const address = `${given.origin}${prefix}/datasource-instances/${id}/data`;
      expect((await curl([...keyed, '--upload-file', file, address])).status).toBe(200);
      expect(await dataOf(given, id)).toBe(body);
      expect((await curl([...keyed, '--upload-file', '-', address], '<r/>')).status).toBe(200);
      expect(await dataOf(given, id)).toBe('<r/>');
    }
  });

  it('is rejected before it sends a file that is too large', async () => {
    const given = await bench({ uploadLimitBytes: 1_000 });
    const id = await given.source();
    const address = `${given.service.url}/datasource-instances/${id}/data`;
    const file = join(await scratch(), 'large.json');
    await writeFile(file, ' '.repeat(2_000_000));
    const flags = ['--expect100-timeout', '20', '--upload-file', file];
    const said = await curl([...keyed, ...flags, address]);
    expect([said.status, said.text]).toEqual([400, expect.stringContaining('data_too_large')]);
  });

  it('signs in with a password in the URL, in a header or through its own option', async () => {
    const given = await bench({ given: fixtures });
    const { port } = given.service;
    const signed = [
      [`http://admin%40acme.test:correct%20horse@127.0.0.1:${port}/api/1.0/profile`],
      ['--user', 'admin@acme.test:correct horse', `${given.service.url}/profile`],
      ['--anyauth', '--user', 'admin@acme.test:correct horse', `${given.service.url}/profile`],
      ['--header', `authorization: BASIC ${btoa('admin@acme.test:correct horse')}`, `${given.service.url}/profile`],
    ];
    for (const args of signed) {
      const { status, text } = await curl(args);
      // With --anyauth, curl first sends a request without credentials, and prints both responses.
      expect([args, status, text]).toEqual([args, 200, expect.stringContaining('"email":"admin@acme.test"')]);
    }
    expect((await curl(['--user', 'admin@acme.test:wrong', `${given.service.url}/profile`])).status).toBe(401);
  });

  it.each(['kf-api-key', 'KF-API-KEY', 'Kf-Api-Key', 'kF-aPI-kEY'])('sends the key %s', async (name) => {
    const given = await bench();
    const args = [
      '--header',
      `${name}: ${keys.acmeAdmin}`,
      '--header',
      'Kf-User-Id: 7',
      `${given.service.url}/profile`,
    ];
    expect((await curl(args)).status).toBe(200);
  });

  it.each([
    ['a form that contains JSON', []],
    ['json', json],
    ['JSON with a charset', ['--header', 'content-type: application/json;charset=utf-8']],
    ['nothing', ['--header', 'content-type:']],
    ['text', ['--header', 'content-type: text/plain']],
    ['chunks', ['--header', 'transfer-encoding: chunked']],
  ])('creates a source with a body labeled %s that has null values and unknown fields', async (_how, flags) => {
    const given = await bench();
    const fields = {
      name: 'A',
      description: null,
      format: null,
      connector: 'simple_rest',
      refresh_interval: null,
      properties: null,
      owner: { a: [null] },
      client_id: null,
    };
    const said = await curl([
      ...keyed,
      ...flags,
      '--data',
      JSON.stringify(fields),
      `${given.service.url}/datasources/`,
    ]);
    expect([said.status, said.text]).toEqual([201, expect.stringMatching(/"location":"\/datasources\/[0-9a-f]{32}"/)]);
  });

  it.each([
    ['an empty body labeled JSON', [...json, '--data', '']],
    ['no body labeled JSON', [...json, '--request', 'POST']],
    ['an empty object', [...json, '--data', '{}']],
    ['nothing', ['--request', 'POST']],
    ['a form without fields', ['--data', '']],
  ])('requests a refresh with %s', async (_how, flags) => {
    const given = await bench();
    const id = await given.source();
    for (const slash of ['', '/']) {
      const said = await curl([
        ...keyed,
        ...flags,
        `${given.origin}/api/1/datasource-instances/${id}/@/refresh${slash}`,
      ]);
      expect([said.status, said.text]).toEqual([200, expect.stringContaining('"op_requested":"refresh"')]);
    }
  });

  it("can escape characters that don't need escaping", async () => {
    const given = await bench();
    const id = await given.source();
    const address = `${given.service.url}/datasources/${id}/%40/disable`;
    expect((await curl([...keyed, '--request', 'POST', address])).status).toBe(200);
  });

  it('sends DELETE and GET requests with a body', async () => {
    const given = await bench();
    const id = await given.source();
    const get = [...keyed, ...json, '--request', 'GET', '--data', '{"a":1}'];
    expect((await curl([...get, `${given.service.url}/datasources/${id}`])).status).toBe(200);
    const remove = [...keyed, ...json, '--request', 'DELETE', '--data', '{"reason":null}'];
    expect((await curl([...remove, `${given.service.url}/datasources/${id}`])).status).toBe(200);
  });

  it('works through a proxy that forwards the absolute URL', async () => {
    const given = await bench();
    const args = [...keyed, '--noproxy', '', '--proxy', given.origin, 'http://service.test/api/1.0/profile'];
    expect((await curl(args)).status).toBe(200);
  });

  it('can name a client in the query, in the body or in both', async () => {
    const given = await bench();
    const create = async (query: string, body: object): Promise<number> =>
      (await curl([...keyed, ...json, '--data', JSON.stringify(body), `${given.service.url}/datasources${query}`]))
        .status;
    expect(await create('?client_id=bakery', { name: 'A' })).toBe(201);
    expect(await create('', { name: 'A', client_id: 'bakery' })).toBe(201);
    expect(await create('?client_id=bakery', { name: 'A', client_id: 'bakery' })).toBe(201);
    expect((await given.call('GET', '/datasources', { key: keys.clientAdmin })).body.meta.total).toBe(3);
  });
});

describe('a client that writes raw HTTP', () => {
  const closing = `${key}\r\nconnection: close\r\n`;

  it('can use HTTP/1.0 without a Host header', async () => {
    const { service } = await bench();
    const answer = await raw(service, [`GET /api/1.0/profile HTTP/1.0\r\n${key}\r\n\r\n`]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\ncontent-length: \d+\r\n/i);
  });

  it('can send a request byte by byte', async () => {
    const { service } = await bench();
    expect(await raw(service, [...`GET /api/1/profile/ HTTP/1.1\r\nHost: x\r\n${closing}\r\n`])).toMatch(
      /^HTTP\/1\.1 200 /,
    );
  });

  it('can send chunks with extensions and trailers', async () => {
    const given = await bench();
    const id = await given.source();
    const head = `PUT /api/1.0/datasource-instances/${id}/data HTTP/1.1\r\nHOST: x\r\n${closing}TRANSFER-ENCODING: Chunked\r\n\r\n`;
    const answer = await raw(given.service, [
      head,
      '2;part=1\r\n[1\r\n',
      '2\r\n,2\r\n',
      '1\r\n]\r\n',
      '0\r\nx-sum: 5\r\n\r\n',
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await dataOf(given, id)).toBe('[1,2]');
  });

  it('can pipeline its requests, and gets the responses in order', async () => {
    const { service } = await bench();
    const get = (path: string, last = ''): string => `GET /api/1.0${path} HTTP/1.1\r\nhost: x\r\n${key}\r\n${last}\r\n`;
    const answer = await raw(service, [
      get('/profile') + get('/nothing') + get('/datasources', 'connection: close\r\n'),
    ]);
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '404', '200']);
  });
});

describe('a client library', () => {
  it('can use one connection for all kinds of calls, including refused ones', async () => {
    const given = await bench();
    const id = await given.source({ format: 'csv' });
    const dispatcher = new Agent({ connections: 1, pipelining: 1 });
    onTestFinished(() => dispatcher.destroy());
    for (const [method, path, body, status] of [
      ['GET', '/datasources', null, 200],
      ['PUT', `/datasource-instances/${id}/data`, 'a\n1\n', 200],
      ['PUT', `/datasource-instances/${id}/data`, 'a\n"', 400],
      ['POST', '/datasources', '{', 400],
      ['PATCH', `/datasources/${id}`, '{}', 405],
      ['PUT', '/datasource-instances/nothing/data', 'a\n', 404],
      ['GET', `/datasource-instances/${id}/data?raw=true`, null, 200],
    ] as const) {
      const { statusCode, body: answer } = await request(given.service.url + path, {
        dispatcher,
        method,
        body,
        headers: { 'kf-api-key': keys.acmeAdmin, 'kf-user-id': 'x', 'user-agent': 'python-requests/2.31.0' },
      });
      await answer.dump();
      expect([method, path, statusCode]).toEqual([method, path, status]);
    }
    const used = new Set(given.service.requestLog.entries.slice(1).map(({ from }) => from));
    expect(used.size).toBe(1);
  });
});
