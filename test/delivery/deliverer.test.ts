import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Deliverer } from '../../src/delivery/deliverer.ts';
import { dayOf, resumeAfter } from '../../src/delivery/quota.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';
import { closeStages, commitText, destinationAt, jobFor, listener, openGateway, openStage, say } from './fixtures.ts';

const running: Deliverer[] = [];

beforeEach(() => {
  running.length = 0;
});

afterEach(async () => {
  await Promise.all(running.map((deliverer) => deliverer.stop()));
  await closeStages();
  await cleanUp();
});

async function setUp(more = {}, clock = systemClock as typeof systemClock) {
  const store = await newStore({ clock });
  const stage = await openStage();
  const heard = listener();
  const destination = destinationAt(stage.url, more);
  const gateway = openGateway({ store, destinations: [destination], clock, emit: heard.emit });
  const deliverer = new Deliverer(gateway);
  running.push(deliverer);
  const owe = (instance: string) => commitText(gateway, { job: jobFor(destination, instance), text: instance });
  const delivered = () => heard.names().filter((name) => name === 'payload.delivered').length;
  return { store, stage, heard, gateway, deliverer, owe, delivered };
}

describe('the deliverer', () => {
  it('sends payloads whether they were already owed, added later or temporarily refused', async () => {
    const { stage, deliverer, owe, delivered } = await setUp();
    await owe('before');
    deliverer.start();
    await expect.poll(delivered).toBe(1);
    stage.script.push(say(500));
    await owe('later');
    deliverer.nudge();
    await expect.poll(delivered).toBe(2);
    expect(stage.seen).toHaveLength(3);
  });

  it("isn't blocked by a hanging upload", async () => {
    const { stage, deliverer, owe, delivered } = await setUp();
    stage.script.push(() => undefined);
    await owe('hangs');
    deliverer.start();
    await expect.poll(() => stage.seen).toHaveLength(1);
    await owe('quick');
    deliverer.nudge();
    await expect.poll(delivered).toBe(1);
    expect(stage.seen.at(-1)?.body).toBe('quick');
  });

  it("sends one request while the credentials are refused, and another one when it's told to retry", async () => {
    const { stage, deliverer, owe, delivered, heard } = await setUp();
    stage.otherwise = say(401, { code: 'auth_fail' });
    await owe('i');
    deliverer.start();
    await expect.poll(heard.names).toContain('login.refused');
    await wait(300);
    expect(stage.seen).toHaveLength(1);
    stage.otherwise = say(200);
    deliverer.nudge();
    await expect.poll(delivered).toBe(1);
  });

  it('continues shortly after midnight in New York, but not before', async () => {
    const clock = new SteppingClock(noon, { manual: true });
    const { store, stage, deliverer, owe, delivered, heard } = await setUp({ requestsPerDay: 1 }, clock);
    await owe('today');
    await owe('tomorrow');
    deliverer.start();
    await expect.poll(delivered).toBe(1);
    await expect.poll(heard.names).toContain('payload.waiting');
    const turn = resumeAfter('2026-06-15');
    clock.advance(turn - 1_000 - clock.now());
    await wait(200);
    expect(stage.seen).toHaveLength(1);
    while (delivered() < 2) {
      clock.advance(100);
      await wait(2);
    }
    expect(stage.seen).toHaveLength(2);
    expect(heard.names()).toContain('quota.reset');
    expect(await store.quota.use('account', dayOf(turn))).toMatchObject({ used: 1 });
  });

  it('stops within seconds while a request hangs, and leaves its payload owed', async () => {
    const { store, stage, deliverer, owe } = await setUp({ timeoutMs: 3_600_000 });
    stage.otherwise = () => undefined;
    await owe('i');
    deliverer.start();
    await expect.poll(() => stage.seen).toHaveLength(1);
    await deliverer.stop();
    expect(await store.outbox.inState('owed')).toMatchObject([{ attempts: 0 }]);
    await deliverer.stop();
  });

  it('stops immediately if there is nothing to do, or if it was never started', async () => {
    const never = await setUp();
    await expect(never.deliverer.stop()).resolves.toBeUndefined();
    const idle = await setUp();
    idle.deliverer.start();
    await expect(idle.deliverer.stop()).resolves.toBeUndefined();
    expect(idle.stage.seen).toEqual([]);
  });
});
