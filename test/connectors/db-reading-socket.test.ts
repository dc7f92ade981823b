import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ReadingSocket } from '../../connectors/db/reading-socket.ts';

async function connected() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const socket = new ReadingSocket();
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[peer]] = (await Promise.all([accepted, once(socket, 'connect')])) as [[Socket], unknown];
  onTestFinished(() => {
    socket.destroy();
    peer.destroy();
    server.close();
  });
  const kept: Buffer[] = [];
  socket.on('data', (bytes) => kept.push(bytes as Buffer));
  const send = async (text: string) => {
    const arrived = once(socket, 'data');
    peer.write(text);
    await arrived;
  };
  return { socket, peer, kept, send };
}

it('returns copies that stay unchanged until it starts to lend its memory', async () => {
  const { kept, send } = await connected();
  await send('first');
  await send('other');
  expect(kept.map(String)).toEqual(['first', 'other']);
});

it("lends the same memory repeatedly until it's told to stop", async () => {
  const { socket, kept, send } = await connected();
  socket.startLending();
  await send('first');
  await send('other');
  expect(kept.map(String)).toEqual(['other', 'other']);
  socket.stopLending();
  await send('third');
  await send('final');
  expect(kept.map(String).slice(2)).toEqual(['third', 'final']);
});

it('reads nothing while paused, then everything up to the end', async () => {
  const { socket, peer, kept } = await connected();
  const ended = once(socket, 'end');
  socket.pause();
  const bytes = Buffer.alloc(3_000_000, 'x');
  peer.end(bytes);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const early = kept.length;
  socket.resume();
  await ended;
  expect(early).toBeLessThanOrEqual(1);
  expect(kept.reduce((sum, piece) => sum + piece.length, 0)).toBe(bytes.length);
});
