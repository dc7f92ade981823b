import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Bench, bench, keys, scratch, until } from './service.ts';

interface Line {
  readonly socket: Socket;
  readonly answered: () => string;
  /** Resolves when the service has disconnected. */
  readonly ended: Promise<void>;
}

function lineTo({ service }: Bench): Line {
  const socket = connect(service.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  onTestFinished(() => void socket.destroy());
  return { socket, answered: () => text, ended };
}

/** Sends a string in pieces, again and again, until the service has responded or disconnected. */
async function drip({ socket, answered }: Line, piece: string): Promise<void> {
  while (!socket.destroyed && socket.writable && answered() === '') {
    socket.write(piece);
    await wait(20);
  }
}

function busy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

const head = (method: string, path: string, ...lines: string[]): string =>
  [`${method} /api/1.0${path} HTTP/1.1`, 'host: x', `kf-api-key: ${keys.acmeAdmin}`, ...lines, '', ''].join('\r\n');

/** Long enough for a request's headers, which a busy machine may read late. */
const bodyIdleMs = 2_000;

describe('a slow client', () => {
  it.each(['x-slow: 1\r\n', 'a'])(
    'that sends its headers slowly (%j at a time) is rejected after a timeout',
    async (piece) => {
      const given = await bench({ bodyIdleMs });
      const line = lineTo(given);
      line.socket.write('GET /api/1.0/profile HTTP/1.1\r\n');
      await drip(line, piece);
      await line.ended;
      expect(line.answered()).toMatch(/^HTTP\/1\.1 400 [\s\S]*did not arrive in time/);
    },
  );

  it('that sends nothing gets an error and is disconnected', async () => {
    const line = lineTo(await bench({ bodyIdleMs: 100 }));
    await line.ended;
    expect(line.answered()).toMatch(/^HTTP\/1\.1 400 [\s\S]*did not arrive in time/);
  });

  it('that sends nothing gets an error even on a busy machine', async () => {
    const given = await bench({ bodyIdleMs: 100 });
    const lines: Line[] = [];
    for (let i = 0; i < 60; i++) {
      const line = lineTo(given);
      lines.push(line);
      // A socket's callback is busy: timers that start after it treat the connection as that much older.
      if (i % 20 === 0) line.socket.on('connect', () => busy(150));
      await wait(5);
    }
    for (const line of lines) {
      await line.ended;
      expect(line.answered()).toMatch(/did not arrive in time/);
    }
  });

  it.each(['content-length: 100000', 'transfer-encoding: chunked'])(
    'that sends a document slowly (%s) is rejected, and the old data is kept',
    async (framing) => {
      // The short timeout is only for the slow request; on a busy machine, every request would reach it.
      const folder = await scratch();
      const before = await bench({ data: { folder } });
      const id = await before.source();
      await before.call('PUT', `/datasource-instances/${id}/data`, { body: '["old"]' });
      await before.close();
      const given = await bench({ bodyIdleMs, data: { folder } });
      const line = lineTo(given);
      line.socket.write(head('PUT', `/datasource-instances/${id}/data`, framing));
      await drip(line, framing.endsWith('chunked') ? '1\r\n[\r\n' : '[');
      expect(line.answered()).toMatch(/^HTTP\/1\.1 400 [\s\S]*too slowly/);
      await given.close();
      const after = await bench({ data: { folder } });
      expect((await after.call('GET', `/datasource-instances/${id}/data?raw=true`)).text).toBe('["old"]');
      expect(await readdir(join(folder, 'documents'))).toHaveLength(1);
    },
  );

  it.each([
    ['is too large', keys.acmeAdmin, 400],
    ['has a wrong key', 'wrong', 401],
    ['meets an injected response', keys.acmeViewer, 503],
  ])(
    'that reads late still receives the reason why an upload that %s was refused, even without connection reuse',
    async (_why, key, status) => {
      const given = await bench({ control: {} });
      const id = await given.source();
      if (status === 503) await given.control('POST', '/faults', { path: '/**', answer: { status } });
      const { socket, answered, ended } = lineTo(given);
      const failed: Error[] = [];
      socket.on('error', (error) => failed.push(error));
      const body = Buffer.alloc(20_000_000, ' ');
      const lines = ['connection: close', `content-length: ${body.length}`];
      socket.pause().write(head('PUT', `/datasource-instances/${id}/data`, ...lines).replace(keys.acmeAdmin, key));
      await new Promise((resolve) => socket.write(body, resolve));
      socket.resume();
      await ended;
      expect(failed).toEqual([]);
      expect(answered()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\nconnection: close\r\n`, 'i'));
    },
  );

  it('that sends a JSON body slowly is rejected', async () => {
    const given = await bench({ bodyIdleMs });
    const line = lineTo(given);
    line.socket.write(head('POST', '/datasources', 'content-length: 1000'));
    await drip(line, ' ');
    expect(line.answered()).toMatch(/^HTTP\/1\.1 400 [\s\S]*too slowly/);
  });

  it.each([
    ['in drops', '1\r\n \r\n'],
    ['as fast as it can', `10000\r\n${' '.repeat(65_536)}\r\n`],
  ])('that keeps sending a refused upload %s is disconnected', async (_how, piece) => {
    const given = await bench({ bodyIdleMs });
    const line = lineTo(given);
    line.socket.write(head('PUT', '/datasource-instances/unknown/data', 'transfer-encoding: chunked'));
    while (!line.socket.destroyed) {
      line.socket.write(piece);
      await wait(5);
    }
    await line.ended;
    expect(line.answered()).toMatch(/^HTTP\/1\.1 404 /);
  });

  it("that reads its response slowly delays neither other clients nor the service's shutdown", async () => {
    const given = await bench({ data: { folder: await scratch() } });
    const id = await given.source();
    await given.call('PUT', `/datasource-instances/${id}/data`, { body: `["${'x'.repeat(9_000_000)}"]` });
    for (let i = 0; i < 20; i++) {
      const { socket } = lineTo(given);
      socket.pause();
      socket.write(head('GET', `/datasource-instances/${id}/data?raw=true`));
    }
    expect((await given.call('GET', '/profile')).status).toBe(200);
    await given.close();
  });

  it('can pause between two large pieces', async () => {
    const given = await bench({ bodyIdleMs: 5_000 });
    const id = await given.source();
    const line = lineTo(given);
    line.socket.write(`${head('PUT', `/datasource-instances/${id}/data`, 'content-length: 60002')}[`);
    for (let i = 0; i < 6; i++) {
      line.socket.write(' '.repeat(10_000));
      await wait(1_100);
    }
    line.socket.write(']');
    await until(() => line.answered() !== '');
    expect(line.answered()).toMatch(/^HTTP\/1\.1 200 /);
  });
});
