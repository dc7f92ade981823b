import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { resendDue } from '../../src/delivery/deliver.ts';
import { Deliverer } from '../../src/delivery/deliverer.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { atRest, cleanUp, newStore } from '../state/fixtures.ts';
import {
  closeStages,
  commitText,
  deliverOwed,
  destinationAt,
  jobFor,
  listener,
  openGateway,
  openStage,
  type Play,
  readBody,
  say,
  take,
} from './fixtures.ts';

const minute = 60_000;
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await closeStages();
  await cleanUp();
});

/** A service that applies the first upload only after it has accepted a newer one, so it shows the old rows. */
async function setUp(more = {}) {
  const clock = new SteppingClock(noon, { manual: true });
  const store = await newStore({ clock });
  const stage = await openStage();
  const heard = listener();
  const destination = destinationAt(stage.url, { timeoutMs: 60_000, ...more });
  const gatewayOf = (one: typeof destination) => openGateway({ store, destinations: [one], clock, emit: heard.emit });
  const gateway = gatewayOf(destination);
  const service = { shows: '' };
  const shown: Play = async (request, response, seen) => {
    await take(request, response, seen);
    service.shows = seen.body;
  };
  stage.otherwise = shown;
  const job = jobFor(destination, 'i');
  const given = { gateway, priority: 'schedule' } as const;
  const signal = new AbortController().signal;
  const send = async (text: string, by = gateway) => {
    clock.advance(1000);
    await commitText(by, { job, text });
    return deliverOwed({ ...given, gateway: by, signal });
  };
  stage.script.push(async (request, _, seen) => readBody(request, seen));
  // Only the first upload gets no response. The others do, even if they're slow on an overloaded machine.
  expect(await send('old', gatewayOf({ ...destination, timeoutMs: 2_000 }))).toMatchObject([
    { state: 'waiting_retry' },
  ]);
  expect(await send('new')).toMatchObject([{ state: 'delivered' }]);
  service.shows = 'old';
  const again = () => resendDue({ ...given, signal, isOurs: (name) => name === job.name });
  return { clock, store, stage, heard, gateway, service, send, again };
}

it('the last accepted payload is resent once if an older upload may have arrived late', async () => {
  const { clock, store, stage, heard, gateway, service } = await setUp();
  const deliverer = new Deliverer(gateway);
  stops.push(() => deliverer.stop());
  deliverer.start();
  const pass = async (stepMs: number, isSo: () => boolean) => {
    while (!isSo()) {
      await atRest(store);
      clock.advance(stepMs);
      await wait(2);
    }
  };
  const before = clock.now();
  await pass(5_000, () => clock.now() - before >= 9 * minute);
  expect(heard.names()).not.toContain('payload.repeated');
  // A request must begin within ten seconds after its slot was taken.
  await pass(1_000, () => heard.names().includes('payload.repeated'));
  expect(service.shows).toBe('new');
  const later = clock.now() + 15 * minute;
  await pass(5_000, () => clock.now() > later);
  expect(stage.seen.map(({ body }) => body)).toEqual(['old', 'new', 'new']);
});

it('a sync without a daemon resends the payload once the resend is due, but not before', async () => {
  const { clock, stage, service, again } = await setUp();
  await again();
  expect(stage.seen).toHaveLength(2);
  clock.advance(11 * minute);
  await again();
  expect(service.shows).toBe('new');
  await again();
  expect(stage.seen).toHaveLength(3);
});

it('runs that find the rows unchanged before the resend is due send nothing', async () => {
  const { clock, stage, send } = await setUp();
  for (let run = 0; run < 5; run++) {
    clock.advance(minute);
    await send('new');
  }
  expect(stage.seen).toHaveLength(2);
});

it('a run that finds the rows unchanged when the resend is due sends them in place of the resend', async () => {
  const { clock, stage, send, again } = await setUp();
  clock.advance(11 * minute);
  await send('new');
  await again();
  expect(stage.seen.map(({ body }) => body)).toEqual(['old', 'new', 'new']);
});

it("an attempt that never reached the service doesn't cause a resend", async () => {
  const { clock, store, stage, gateway, again, send } = await setUp();
  clock.advance(11 * minute);
  await again();
  await stage.close();
  // The client notices the closed connection only in the next ticks; until then, the service might have processed a
  // request.
  for (let turns = 0; turns < 10; turns++) await nextTurn();
  expect(await send('unreached')).toMatchObject([{ state: 'waiting_retry', problem: { code: 'DELIVERY_NO_ANSWER' } }]);
  await commitText(gateway, { job: jobFor(gateway.find('main')!.destination, 'i'), text: 'newest' });
  const [row] = await store.outbox.inState('owed');
  await store.outbox.delivered((await store.outbox.attempt(row!.id))!);
  expect(await store.resends.all()).toEqual([]);
});

it('a resend counts like any request, so it waits if no allowance is left', async () => {
  const { clock, store, stage, again } = await setUp({ requestsPerDay: 2 });
  clock.advance(11 * minute);
  await again();
  expect(stage.seen).toHaveLength(2);
  expect(await store.resends.all()).toHaveLength(1);
});

it('a resend that the service refuses is left to the next run', async () => {
  const { clock, store, stage, send, again } = await setUp();
  clock.advance(11 * minute);
  stage.script.push(say(404));
  await again();
  expect(await store.resends.all()).toEqual([]);
  await send('new');
  expect(stage.seen.map(({ body }) => body)).toEqual(['old', 'new', 'new', 'new']);
});

it('a resend without a response is retried later', async () => {
  const { clock, stage, again } = await setUp();
  clock.advance(11 * minute);
  stage.script.push(say(503));
  await again();
  await again();
  expect(stage.seen).toHaveLength(3);
  clock.advance(20 * minute);
  await again();
  await again();
  expect(stage.seen.map(({ body }) => body)).toEqual(['old', 'new', 'new', 'new']);
});

it.each([429, 404])("an upload refused with %i doesn't cause a resend", async (status) => {
  const clock = new SteppingClock(noon, { manual: true });
  const store = await newStore({ clock });
  const stage = await openStage();
  const destination = destinationAt(stage.url);
  const gateway = openGateway({ store, destinations: [destination], clock });
  const job = jobFor(destination, 'i');
  const given = {
    gateway,
    priority: 'schedule',
  } as const;
  const signal = new AbortController().signal;
  await commitText(gateway, { job, text: 'a' });
  await deliverOwed({ ...given, signal });
  clock.advance(1000);
  stage.script.push(say(status));
  await commitText(gateway, { job, text: 'b' });
  await deliverOwed({ ...given, signal });
  expect(await store.receipts.find({ url: destination.url, instance: 'i' })).toMatchObject({ certain: 1 });
  clock.advance(minute);
  await commitText(gateway, { job, text: 'c' });
  expect(await deliverOwed({ ...given, signal })).toMatchObject([{ state: 'delivered' }]);
  expect(await store.resends.all()).toEqual([]);
});
