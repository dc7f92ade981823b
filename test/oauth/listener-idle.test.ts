import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Listener } from '../../src/oauth/listener.ts';

const servers = () => process.getActiveResourcesInfo().filter((name) => /^TCP/.test(name)).length;

it('a login ends although the browser keeps a connection open that it has not used', async () => {
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
}, 20_000);
