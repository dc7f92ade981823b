import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Listener } from '../../src/oauth/listener.ts';

const servers = () => process.getActiveResourcesInfo().filter((name) => /^TCP/.test(name)).length;

it('a login ends even if the browser keeps an unused connection open', async () => {
  const before = servers();
  const listener = await Listener.open('http://127.0.0.1:0/back');
  const { port } = new URL(listener.redirectUri);
  const unused = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void unused.destroy());
  unused.on('error', () => undefined);
  await new Promise((resolve) => unused.once('connect', resolve));
  const closed = new Promise((resolve) => unused.once('close', resolve));
  const waiting = listener.wait(async () => 'redeemed', new AbortController().signal);
  const page = await fetch(`${listener.redirectUri}?code=x`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('Logged in');
  expect(await waiting).toBe('redeemed');
  await closed;
  await expect.poll(servers).toBeLessThanOrEqual(before);
});

/** Every address that starts with 127 is this machine's, but a listener on 127.0.0.1 uses only that one. */
const elsewhere = '127.0.0.2';

it.each(['127.0.0.1', 'localhost'])(
  "a login that redirects to %s doesn't listen on any other address",
  async (host) => {
    const listener = await Listener.open(`http://${host}:0/back`);
    onTestFinished(() => listener.close());
    const { port } = new URL(listener.redirectUri);
    expect((await fetch(`http://127.0.0.1:${port}/back`)).status).toBe(410);
    const socket = connect(Number(port), elsewhere);
    onTestFinished(() => void socket.destroy());
    const met = new Promise((resolve) => {
      socket
        .once('connect', () => resolve('connected'))
        .once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    });
    expect(await met).toBe('ECONNREFUSED');
  },
);
