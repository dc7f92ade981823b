import { subscribe } from 'node:diagnostics_channel';
import type { DeliveryEvents } from '../../src/delivery/events.ts';
import { Gateway } from '../../src/delivery/gateway.ts';
import { settle } from '../../src/delivery/settle.ts';
import { Events } from '../../src/lib/events.ts';
import type { StateDatabase } from '../../src/state/engine/state-database.ts';
import { recover } from '../../src/state/recover.ts';
import { openStore } from '../../src/state/store.ts';
import { ShiftedClock } from '../clocks.ts';
import { draftOf, spool } from '../state/fixtures.ts';
import { deliverOwed, destinationAt, jobFor } from './fixtures.ts';

/** What a child process does; passed to it as JSON in the first argument. */
export interface Errand {
  readonly folder: string;
  /** The database of the state, if it's on a server. Its clock then is the server's. */
  readonly database?: StateDatabase;
  readonly url: string;
  readonly requestsPerDay: number;
  /** Instances for which payloads are enqueued before the delivery. */
  readonly instances: readonly string[];
  readonly text: string;
  /** Kills itself with SIGKILL at this event. */
  readonly dieAt?: string;
  /** Offset of this process's wall clock. */
  readonly skewMs?: number;
  /** Offset of this process's monotonic clock. */
  readonly laterMs?: number;
  /** The service's URL; by default, the test runs its own server. */
  readonly key?: string;
}

const errand = JSON.parse(process.argv[2] ?? '{}') as Errand;
subscribe('sluice', (message) => {
  if ((message as { name: string }).name === errand.dieAt) process.kill(process.pid, 'SIGKILL');
});
const { skewMs = 0, laterMs = 0, key, database } = errand;
const { emit } = new Events<DeliveryEvents>();
const shifted = new ShiftedClock({ wall: skewMs, ticks: laterMs });
const store = await openStore(errand.folder, database === undefined ? { clock: shifted } : { database });
const { clock } = store;
await recover(store);
const destination = destinationAt(errand.url, {
  requestsPerDay: errand.requestsPerDay,
  timeoutMs: 60_000,
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
  signal: AbortSignal.timeout(200_000),
  priority: 'schedule',
});
await gateway.close();
await store.close();
process.stdout.write(JSON.stringify(results.map(({ instance, state }) => [instance, state])));
