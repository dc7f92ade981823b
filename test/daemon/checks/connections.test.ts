import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { limitConnections } from '../../../src/daemon/monitor/connections.ts';

/**
 * A server that allows two connections. It responds to `/` at once, and to other paths only when the test triggers it.
 */
async function listen() {
  const waiting: ServerResponse[] = [];
  const server = createServer(({ url }, response) => {
    if (url === '/') response.end('at once');
    else waiting.push(response);
    server.emit('asked');
  });
  limitConnections(server, 2);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const open = async (): Promise<Socket> => {
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    await accepted;
    return socket;
  };
  const ask = async (path: string): Promise<Socket> => {
    const socket = await open();
    const asked = once(server, 'asked');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await asked;
    return socket;
  };
  return { open, ask, waiting };
}

const answerOf = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0]);

describe('the connection limit', () => {
  it('closes the connection that has been idle longest, not one that is waiting for its response', async () => {
    const { open, ask, waiting } = await listen();
    const asking = await ask('/slow');
    const silent = await open();
    const next = open();
    await once(silent, 'close');
    await next;
    waiting[0]!.end('later');
    expect(await answerOf(asking)).toContain('later');
  });

  it('closes a keep-alive connection that has received its response', async () => {
    const { ask, open } = await listen();
    const answered = await ask('/');
    expect(await answerOf(answered)).toContain('at once');
    const held = await ask('/slow');
    const next = open();
    await once(answered, 'close');
    expect((await next).destroyed).toBe(false);
    expect(held.destroyed).toBe(false);
  });

  it("closes the oldest connection if all wait for responses, so that clients that don't read can't block others", async () => {
    const { ask } = await listen();
    const oldest = await ask('/slow');
    const closed = once(oldest, 'close');
    await ask('/slow');
    expect(await answerOf(await ask('/'))).toContain('at once');
    await closed;
  });
});
