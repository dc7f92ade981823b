import { subscribe } from 'node:diagnostics_channel';
import type { DeliveryEvents } from '../../src/delivery/events.ts';
import { Gateway } from '../../src/delivery/gateway.ts';
import { settle } from '../../src/delivery/settle.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Events } from '../../src/lib/events.ts';
import { recover } from '../../src/state/recover.ts';
import { openStore } from '../../src/state/store.ts';
import { draftOf, spool } from '../state/fixtures.ts';
import { deliverOwed, destinationAt, jobFor } from './fixtures.ts';

/** What a child process is to do; handed over as JSON in its first argument. */
export interface Errand {
  readonly folder: string;
  readonly url: string;
  readonly requestsPerDay: number;
  /** Instances to owe something to, before delivering. */
  readonly instances: readonly string[];
  readonly text: string;
  /** Dies of SIGKILL on hearing this event. */
  readonly dieAt?: string;
  /** The wall clock of this process is off by this much. */
  readonly skewMs?: number;
  /** The monotonic clock of this process is ahead by this much. */
  readonly laterMs?: number;
  /** Of the service; without it, one that only a stage takes. */
  readonly key?: string;
}

const errand = JSON.parse(process.argv[2] ?? '{}') as Errand;
subscribe('sluice', (message) => {
  if ((message as { name: string }).name === errand.dieAt) process.kill(process.pid, 'SIGKILL');
});
const { skewMs = 0, laterMs = 0, key } = errand;
const clock = {
  ...systemClock,
  now: () => Date.now() + skewMs,
  monotonic: () => systemClock.monotonic() + laterMs,
};
const { emit } = new Events<DeliveryEvents>();
const store = await openStore(errand.folder, { clock });
await recover(store);
const destination = destinationAt(errand.url, {
  requestsPerDay: errand.requestsPerDay,
  timeoutMs: 20_000,
  ...(key === undefined ? {} : { credentials: { kind: 'api_key', key } }),
});
const gateway = new Gateway({ store, destinations: [destination], clock, emit });
for (const instance of errand.instances) {
  const job = jobFor(destination, instance);
  const run = await store.runs.begin({ job: job.name, origin: 'schedule' });
  const payload = spool(store, { run, text: `${errand.text} ${instance}`, asOf: clock.now() });
  await settle(gateway, { job, run, payload: draftOf(payload) });
}
const results = await deliverOwed({
  gateway,
  signal: AbortSignal.timeout(60_000),
  priority: 'schedule',
});
await gateway.close();
await store.close();
process.stdout.write(JSON.stringify(results.map(({ instance, state }) => [instance, state])));
