import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Deliverer } from '../../src/delivery/deliverer.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';
import { closeStages, commitText, destinationAt, jobFor, listener, openGateway, openStage } from './fixtures.ts';

const running: Deliverer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((deliverer) => deliverer.stop()));
  await closeStages();
  await cleanUp();
});

describe('a slot', () => {
  it('is given back without a request if the process was stopped for too long after it took the slot', async () => {
    const clock = new SteppingClock(noon, { manual: true });
    const [store, stage, heard] = [await newStore({ clock }), await openStage(), listener()];
    const destination = destinationAt(stage.url);
    let pauseMs = 10_001;
    const transactionOn: typeof store.transactionOn = async (keys, work) => {
      const result = await store.transactionOn(keys, work);
      clock.advance(pauseMs);
      return result;
    };
    const paused = { ...store, transactionOn };
    const gateway = openGateway({ store: paused, destinations: [destination], clock, emit: heard.emit });
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
});
