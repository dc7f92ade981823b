import { afterEach, describe, expect, it } from 'vitest';
import type { Destination, JobPriority } from '../../src/config/config.ts';
import { Gateway } from '../../src/delivery/gateway.ts';
import { rankOfPayload } from '../../src/delivery/importance.ts';
import { noon, SteppingClock } from '../clocks.ts';
import fc from '../property.ts';
import { cleanUp, newStore, oweText } from '../state/fixtures.ts';
import {
  closeStages,
  commitText,
  deliverOwed,
  destinationAt,
  jobFor,
  listener,
  openStage,
  type Stage,
} from './fixtures.ts';

afterEach(async () => {
  await closeStages();
  await cleanUp();
});

const day = 86_400_000;
const priorities: Record<string, JobPriority> = { 'job-vip': 'high', 'job-usual': 'normal', 'job-later': 'low' };

/** Enqueues data for instances with these names, in this order and one second apart. */
async function oweAll(names: readonly string[], limits: Partial<Destination>) {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const stage = await openStage();
  const destination = destinationAt(stage.url, { requestsPerSecond: 1, ...limits });
  const priorityOf = (job: string) => priorities[job];
  const gateway = new Gateway({ store, destinations: [destination], clock, emit: listener().emit, priorityOf });
  const owe = async (name: string) => {
    clock.advance(1000);
    await commitText(gateway, { job: jobFor(destination, name), text: `${name} at ${clock.now()}` });
  };
  for (const name of names) await owe(name);
  const deliver = () =>
    deliverOwed({
      gateway,
      signal: AbortSignal.timeout(200_000),
      priority: 'schedule',
    }).finally(() => gateway.close());
  return { clock, stage, owe, deliver };
}

const namesIn = ({ seen }: Stage) => seen.map(({ path }) => path.split('/').at(-2));

describe('an owed payload', () => {
  it('is sent by importance, then by age', async () => {
    const { stage, deliver } = await oweAll(['later', 'a', 'usual', 'vip', 'b'], {});
    await deliver();
    // The first payload is taken as soon as it's seen; by the time it's sent, the others are in the queue.
    expect(namesIn(stage).slice(1)).toEqual(['vip', 'a', 'usual', 'b']);
    expect(namesIn(stage)[0]).toBe('later');
  });

  it("of low importance leaves the day's last requests to important payloads, and the reserve to users", async () => {
    const names = ['first', 'later', 'usual', 'vip'];
    const { stage, deliver } = await oweAll(names, { requestsPerDay: 5, reserveRequests: 2 });
    const results = await deliver();
    expect(namesIn(stage)).toEqual(['first', 'vip', 'usual']);
    expect(results.map(({ state }) => state)).toEqual(['delivered', 'waiting_quota', 'delivered', 'delivered']);
  });

  it('that has waited for days is sent before important payloads, even if newer data replaced it every hour', async () => {
    const { clock, stage, owe, deliver } = await oweAll(['first', 'later'], {});
    for (let hour = 0; hour < 3 * 24; hour++) {
      clock.advance(3_600_000);
      await owe('later');
    }
    await owe('vip');
    await deliver();
    expect(namesIn(stage)).toEqual(['first', 'later', 'vip']);
  });
});

describe("an instance's waiting time", () => {
  it('starts over after a delivery', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const { owed } = await oweText(store, { instance: 'i', text: 'a', asOf: noon });
    if (owed.state !== 'owed') throw new Error(owed.state);
    clock.advance(day);
    const second = await oweText(store, { instance: 'i', text: 'b', asOf: noon + day });
    if (second.owed.state !== 'owed') throw new Error(second.owed.state);
    const row = await store.outbox.attempt(second.owed.id);
    expect(row).toMatchObject({ owed_at: noon + day, waiting_since: noon });
    await store.outbox.delivered(row!);
    clock.advance(day);
    await oweText(store, { instance: 'i', text: 'c', asOf: noon + 2 * day });
    expect(await store.outbox.inState('owed')).toMatchObject([{ waiting_since: noon + 2 * day }]);
  });
});

it("a payload's rank grows with its wait and its priority, and is never lower than its job's", () => {
  const priority = fc.constantFrom<JobPriority>('high', 'normal', 'low');
  fc.assert(
    fc.property(priority, fc.integer(), fc.nat(100 * day), fc.nat(day), (own, since, waited, more) => {
      const at = (now: number, priority = own) => rankOfPayload({ waiting_since: since }, { priority, now });
      expect(at(since + waited + more)).toBeGreaterThanOrEqual(at(since + waited));
      expect(at(since - waited)).toBe(at(since));
      expect(at(since + waited, 'high')).toBeGreaterThanOrEqual(at(since + waited, 'normal'));
      expect(at(since + waited, 'normal')).toBeGreaterThan(at(since + waited, 'low'));
    }),
  );
});
