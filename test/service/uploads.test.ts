import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { type Answer, type Bench, bench, keys, scratch, until } from './service.ts';

const dataOf = async (given: Bench, id: string): Promise<string> =>
  (await given.call('GET', `/datasource-instances/${id}/data?raw=true`)).text;

const upload = (
  given: Bench,
  id: string,
  body: string | Buffer | Readable,
  headers: Record<string, string> = {},
): Promise<Answer> => given.call('PUT', `/datasource-instances/${id}/data`, { body, headers });

/** A JSON array of exactly this many bytes. */
const jsonOf = (bytes: number, fill = 'x'): string => `["${fill.repeat(bytes - 4)}"]`;

/** Everything received on a raw connection, and the connection itself. */
function rawConnection(given: Bench): { socket: Socket; answered: () => string } {
  const socket = connect(given.service.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  return { socket, answered: () => text };
}

const head = (id: string, ...lines: string[]): string =>
  [
    `PUT /api/1.0/datasource-instances/${id}/data HTTP/1.1`,
    'host: x',
    `kf-api-key: ${keys.acmeAdmin}`,
    ...lines,
    '',
    '',
  ].join('\r\n');

describe('an upload', () => {
  it('can be read back byte for byte, with its size, hash and time', async () => {
    const given = await bench({ data: { folder: await scratch() } });
    const id = await given.source({ format: 'csv' });
    const body = '\ufeffid,note\r\n1,"a ""quoted"", line\nbreak"\r\n2,žluťoučký 🐎\r\n';
    expect((await upload(given, id, body)).body).toEqual({ meta: { success: true, status: 200 }, data: {} });
    const shown = await given.call('GET', `/datasource-instances/${id}/data?raw=true`);
    expect(Buffer.from(shown.text)).toEqual(Buffer.from(body).subarray(3));
    expect(shown.headers).toMatchObject({
      'content-type': expect.stringContaining('text/csv'),
      'content-length': String(Buffer.byteLength(body)),
      etag: `"${createHash('sha256').update(body).digest('hex')}"`,
    });
    const { data } = (await given.call('GET', `/datasource-instances/${id}`)).body;
    expect(data).toMatchObject({
      data_size: Buffer.byteLength(body),
      date_last_refresh: expect.stringMatching(/^20.*Z$/),
    });
    const detail = (await given.call('GET', `/datasources/${id}`)).body.data;
    expect(detail.date_last_refresh).toBe(data.date_last_refresh);
  });

  it('is not sent again to a client that has it already', async () => {
    const folder = await scratch();
    const given = await bench({ data: { folder } });
    const id = await given.source({ format: 'json' });
    await upload(given, id, '[1]');
    const ask = async (query: string, etag: string): Promise<unknown[]> => {
      const headers = { 'kf-api-key': keys.acmeAdmin, 'if-none-match': etag };
      const response = await fetch(`${given.service.url}/datasource-instances/${id}/data${query}`, { headers });
      return [response.status, response.headers.get('etag'), (await response.text()).length > 0];
    };
    const etag = `"${createHash('sha256').update('[1]').digest('hex')}"`;
    for (const query of ['', '?raw=true']) {
      for (const same of [etag, `W/${etag}`, `"a", ${etag}`, '*']) {
        expect(await ask(query, same)).toEqual([304, etag, false]);
      }
      expect(await ask(query, '"a"')).toEqual([200, etag, true]);
    }
    await until(async () => (await openFilesIn(join(folder, 'documents'))).length === 0);
    await upload(given, id, '[2]');
    expect((await ask('', etag))[0]).toBe(200);
  });

  it('with a condition replaces only the data that the client knows', async () => {
    const given = await bench({ data: { folder: await scratch() } });
    const id = await given.source({ format: 'json' });
    const path = `/datasource-instances/${id}/data`;
    const put = async (body: string, headers: Record<string, string>): Promise<unknown[]> => {
      const { status, body: answer } = await given.call('PUT', path, { headers, body });
      return [status, answer.meta.error_code];
    };
    const read = async () => (await given.call('GET', `${path}?raw=true`)).text;
    const etag = (body: string) => `"${createHash('sha256').update(body).digest('hex')}"`;
    const unmet = [412, 'precondition_failed'];
    expect(await put('[1]', { 'if-match': '*' })).toEqual(unmet);
    expect(await put('[1]', { 'if-none-match': '*' })).toEqual([200, undefined]);
    expect(await put('[2]', { 'if-none-match': '*' })).toEqual(unmet);
    for (const other of [etag('[2]'), `W/${etag('[1]')}`, ''])
      expect(await put('[2]', { 'if-match': other })).toEqual(unmet);
    expect(await read()).toBe('[1]');
    expect(await put('[2]', { 'if-match': `"a", ${etag('[1]')}` })).toEqual([200, undefined]);
    expect(await put('[3]', { 'if-match': '*', 'if-none-match': etag('[1]') })).toEqual([200, undefined]);
    const racing = ['[4]', '[5]', '[6]'].map((body) => put(body, { 'if-match': etag('[3]') }));
    expect((await Promise.all(racing)).map(([status]) => status).toSorted()).toEqual([200, 412, 412]);
  });

  it('of JSON with a byte order mark, as Windows programs write it, is rejected with the reason', async () => {
    const given = await bench();
    const id = await given.source({ format: 'json' });
    const { status, body } = await upload(given, id, '\ufeff[1]');
    expect([status, body.meta.error_desc]).toEqual([400, expect.stringContaining('a byte order mark')]);
    expect((await upload(given, id, '["\ufeff"]')).status).toBe(200);
  });

  // An R client parses date_last_refresh of every data source in the list, and stops at null.
  it('is required before an instance has data; until then, its refresh date is that of its creation', async () => {
    const clock = new SteppingClock('2026-03-01T12:00:00Z');
    const given = await bench({ clock });
    const id = await given.source();
    clock.advance(10_000);
    expect((await given.call('GET', `/datasource-instances/${id}/data?raw=true`)).status).toBe(404);
    const dates = async () => {
      const [source] = (await given.call('GET', '/datasources')).body.data.datasources as Record<string, unknown>[];
      const instance = (await given.call('GET', `/datasource-instances/${id}`)).body.data;
      return [source!.date_last_refresh, instance.date_last_refresh];
    };
    expect(await dates()).toEqual(['2026-03-01T12:00:00Z', '2026-03-01T12:00:00Z']);
    await upload(given, id, '[1]');
    expect(await dates()).toEqual(['2026-03-01T12:00:10Z', '2026-03-01T12:00:10Z']);
  });

  it("uses the source's format, whatever the content type says", async () => {
    const given = await bench();
    const documents = { csv: 'a,b\n1,2\n', json: '{"client_id": "unknown", "a": [1]}', xml: '<r><a>1</a></r>' };
    for (const [format, body] of Object.entries(documents)) {
      const id = await given.source({ format });
      for (const type of ['application/json', 'application/csv', 'nonsense;;;/', 'multipart/form-data', '']) {
        const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
        expect([format, type, (await upload(given, id, body, headers)).status]).toEqual([format, type, 200]);
      }
      expect(await dataOf(given, id)).toBe(body);
      expect((await upload(given, id, Readable.from([body.slice(0, 3), body.slice(3)]))).status).toBe(200);
      expect(await dataOf(given, id)).toBe(body);
    }
  });

  it.each([
    ['json', '[1,2'],
    ['json', '[1,\n2,,3]'],
    ['json', 'a,b\n1,2\n'],
    ['csv', 'a,b\n1,2\n1,2,3\n'],
    ['csv', 'a\n"open'],
    ['xml', '<r>\n<a></r>'],
    ['xml', '<r/><r/>'],
    ['json', ''],
    ['csv', ''],
    ['xml', ''],
    ['json', Buffer.from([0x5b, 0x22, 0xc3, 0x28, 0x22, 0x5d])],
    ['csv', Buffer.from([0x61, 0x0a, 0x00, 0xff, 0xfe])],
    ['xml', Buffer.from([0x89, 0x50, 0x4e, 0x47])],
  ])(
    "that isn't valid %s is rejected with the error's line or byte, and the old data is kept (%#)",
    async (format, body) => {
      const folder = await scratch();
      const given = await bench({ data: { folder } });
      const id = await given.source({ format });
      const good = { json: '[1]', csv: 'a\n1\n', xml: '<r/>' }[format]!;
      await upload(given, id, good);
      const answer = await upload(given, id, body);
      expect([answer.status, answer.body.meta.error_code]).toEqual([400, 'bad_request']);
      expect(answer.body.meta.error_desc).toMatch(body.length === 0 ? /empty/ : /line|byte/);
      expect(await dataOf(given, id)).toBe(good);
      expect(await readdir(join(folder, 'documents'))).toHaveLength(1);
    },
  );

  it('may have up to 10,485,760 bytes and not one more, with or without content-length', async () => {
    const given = await bench();
    const id = await given.source();
    const exact = jsonOf(10_485_760);
    const over = jsonOf(10_485_761, 'y');
    expect((await upload(given, id, exact)).status).toBe(200);
    for (const body of [over, Readable.from([over.slice(0, 5_000_000), over.slice(5_000_000)])]) {
      const answer = await upload(given, id, body);
      expect([answer.status, answer.body.meta.error_code]).toEqual([400, 'data_too_large']);
      expect(answer.body.meta.error_desc).toContain('10485760');
    }
    expect(await dataOf(given, id)).toBe(exact);
    expect((await upload(given, id, Readable.from([exact.slice(0, 9), exact.slice(9)]))).status).toBe(200);
  });

  it('is rejected while the source is disabled, and accepted again afterwards', async () => {
    const given = await bench();
    const id = await given.source();
    await upload(given, id, '[1]');
    await given.call('POST', `/datasources/${id}/@/disable`);
    expect((await given.call('GET', `/datasources/${id}`)).body.data.disabled).toBe(true);
    expect((await upload(given, id, '[2]')).body.meta).toMatchObject({ status: 403, error_code: 'forbidden' });
    expect(await dataOf(given, id)).toBe('[1]');
    await given.call('POST', `/datasources/${id}/@/enable`);
    expect((await upload(given, id, '[2]')).status).toBe(200);
  });

  it("can also be sent to its source's ID", async () => {
    const given = await bench();
    const id = await given.source();
    expect((await given.call('PUT', `/datasources/${id}/data`, { body: '[7]' })).status).toBe(200);
    expect(await dataOf(given, id)).toBe('[7]');
  });

  it('that runs at the same time as other uploads leaves exactly one complete document', async () => {
    const folder = await scratch();
    const given = await bench({ data: { folder } });
    const id = await given.source();
    const bodies = [...'abcdefgh'].map((letter) => jsonOf(300_000, letter));
    const slowly = async function* (body: string): AsyncGenerator<Buffer> {
      for (let at = 0; at < body.length; at += 30_000) {
        yield Buffer.from(body.slice(at, at + 30_000));
        await wait(1);
      }
    };
    const answers = await Promise.all(bodies.map((body) => upload(given, id, Readable.from(slowly(body)))));
    expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200));
    expect(bodies).toContain(await dataOf(given, id));
    expect(await readdir(join(folder, 'documents'))).toHaveLength(1);
  });

  it('that replaces data during a read lets the reader finish with the old data', async () => {
    const given = await bench({ data: { folder: await scratch() } });
    const id = await given.source();
    const old = jsonOf(9_000_000, 'o');
    await upload(given, id, old);
    const reads = Array.from({ length: 4 }, () => dataOf(given, id));
    const fresh = jsonOf(9_000_000, 'n');
    await upload(given, id, fresh);
    for (const text of await Promise.all(reads)) expect([old, fresh].includes(text)).toBe(true);
    expect((await dataOf(given, id)) === fresh).toBe(true);
  });

  it.each([
    ['deleted', 404],
    ['disabled', 403],
  ])('whose source is %s before its last byte arrives is rejected, and no file remains', async (what, status) => {
    const folder = await scratch();
    const given = await bench({ data: { folder } });
    const id = await given.source();
    const changed = Promise.withResolvers<void>();
    const body = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from('[1,');
      await changed.promise;
      yield Buffer.from('2]');
    };
    const sending = upload(given, id, Readable.from(body()));
    await until(async () => (await readdir(join(folder, 'documents'))).length === 1);
    if (what === 'deleted') await given.call('DELETE', `/datasources/${id}`);
    else await given.call('POST', `/datasources/${id}/@/disable`);
    changed.resolve();
    expect((await sending).status).toBe(status);
    expect(await readdir(join(folder, 'documents'))).toEqual([]);
  });

  it("that the client cancels midway doesn't change the old data and leaves no file", async () => {
    const folder = await scratch();
    const given = await bench({ data: { folder } });
    const id = await given.source();
    await upload(given, id, '[1]');
    for (const framing of ['content-length: 1000', 'transfer-encoding: chunked']) {
      const { socket } = rawConnection(given);
      socket.write(`${head(id, framing)}${framing.includes('chunked') ? '5\r\n[1,2,\r\n' : '[1,2,'}`);
      await until(async () => (await readdir(join(folder, 'documents'))).length === 2);
      socket.destroy();
      await until(async () => (await readdir(join(folder, 'documents'))).length === 1);
    }
    expect(await dataOf(given, id)).toBe('[1]');
  });

  it('that stops arriving is rejected after a timeout, and the old data is kept', async () => {
    const data = { folder: await scratch() };
    const before = await bench({ data });
    const id = await before.source();
    await upload(before, id, '[1]');
    await before.close();
    const given = await bench({ data, bodyIdleMs: 3_000 });
    const { socket, answered } = rawConnection(given);
    socket.write(`${head(id, 'content-length: 1000')}[1,2,`);
    await until(() => answered().includes('no part of the body arrived'));
    expect(answered()).toMatch(/^HTTP\/1\.1 400 /);
    await given.close();
    expect(await dataOf(await bench({ data }), id)).toBe('[1]');
  });

  it("with an Expect header gets 100 Continue if it's allowed, or an immediate error otherwise", async () => {
    const given = await bench();
    const id = await given.source();
    const asking = rawConnection(given);
    asking.socket.write(head(id, 'content-length: 3', 'expect: 100-continue'));
    await until(() => asking.answered().startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
    asking.socket.write('[5]');
    await until(() => asking.answered().includes('HTTP/1.1 200 OK'));
    expect(await dataOf(given, id)).toBe('[5]');
    for (const [target, length, expected] of [
      [id, 10_485_761, 'data_too_large'],
      ['unknown', 3, 'not_found'],
    ] as const) {
      const refused = rawConnection(given);
      refused.socket.write(head(target, `content-length: ${length}`, 'expect: 100-continue'));
      await until(() => refused.answered().includes(expected));
      expect(refused.answered()).not.toContain('100 Continue');
    }
  });

  it.each(['content-length: 20000000', 'transfer-encoding: chunked'])(
    'that is rejected at its first byte is read to its end (%s), for clients that read only after sending everything',
    async (framing) => {
      const given = await bench({ uploadLimitBytes: 30_000_000 });
      const id = await given.source();
      const { socket, answered } = rawConnection(given);
      const chunked = framing.endsWith('chunked');
      const piece = (text: string): string => (chunked ? `${text.length.toString(16)}\r\n${text}\r\n` : text);
      socket.pause();
      socket.write(`${head(id, framing)}${piece(`]${' '.repeat(9_999_999)}`)}`);
      await new Promise((done) => socket.write(piece(' '.repeat(10_000_000)) + (chunked ? '0\r\n\r\n' : ''), done));
      socket.write(head('unknown', 'content-length: 0'));
      socket.resume();
      await until(() => answered().includes('not_found'));
      expect(answered()).toMatch(/^HTTP\/1\.1 400 /);
    },
  );

  it('that is compressed is rejected, even if the compressed bytes are valid in the format', async () => {
    const given = await bench();
    const id = await given.source({ format: 'csv' });
    const refused = await upload(given, id, deflateRawSync('a'), { 'content-encoding': 'deflate' });
    expect([refused.status, refused.body.meta.error_desc]).toEqual([400, expect.stringContaining('deflate')]);
    expect((await upload(given, id, 'a,b\n', { 'content-encoding': 'identity' })).status).toBe(200);
    expect((await given.call('GET', `/datasource-instances/${id}`)).body.data.data_size).toBe(4);
  });

  it('of 200 MB increases memory by far less than 200 MB', async () => {
    const given = await bench({ data: { folder: await scratch() }, uploadLimitBytes: 300_000_000 });
    const id = await given.source({ format: 'csv' });
    const piece = Buffer.from(`${randomBytes(30).toString('hex')},${'v'.repeat(38)}\n`.repeat(10_000));
    const header = Buffer.from('a,b\n');
    const hash = createHash('sha256');
    const before = process.memoryUsage().rss;
    let peak = 0;
    const pieces = function* (): Generator<Buffer> {
      hash.update(header);
      yield header;
      for (let i = 0; i < 200; i++) {
        hash.update(piece);
        peak = Math.max(peak, process.memoryUsage().rss);
        yield piece;
      }
    };
    expect((await upload(given, id, Readable.from(pieces()))).status).toBe(200);
    const instance = (await given.call('GET', `/datasource-instances/${id}`)).body.data;
    expect(instance.data_size).toBe(header.length + 200 * piece.length);
    const stored = await fetch(`${given.service.url}/datasource-instances/${id}/data`, {
      headers: { 'kf-api-key': keys.acmeAdmin },
    });
    expect(stored.headers.get('etag')).toBe(`"${hash.digest('hex')}"`);
    await stored.body?.cancel();
    expect(peak - before).toBeLessThan(120_000_000);
  });
});

describe('a download that the client aborts', () => {
  it.each(['', '?raw=true'])('leaves no file open (%s)', async (query) => {
    const folder = await scratch();
    const given = await bench({ data: { folder } });
    const id = await given.source({ format: 'json' });
    await upload(given, id, jsonOf(4_000_000));
    const closedByCollector: string[] = [];
    const note = ({ message }: Error): unknown =>
      message.includes('garbage collection') && closedByCollector.push(message);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    for (let i = 0; i < 150; i++) {
      const { socket } = rawConnection(given);
      await once(socket, 'connect');
      socket.write(head(id).replace('PUT', 'GET').replace('/data ', `/data${query} `));
      setTimeout(() => socket.resetAndDestroy(), (i % 15) * 0.4);
      await wait(4);
    }
    await until(async () => (await openFilesIn(join(folder, 'documents'))).length === 0);
    // Garbage collection also closes forgotten files, but only at some time.
    expect(closedByCollector).toEqual([]);
  });
});

async function openFilesIn(folder: string): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  const files = await Promise.all(descriptors.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => '')));
  return files.filter((file) => file.startsWith(folder));
}
