import { afterEach, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import {
  closeStages,
  commitText,
  deliverOwed,
  destinationAt,
  jobFor,
  listener,
  openGateway,
  openStage,
} from '../delivery/fixtures.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';

afterEach(async () => {
  await closeStages();
  await cleanUp();
});

const day = 24 * 60 * 60 * 1000;
const instances = Array.from({ length: 20 }, (_, i) => `i${i}`);

it('during a day offline, no payload is given up and retries are rare; afterwards, everything arrives soon', async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const { emit } = listener();
  const service = await openStage();
  // Nothing listens on port 1, so connections are refused immediately.
  const away = destinationAt('http://127.0.0.1:1/api/1.0');
  const there = destinationAt(service.url);
  const offline = openGateway({ store, destinations: [away], emit, clock });
  for (const instance of instances)
    await commitText(offline, { job: jobFor(away, instance), text: `rows of ${instance}` });

  const given = {
    signal: new AbortController().signal,
    priority: 'schedule' as const,
  };
  const results = await deliverOwed({ ...given, gateway: offline, until: clock.now() + day });
  expect(new Set(results.map(({ state }) => state))).toEqual(new Set(['waiting_retry']));
  expect(await store.outbox.inState('owed')).toHaveLength(instances.length);
  const knocks = (await store.outbox.inState('owed')).map(({ attempts }) => attempts);
  expect(knocks, 'no server was there to refuse anything').toEqual(instances.map(() => 0));
  const rows = await store.runs.history({ limit: 1000 });
  const paid = rows.reduce((sum, { requests }) => sum + requests, 0);
  expect(paid, 'one attempt per quarter of an hour at most, not one per payload').toBeLessThan(250);

  const online = openGateway({ store, destinations: [there], emit, clock });
  const after = await deliverOwed({ ...given, gateway: online, until: clock.now() + day });
  expect(new Set(after.map(({ state }) => state))).toEqual(new Set(['delivered']));
  expect(service.seen).toHaveLength(instances.length);
});
