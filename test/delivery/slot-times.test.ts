import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Deliverer } from '../../src/delivery/deliverer.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';
import {
  closeStages,
  commitText,
  deliverOwed,
  destinationAt,
  jobFor,
  listener,
  openGateway,
  openStage,
} from './fixtures.ts';

const running: Deliverer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((deliverer) => deliverer.stop()));
  await closeStages();
  await cleanUp();
});

describe('a slot', () => {
  it.each([
    { place: 'after it took the slot', isLate: false },
    { place: 'right before the first byte', isLate: true },
  ])('is given back without a request if the process was stopped for too long $place', async ({ isLate }) => {
    const clock = new SteppingClock(noon, { manual: true });
    const [store, stage, heard] = [await newStore({ clock }), await openStage(), listener()];
    const destination = destinationAt(stage.url);
    let pauseMs = 10_001;
    const transactionOn: typeof store.transactionOn = async (keys, work) => {
      const result = await store.transactionOn(keys, work);
      if (!isLate) clock.advance(pauseMs);
      return result;
    };
    const emit: typeof heard.emit = (...event) => {
      if (isLate && event[0] === 'upload.started') clock.advance(pauseMs);
      heard.emit(...event);
    };
    const paused = { ...store, transactionOn };
    const gateway = openGateway({ store: paused, destinations: [destination], clock, emit });
    await commitText(gateway, { job: jobFor(destination, 'i'), text: 'text' });
    const deliverer = new Deliverer(gateway);
    running.push(deliverer);
    deliverer.start();
    await expect.poll(heard.names).toContain('payload.waiting');
    expect(stage.seen).toEqual([]);
    expect(await store.outbox.inState('owed')).toMatchObject([{ attempts: 0, faults: 0, unanswered_at: null }]);
    expect(await store.sendSlots.underway('account')).toBe(0);
    pauseMs = 10_000;
    while (!heard.names().includes('payload.delivered')) {
      clock.advance(100);
      await wait(2);
    }
    expect(stage.seen).toHaveLength(1);
    expect(await store.receipts.all()).toMatchObject([{ certain: 1 }]);
  });

  /** Sends two payloads to an account on a server until the second one waits for its slot, which is already taken. */
  async function waitForSlot() {
    const clock = new SteppingClock(noon, { manual: true });
    const [store, stage, stop] = [await newStore({ clock }), await openStage(), new AbortController()];
    const destination = destinationAt(stage.url, { requestsPerSecond: 1 });
    let takesMs = 100;
    const transactionOn: typeof store.transactionOn = async (keys, work) => {
      const result = await store.transactionOn(keys, work);
      clock.advance(takesMs);
      takesMs = 0;
      return result;
    };
    const distant = { ...store, transactionOn, isOnServer: true };
    const gateway = openGateway({ store: distant, destinations: [destination], clock });
    for (const instance of ['i', 'j']) await commitText(gateway, { job: jobFor(destination, instance), text: 'text' });
    const delivered = deliverOwed({ gateway, signal: stop.signal, priority: 'schedule' });
    const underway = () => store.sendSlots.underway('account');
    await expect.poll(() => clock.slept).toEqual([912]);
    expect([await underway(), stage.seen.length]).toEqual([0, 1]);
    clock.advance(912);
    await expect.poll(() => clock.slept).toEqual([912, 100]);
    expect([await underway(), stage.seen.length]).toEqual([1, 1]);
    return { clock, store, stage, stop, delivered, underway };
  }

  it('on a server is taken as early as taking it lasts, and used when it is free', async () => {
    const { clock, stage, delivered } = await waitForSlot();
    clock.advance(100);
    expect(await delivered).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
    expect(stage.seen).toHaveLength(2);
  });

  it('that was taken early is given back if delivery stops before it is free', async () => {
    const { store, stage, stop, delivered, underway } = await waitForSlot();
    stop.abort();
    await delivered;
    expect([await underway(), stage.seen.length]).toEqual([0, 1]);
    expect(await store.outbox.inState('owed')).toMatchObject([{ attempts: 0, unanswered_at: null }]);
  });
});
