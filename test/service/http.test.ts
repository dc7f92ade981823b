import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Answer, type Bench, bench, keys, scratch, until } from './service.ts';

const errorOf = ({ status, body }: Answer): unknown => [status, body.meta.error_code];

/** Sends raw text and returns everything received until the service disconnects. */
function raw(given: Bench, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(given.service.port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('the HTTP server', () => {
  it('accepts the API versions 1 and 1.0, with or without a trailing slash', async () => {
    const given = await bench();
    const id = await given.source();
    for (const path of [
      '/api/1.0/datasources',
      '/api/1/datasources',
      '/api/1.0/datasources/',
      '/api/1/datasources/?limit=1',
      `/api/1/datasources/${id}/`,
    ]) {
      expect([path, (await given.call('GET', path)).status]).toEqual([path, 200]);
    }
    expect((await given.call('POST', '/api/1/datasources/@/refresh/', { body: { datasources: [id] } })).status).toBe(
      200,
    );
  });

  it('returns 401 for an unknown path without credentials, and 404 with them', async () => {
    const given = await bench();
    for (const path of [
      '/nothing',
      '/datasources/a/b/c',
      '/api/2/datasources',
      '/api',
      '/api/1.0/DATASOURCES',
      `/datasources/${'x'.repeat(600)}`,
    ]) {
      expect(errorOf(await given.call('GET', path, { key: null }))).toEqual([401, 'auth_not_provided']);
      expect(errorOf(await given.call('GET', path))).toEqual([404, 'not_found']);
    }
  });

  it('returns 405 with the allowed methods for an unsupported method', async () => {
    const given = await bench();
    for (const method of ['PATCH', 'DELETE', 'PUT', 'OPTIONS', 'PROPFIND']) {
      const answer = await given.call(method, '/datasources');
      expect([method, ...(errorOf(answer) as string[]), answer.headers.allow]).toEqual([
        method,
        405,
        'method_not_allowed',
        'GET, HEAD, POST',
      ]);
    }
    expect((await given.call('HEAD', '/datasources/@/refresh')).headers.allow).toBe('POST');
    const id = await given.source();
    for (const path of [
      `/datasources/${id}`,
      `/datasourc%65s/${id}/`,
      `/api/1/datasources/${id}?full=true`,
      '/users/%C3%A4',
    ]) {
      expect((await given.call('PATCH', path)).headers.allow, path).toMatch(/^GET, HEAD, .*PUT/);
    }
    for (const path of [`/datasources/${id}/nothing`, `/datasources/${id}//`, '/nothing']) {
      expect(errorOf(await given.call('PATCH', path)), path).toEqual([404, 'not_found']);
    }
    expect((await given.call('GET', '/datasources/@/refresh')).headers.allow).toBe('POST');
    expect(errorOf(await given.call('PATCH', '/datasources', { key: null }))).toEqual([401, 'auth_not_provided']);
  });

  it("returns 400 for a path that can't be decoded, and for invalid HTTP", async () => {
    const given = await bench();
    const head = `host: x\r\nconnection: close\r\nkf-api-key: ${keys.acmeAdmin}\r\n\r\n`;
    expect(await raw(given, `GET /api/1.0/datasources/%zz HTTP/1.1\r\n${head}`)).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*"error_code":"bad_request"/,
    );
    expect(await raw(given, 'BREW /coffee\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error_code":"bad_request"/);
    const tooLarge = /^HTTP\/1\.1 400 [\s\S]*"The URL and the headers are larger than 16384 bytes"/;
    expect(await raw(given, `GET /api/1.0/profile HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n${head}`)).toMatch(tooLarge);
    expect(await raw(given, `GET /api/1.0/${'y'.repeat(20_000)} HTTP/1.1\r\n${head}`)).toMatch(tooLarge);
  });

  it('rejects in the envelope what HTTP/1.1 does not allow: no Host header, several, or another version', async () => {
    const given = await bench();
    const key = `connection: close\r\nkf-api-key: ${keys.acmeAdmin}\r\n`;
    for (const [line, hosts, text] of [
      ['HTTP/1.1', '', 'The request has no Host header'],
      ['HTTP/1.1', 'host: a\r\nHost: a\r\n', 'The request has several Host headers'],
      ['HTTP/1.0', 'host: a\r\nhost: b\r\n', 'The request has several Host headers'],
      ['HTTP/2.0', 'host: a\r\n', 'HTTP/2.0 is not supported'],
    ] as const) {
      const answer = await raw(given, `GET /api/1.0/profile ${line}\r\n${hosts}${key}\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error_code":"bad_request"/);
      expect(answer).toContain(`"${text}"`);
    }
    expect(await raw(given, `GET /api/1.0/profile HTTP/1.0\r\n${key}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('answers HEAD like GET, without a body', async () => {
    const given = await bench();
    const id = await given.source();
    const paths = ['/datasources', '/profile', `/datasources/${id}`, `/datasource-instances/${id}/data`, '/nothing'];
    expect((await given.call('HEAD', `/datasource-instances/${id}/data`)).status).toBe(404);
    await given.call('PUT', `/datasource-instances/${id}/data`, { body: '[1]' });
    for (const path of [...paths, `${paths[3]}?raw=true`, '/datasources?limit=0']) {
      const [head, get] = [await given.call('HEAD', path), await given.call('GET', path)];
      expect([path, head.status, head.text]).toEqual([path, get.status, '']);
      for (const name of ['content-type', 'content-length', 'etag']) {
        expect([path, name, head.headers[name]]).toEqual([path, name, get.headers[name]]);
      }
    }
    expect((await given.call('HEAD', '/profile', { key: null })).status).toBe(401);
    const { etag } = (await given.call('HEAD', paths[3]!)).headers as { etag: string };
    expect((await given.call('HEAD', paths[3]!, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  it('uses the envelope even for an expectation that Node itself would reject', async () => {
    const given = await bench();
    const key = `host: x\r\nconnection: close\r\nkf-api-key: ${keys.acmeAdmin}\r\n`;
    expect(await raw(given, `GET /api/1.0/profile HTTP/1.1\r\nexpect: tea\r\n${key}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    const unknown = `GET /api/1.0/profile HTTP/1.1\r\nhost: x\r\nexpect: tea\r\nconnection: close\r\n\r\n`;
    expect(await raw(given, unknown)).toMatch(/^HTTP\/1\.1 401 [\s\S]*"error_id":"[0-9a-f]{32}"/);
    expect(await raw(given, 'BREW /coffee\r\n\r\n')).toMatch(/"error_id":"[0-9a-f]{32}"/);
  });

  it('reads a body that arrives in many pieces the same way as one that arrives at once', async () => {
    const given = await bench();
    const piece = Buffer.from(`"${'ž'.repeat(40_000)}",`);
    const pieces = [Buffer.from('{"unknown":['), ...Array.from({ length: 10 }, () => piece)];
    const body = Readable.from([...pieces, Buffer.from('0],"name":"in pieces","format":"json"}')]);
    const made = await given.call('POST', '/datasources', { body });
    expect(made.status).toBe(201);
    expect((await given.call('GET', made.body.meta.location!)).body.data.name).toBe('in pieces');
  });

  it('accepts an empty body with a JSON content type if no field is required', async () => {
    const given = await bench();
    const id = await given.source();
    const headers = { 'content-type': 'application/json' };
    expect(
      (await given.call('POST', `/datasource-instances/${id}/@/refresh`, { headers, body: '' })).body.data,
    ).toEqual({ op_requested: 'refresh' });
    expect((await given.call('PUT', `/datasources/${id}`, { headers, body: '' })).status).toBe(200);
    expect((await given.call('POST', '/datasources', { headers, body: '' })).status).toBe(400);
    expect(
      (await given.call('POST', '/datasources', { headers: { 'content-type': 'x' }, body: '\ufeff{"name":"A"}' }))
        .status,
    ).toBe(201);
  });

  it('returns every envelope as JSON that contains the HTTP status', async () => {
    const given = await bench();
    for (const answer of [
      await given.call('GET', '/profile'),
      await given.call('GET', '/nothing'),
      await given.call('PUT', '/profile'),
    ]) {
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.body.meta.status).toBe(answer.status);
    }
  });

  it('hides internal errors behind an ID that is also in the log', async () => {
    const lines: { message: string; facts: object }[] = [];
    const note = (message: string, facts: object = {}): void => void lines.push({ message, facts });
    const log = { debug: note, info: note, warn: note, error: note, with: () => log };
    const given = await bench({ log });
    const { Database } = await import('../../src/service/store/database.ts');
    const { all } = Database.prototype;
    Database.prototype.all = () => {
      throw new Error('the secret inside');
    };
    const answer = await given.call('GET', '/datasources');
    Database.prototype.all = all;
    expect(errorOf(answer)).toEqual([500, 'internal_error']);
    expect(answer.text).not.toContain('secret');
    const line = lines.find(({ facts }) => JSON.stringify(facts).includes(answer.body.meta.error_id!));
    expect(JSON.stringify(line)).toContain('the secret inside');
  });
});

describe('the request log', () => {
  it("contains every request's arrival time, company and status, but no key", async () => {
    const file = join(await scratch(), 'requests.jsonl');
    const given = await bench({ requestLogFile: file });
    await given.call('GET', '/profile?full=true');
    await given.call('GET', '/profile', { key: 'not-a-real-key' });
    await given.call('GET', '/nothing');
    const entries = [...given.service.requestLog.entries];
    expect(entries).toMatchObject([
      { method: 'GET', path: '/api/1.0/profile', company: 'acme' },
      { path: '/api/1.0/profile', company: null },
      { path: '/api/1.0/nothing', company: 'acme' },
    ]);
    expect(entries[0]!.arrived).toBeLessThan(entries[1]!.arrived);
    expect(entries[1]!.arrived).toBeLessThan(entries[2]!.arrived);
    await given.close();
    const text = await readFile(file, 'utf8');
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: number });
    expect(lines.map(({ status }) => status)).toEqual([200, 401, 404]);
    expect(text + JSON.stringify(entries)).not.toMatch(new RegExp(`${keys.acmeAdmin}|not-a-real-key`));
  });
});

describe("the service's shutdown", () => {
  it("isn't blocked by a client with an open connection and an incomplete upload", async () => {
    const given = await bench();
    const id = await given.source();
    const socket = connect(given.service.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => undefined);
    socket.write(
      `PUT /api/1/datasources/${id}/data HTTP/1.1\r\nhost: x\r\nkf-api-key: ${keys.acmeAdmin}\r\ncontent-length: 9\r\n\r\n[`,
    );
    await until(() => given.service.requestLog.entries.length === 2);
    await given.service.close();
    await closed;
    expect(socket.destroyed).toBe(true);
  });
});
