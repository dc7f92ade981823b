import { afterEach, describe, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newStore } from './fixtures.ts';

afterEach(cleanUp);

const day = '2026-06-15';
const days = () => [day];
const payer = (account: string, more: object = {}) => ({ name: 'main', url: 'http://one/1.0', account, ...more });

async function spend(store: Awaited<ReturnType<typeof newStore>>, account: string, requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) await store.quota.charge(account, day);
}

describe('a destination that switches to another account', () => {
  it("takes over the day's usage, other programs' usage, the allowance, and whether the day is closed", async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await store.accountHistory.track([payer('old')], days);
    await spend(store, 'old', 3);
    await store.quota.reconcile('old', day, { reported: 5, allowance: 9 });
    await store.quota.close('old', day, clock.now() + 1000);
    await store.accountHistory.track([payer('new')], days);
    expect(await store.quota.use('new', day)).toEqual(await store.quota.use('old', day));
    expect(await store.quota.use('new', day)).toMatchObject({ used: 5, others: 2, allowance: 9 });
  });

  it("counts no usage twice if it switches back, and doesn't take over earlier days' usage", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await store.accountHistory.track([payer('old')], days);
    await store.quota.charge('old', '2026-06-14');
    await spend(store, 'old', 3);
    await store.accountHistory.track([payer('new')], days);
    await spend(store, 'new', 2);
    await store.accountHistory.track([payer('old')], days);
    expect(await store.quota.use('old', day)).toMatchObject({ used: 5 });
    expect(await store.quota.use('new', '2026-06-14')).toMatchObject({ used: 0 });
  });

  it("keeps the last second's requests, including unanswered ones", async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await store.accountHistory.track([payer('old')], days);
    const first = await store.sendSlots.take('old', 2);
    if ('ticket' in first) await store.sendSlots.release(first);
    await store.sendSlots.take('old', 2);
    await store.accountHistory.track([payer('new')], days);
    expect(await store.sendSlots.take('new', 2)).toMatchObject({ freeInMs: expect.any(Number) });
    clock.advance(2000);
    expect(await store.sendSlots.take('new', 2)).toMatchObject({ account: 'new' });
  });

  it('takes over requests in progress into slots that it used before', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await store.accountHistory.track([payer('old')], days);
    const first = await store.sendSlots.take('old', 2);
    if ('ticket' in first) await store.sendSlots.release(first);
    clock.advance(2000);
    await store.accountHistory.track([payer('new')], days);
    expect(await store.sendSlots.underway('new')).toBe(0);
    for (let i = 0; i < 2; i++) await store.sendSlots.take('new', 2);
    await store.accountHistory.track([payer('old')], days);
    expect(await store.sendSlots.underway('old')).toBe(2);
    expect(await store.sendSlots.take('old', 2)).toMatchObject({ freeInMs: undefined });
  });

  it('takes over requests in progress for as long as they may arrive, and releases a finished one for both accounts', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await store.accountHistory.track([payer('old')], days);
    const first = await store.sendSlots.take('old', 2);
    await store.sendSlots.take('old', 2);
    await store.accountHistory.track([payer('new')], days);
    clock.advance(60_000);
    expect(await store.sendSlots.take('new', 2)).toEqual({ freeInMs: undefined });
    if ('ticket' in first) await store.sendSlots.release(first, [day]);
    expect(await store.sendSlots.take('old', 2)).toEqual({ freeInMs: 1_012 });
    expect(await store.sendSlots.take('new', 2)).toEqual({ freeInMs: 1_012 });
    expect(await store.quota.use('old', day), 'it ended on this day').toMatchObject({ used: 1 });
    expect(await store.quota.use('new', day)).toMatchObject({ used: 1 });
  });

  it('counts each request in progress of both accounts only once', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await store.accountHistory.track([payer('old')], days);
    await store.sendSlots.take('old', 5);
    await store.sendSlots.take('old', 5);
    await store.sendSlots.take('new', 5);
    await store.accountHistory.track([payer('new')], days);
    expect(await store.sendSlots.underway('new')).toBe(3);
    await store.accountHistory.track([payer('old')], days);
    expect(await store.sendSlots.underway('old')).toBe(3);
  });

  it("doesn't take over anything if the service's URL or the destination differs", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await store.accountHistory.track([payer('old')], days);
    await spend(store, 'old', 3);
    await store.accountHistory.track(
      [payer('moved', { url: 'http://two/1.0' }), payer('other', { name: 'other' })],
      days,
    );
    expect(await store.quota.use('moved', day)).toMatchObject({ used: 0 });
    expect(await store.quota.use('other', day)).toMatchObject({ used: 0 });
  });
});
