import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { Heartbeats, type HeartbeatsOptions } from '../../src/alerts/heartbeats.ts';
import type { Alerts } from '../../src/config/alerts.ts';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { makeCertificates } from '../servers/certificates.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';
import { openReceiver } from './receiver.ts';
import { minute } from './world.ts';

/** Heartbeats to one URL at an interval, on a clock that the test advances. */
async function beating(url: string, everyMs = 5 * minute) {
  onTestFinished(cleanUp);
  const clock = new SteppingClock(noon, { manual: true });
  const store = await newStore({ clock });
  const channel = { name: 'alive', type: 'heartbeat', url, jobs: [], everyMs, timeoutMs: 60_000 } as const;
  const alerts = { channels: new Map([['alive', channel]]) } as unknown as Alerts;
  const heard: object[] = [];
  const emit: HeartbeatsOptions['emit'] = (name, facts) => void heard.push({ name, ...facts });
  const { signal } = new AbortController();
  return { clock, store, heard, beats: new Heartbeats({ alerts, store, clock, emit, folder: '/', signal }) };
}

it('a heartbeat is sent when its interval has passed, and the rest of the interval is the time until the next one', async () => {
  const receiver = await openReceiver();
  const { clock, beats } = await beating(receiver.url);
  expect(beats.tick()).toBe(5 * minute);
  clock.advance(2 * minute);
  expect(beats.tick()).toBe(3 * minute);
  await beats.settled();
  expect(receiver.got).toHaveLength(1);
  clock.advance(3 * minute);
  expect(beats.tick()).toBe(5 * minute);
  await beats.settled();
  expect(receiver.got).toHaveLength(2);
});

it("a secret in a failed heartbeat's error message isn't stored or reported", async () => {
  registerSecret('hunter-of-secrets');
  onTestFinished(forgetSecrets);
  const { ca, key, cert } = await makeCertificates(['DNS:hunter-of-secrets.example']);
  const trusted = getCACertificates();
  onTestFinished(() => setDefaultCACertificates(trusted));
  setDefaultCACertificates([...trusted, ca]);
  const server = createServer({ key, cert });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { store, beats, heard } = await beating(`https://localhost:${port}/`);
  beats.tick();
  await beats.settled();
  const problem = expect.stringContaining('[redacted].example');
  expect(await store.alerts.channels()).toMatchObject([{ channel: 'alive', problem }]);
  expect(heard).toMatchObject([{ name: 'heartbeat.failed', problem }]);
});
