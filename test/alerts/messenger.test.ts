import { expect, it, onTestFinished } from 'vitest';
import { Messenger, type MessengerOptions } from '../../src/alerts/messenger.ts';
import type { AlertChannel, Alerts } from '../../src/config/alerts.ts';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';
import type { Store } from '../../src/state/store.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';
import { openMailServer } from './mail-server.ts';
import { openReceiver, secret } from './receiver.ts';
import { hour } from './world.ts';

/** A messenger with one channel and one waiting message, on a clock that the test advances. */
async function waiting(channel: (url: string) => AlertChannel) {
  onTestFinished(cleanUp);
  const clock = new SteppingClock(noon, { manual: true });
  const store = await newStore({ clock });
  const receiver = await openReceiver();
  const made = channel(receiver.url);
  const alerts = { channels: new Map([[made.name, made]]) } as Partial<Alerts> as Alerts;
  const heard: { name: string; facts: object }[] = [];
  const emit: MessengerOptions['emit'] = (name, facts) => void heard.push({ name, facts });
  const { signal } = new AbortController();
  const send = (by: Pick<Store, 'alerts' | 'leases'> = store): Promise<number | undefined> =>
    new Messenger({ store: by as Store, clock, emit, folder: '/', alerts }).sendDue(signal);
  const body = JSON.stringify({ type: 'alert.test', data: { title: 'orders failed', text: 'text' } });
  await store.alerts.tell({ id: 'one', channel: made.name, title: 'orders failed', body });
  return { clock, store, receiver, send, heard };
}

const webhook = (url: string): AlertChannel => ({ name: 'ops', type: 'webhook', url, secret, timeoutMs: 60_000 });

it('a message is retried only after the time that its receiver asked for', async () => {
  const { clock, receiver, send } = await waiting(webhook);
  receiver.answer(429, { 'retry-after': '120' });
  const began = clock.now();
  expect(await send()).toBe(began + 120_000);
  clock.advance(119_999);
  await send();
  expect(receiver.got).toHaveLength(1);
  clock.advance(1);
  await send();
  expect(receiver.got).toHaveLength(2);
});

it('a message is sent at once if the clock was set back so far that its retry would be more than an hour away', async () => {
  const { clock, store, receiver, send } = await waiting(webhook);
  const { sequence } = (await store.alerts.waiting())[0]!;
  const inAnHour = clock.now() + hour;
  await store.alerts.postpone(sequence, { problem: 'HTTP 503', nextAt: inAnHour });
  expect(await send()).toBe(inAnHour);
  expect(receiver.got).toEqual([]);
  await store.alerts.postpone(sequence, { problem: 'HTTP 503', nextAt: inAnHour + 1 });
  expect(await send()).toBeUndefined();
  expect(receiver.titles()).toEqual(['orders failed']);
});

it('a message that another process sends while this one waits for the lease is sent once', async () => {
  const { store, receiver, send } = await waiting(webhook);
  const { alerts, leases } = store;
  const take = async (name: string) => {
    await send();
    return leases.take(name);
  };
  await send({ alerts, leases: { take } as typeof leases });
  expect(receiver.titles()).toEqual(['orders failed']);
});

it("a secret in a mail server's error message isn't stored or reported", async () => {
  registerSecret('hunter-of-secrets');
  onTestFinished(forgetSecrets);
  const server = await openMailServer({ onRcptTo: (_, __, done) => done(new Error('no hunter-of-secrets here')) });
  const { store, send, heard } = await waiting(() => ({
    name: 'mail',
    type: 'email',
    server: `smtp://127.0.0.1:${server.port}`,
    user: undefined,
    password: undefined,
    from: 'a@b.example',
    to: ['c@d.example'],
    tls: 'when offered',
    timeoutMs: 60_000,
  }));
  await send();
  const problem = expect.stringContaining('no [redacted] here');
  expect(await store.alerts.waiting()).toMatchObject([{ problem }]);
  expect(heard.at(-1)).toMatchObject({ name: 'alert.unsent', facts: { problem } });
});
