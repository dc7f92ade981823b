import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Surroundings } from '../../src/alerts/channel.ts';
import { testChannel } from '../../src/alerts/send-to.ts';
import type { AlertChannel } from '../../src/config/alerts.ts';
import { drip, openPeer } from '../peers/peer.ts';
import { secret } from './receiver.ts';

const post = {
  id: 'x',
  body: '{}',
  event: { type: 'opened', data: { title: 'title', text: 'text', open: 1 } },
} as never;
const http = (port: number) => `http://127.0.0.1:${port}/`;

const channels: Readonly<Record<string, (port: number, timeoutMs: number) => AlertChannel>> = {
  webhook: (port, timeoutMs) => ({ name: 'a', type: 'webhook', url: http(port), secret, timeoutMs }),
  teams: (port, timeoutMs) => ({ name: 'a', type: 'teams', url: http(port), timeoutMs }),
  slack: (port, timeoutMs) => ({ name: 'a', type: 'slack', url: http(port), timeoutMs }),
  heartbeat: (port, timeoutMs) =>
    ({ name: 'a', type: 'heartbeat', url: http(port), timeoutMs, jobs: [], everyMs: 60_000 }) as never,
  email: (port, timeoutMs) =>
    ({
      name: 'a',
      type: 'email',
      server: `smtp://127.0.0.1:${port}`,
      from: 'a@b.example',
      to: ['c@d.example'],
      tls: 'when offered',
      timeoutMs,
    }) as never,
  'email with TLS': (port, timeoutMs) =>
    ({
      name: 'a',
      type: 'email',
      server: `smtps://127.0.0.1:${port}`,
      from: 'a@b.example',
      to: ['c@d.example'],
      tls: 'required',
      timeoutMs,
    }) as never,
};

const around = (signal = new AbortController().signal): Surroundings => ({ signal, now: 0, folder: '/' });

it.each(Object.entries(channels))('%s times out and disconnects if its peer sends nothing', async (_, channel) => {
  const peer = await openPeer();
  expect((await testChannel(channel(peer.port, 1000), post, around())).ok).toBe(false);
  await expect.poll(peer.open).toBe(0);
});

it.each(Object.entries(channels))(
  "%s disconnects as soon as it's aborted, even while its peer sends nothing",
  async (_, channel) => {
    const peer = await openPeer();
    const stop = new AbortController();
    const sending = testChannel(channel(peer.port, 3_600_000), post, around(stop.signal));
    await expect.poll(peer.open).toBe(1);
    stop.abort();
    expect((await sending).ok).toBe(false);
    await expect.poll(peer.open).toBe(0);
  },
);

const drips: readonly [name: string, channel: keyof typeof channels, greeting: string, piece: string][] = [
  ['early hints', 'webhook', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
  ['headers', 'webhook', 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'],
  ['a body', 'heartbeat', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  ['a greeting', 'email', '', '220-mail.example\r\n'],
  ['extensions', 'email', '220 mail.example\r\n', '250-8BITMIME\r\n'],
];

it.each(drips)(
  "a peer that trickles %s can't keep a connection open past the timeout",
  async (_, name, greeting, piece) => {
    const peer = await openPeer((socket) => {
      socket.resume().write(greeting);
      drip(socket, piece);
    });
    // A heartbeat must receive its headers within this time.
    const timeoutMs = name === 'heartbeat' ? 5000 : 1000;
    const sent = await Promise.race([
      testChannel(channels[name]!(peer.port, timeoutMs), post, around()),
      wait(60_000, 'never' as const, { ref: false }),
    ]);
    expect(sent).toMatchObject({ ok: name === 'heartbeat' });
    await expect.poll(peer.open).toBe(0);
  },
);

const pipes = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;

it("a command's pipes are closed even if a child process still holds them open", async () => {
  const before = pipes();
  const command = ['sh', '-c', 'sleep 30 & exit 3'];
  const channel = { name: 'a', type: 'command', command, timeoutMs: 20_000 } as const;
  expect(await testChannel(channel, post, around())).toEqual({ ok: false, message: 'the program ended with 3' });
  await expect.poll(pipes).toBe(before);
});
