import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Lingering, LingeringSocket } from '../../src/lib/lingering-socket.ts';
import { makeCertificates } from '../servers/certificates.ts';

const kinds = ['TCP', 'TLS'] as const;

const ofServer = makeCertificates(['IP:127.0.0.1']);

interface Ends {
  readonly client: LingeringSocket;
  /** What the client wraps. */
  readonly socket: Socket;
  readonly peer: Socket;
  /** What the client became after it was given up. */
  readonly lingering: Lingering[];
}

/** Both ends of a connection. */
async function connectBoth(kind: (typeof kinds)[number], lingerMs = 60_000): Promise<Ends> {
  const certificates = kind === 'TLS' ? await ofServer : undefined;
  const server: Server =
    certificates === undefined
      ? createServer({ allowHalfOpen: true })
      : createTlsServer({ ...certificates, allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const arrives = once(server, certificates === undefined ? 'connection' : 'secureConnection') as Promise<[Socket]>;
  const socket =
    certificates === undefined
      ? connect(port, '127.0.0.1')
      : connectTls({ port, host: '127.0.0.1', ca: certificates.ca });
  const [peer] = await arrives;
  if (socket.connecting) await once(socket, 'connect');
  peer.on('error', () => undefined);
  onTestFinished(async () => {
    socket.destroy();
    peer.destroy();
    server.close();
    await once(server, 'close');
  });
  const lingering: Lingering[] = [];
  const client = new LingeringSocket(socket, { lingerMs, onLinger: (one) => lingering.push(one) });
  client.on('error', () => undefined);
  return { client, socket, peer, lingering };
}

const textOf = async (stream: Socket | LingeringSocket, length: number): Promise<string> => {
  let text = '';
  while (text.length < length) {
    const [piece] = (await once(stream, 'data')) as [Buffer];
    text += piece.toString();
  }
  return text;
};

describe.each(kinds)('a %s connection with a lingering close', (kind) => {
  it('carries bytes in both directions, and ends when the peer ends it', async () => {
    const { client, peer, lingering } = await connectBoth(kind);
    const closed = Promise.all([once(client, 'close'), once(peer, 'close')]);
    client.cork();
    client.write('one ', 'latin1');
    client.write(Buffer.from('two'));
    client.uncork();
    expect(await textOf(peer, 7)).toBe('one two');
    peer.end('three');
    expect(await textOf(client, 5)).toBe('three');
    await closed;
    expect(lingering).toEqual([]);
  });

  it('half-closes when the client destroys it, and is closed once the peer has closed it', async () => {
    const { client, peer, lingering } = await connectBoth(kind);
    client.write('hello');
    expect(await textOf(peer, 5)).toBe('hello');
    client.destroy();
    peer.resume();
    await once(peer, 'end');
    peer.end();
    expect(await lingering[0]?.isClosed).toBe(true);
  });

  it('counts as closed if a response arrives late or the peer resets the connection', async () => {
    for (const how of ['answers', 'resets'] as const) {
      const { client, peer, lingering } = await connectBoth(kind);
      client.write('hello');
      await textOf(peer, 5);
      client.destroy();
      if (how === 'answers') peer.write('late');
      else peer.destroy();
      expect(await lingering[0]?.isClosed, how).toBe(true);
    }
  });

  it("doesn't count as closed if the peer doesn't close in time or the wait is canceled", async () => {
    for (const how of ['time', 'cut'] as const) {
      const { client, peer, lingering } = await connectBoth(kind, how === 'time' ? 20 : 60_000);
      client.write('hello');
      await textOf(peer, 5);
      client.destroy();
      if (how === 'cut') lingering[0]?.cut();
      expect(await lingering[0]?.isClosed, how).toBe(false);
    }
  });

  it('closes immediately if no response is pending', async () => {
    const { client, peer, lingering } = await connectBoth(kind);
    client.write('hello');
    await textOf(peer, 5);
    peer.write('hello yourself');
    await textOf(client, 14);
    client.destroy();
    peer.resume();
    await once(peer, 'end');
    expect(lingering).toEqual([]);
  });

  it("doesn't count as closed if it fails on the client's side", async () => {
    const { client, socket, peer, lingering } = await connectBoth(kind);
    client.write('hello');
    await textOf(peer, 5);
    const isClosed = once(client, 'close');
    socket.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
    await isClosed.catch(() => undefined);
    expect(await lingering[0]?.isClosed).toBe(false);
  });
});
