import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/state/store.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newStore, oweText, place } from './fixtures.ts';

afterEach(cleanUp);

const key = { url: place.url, instance: 'i' };
const minute = 60_000;
const none = { code: 'DELIVERY_NO_ANSWER', message: 'none', free: false };

async function owe(store: Store, clock: SteppingClock, text: string): Promise<number> {
  clock.advance(1000);
  const { owed } = await oweText(store, { instance: 'i', text, asOf: clock.now() });
  if (owed.state !== 'owed') throw new Error(owed.state);
  return owed.id;
}

async function deliver(store: Store, id: number): Promise<void> {
  const row = await store.outbox.attempt(id);
  await store.outbox.delivered(row!);
  await store.payloads.releaseFormer(row!);
}

/** An attempt to send old bytes that has this outcome, followed by the delivery of newer ones. */
async function setUp(end: 'no answer' | 'refused' | 'cut' | 'answered while newer bytes waited' = 'no answer') {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const old = await owe(store, clock, 'old');
  const tried = await store.outbox.attempt(old);
  if (end === 'no answer') await store.outbox.postpone(old, none);
  if (end === 'refused') await store.outbox.postpone(old, { ...none, code: 'RATE_LIMITED', untaken: true });
  const fresh = await owe(store, clock, 'new');
  if (end === 'answered while newer bytes waited') await store.outbox.delivered(tried!);
  await deliver(store, fresh);
  return { clock, store, fresh };
}

describe('a payload accepted after an attempt to send different data', () => {
  it.for(['no answer', 'cut'] as const)(
    "is resent once, ten minutes later, if that attempt's outcome is unknown (%s)",
    async (end) => {
      const { clock, store, fresh } = await setUp(end);
      const [repeat] = await store.resends.all();
      expect(repeat).toMatchObject({ row: { id: fresh, state: 'delivered' } });
      expect(repeat!.dueAt).toBeGreaterThan(clock.now() + 9 * minute);
      expect(repeat!.dueAt).toBeLessThanOrEqual(clock.now() + 10 * minute + 1);
      clock.advance(repeat!.dueAt - clock.now());
      await store.resends.delivered((await store.resends.begin(repeat!))!);
      expect(await store.resends.all()).toEqual([]);
      expect(await store.receipts.find(key)).toMatchObject({ certain: 1, at: clock.now() });
      expect(await store.runs.find(repeat!.row.run)).toMatchObject({ requests: 2 });
    },
  );

  it.for(['refused', 'answered while newer bytes waited'] as const)(
    "isn't resent if that attempt was %s",
    async (end) => {
      const { store } = await setUp(end);
      expect(await store.resends.all()).toEqual([]);
    },
  );

  it.for(['no answer', 'cut, then answered'] as const)(
    "isn't resent if that attempt was long ago, even without a response (%s)",
    async (end) => {
      const clock = new SteppingClock();
      const store = await newStore({ clock });
      const former = await owe(store, clock, 'former');
      await store.outbox.attempt(former);
      clock.advance(1000);
      if (end === 'no answer') await store.outbox.postpone(former, none);
      else await deliver(store, former);
      clock.advance(11 * minute);
      await deliver(store, await owe(store, clock, 'newer'));
      expect(await store.resends.all()).toEqual([]);
    },
  );

  it('stays as it is if that attempt sent the same bytes', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const id = await owe(store, clock, 'a');
    await store.outbox.attempt(id);
    await store.outbox.postpone(id, none);
    await deliver(store, id);
    expect(await store.resends.all()).toEqual([]);
  });

  it('is resent if that attempt may have lasted until this upload began, no matter when that attempt began', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await store.outbox.attempt(await owe(store, clock, 'old'));
    clock.advance(30 * minute);
    const fresh = await owe(store, clock, 'new');
    await deliver(store, fresh);
    expect(await store.resends.all()).toMatchObject([{ row: { id: fresh }, dueAt: clock.now() + 1 + 10 * minute }]);
  });

  it("isn't resent while newer data waits, or after newer data was attempted", async () => {
    const { clock, store } = await setUp();
    const [repeat] = await store.resends.all();
    const newer = await owe(store, clock, 'newer');
    clock.advance(11 * minute);
    expect(await store.resends.begin(repeat!)).toBeUndefined();
    await store.outbox.attempt(newer);
    await store.outbox.postpone(newer, none);
    expect(await store.resends.begin(repeat!)).toBeUndefined();
    await store.outbox.markDead(newer, { code: 'REFUSED', message: 'no' });
    expect(await store.resends.begin(repeat!), 'it may show the newer ones').toBeUndefined();
  });

  it('keeps its file for a resend even if no payloads are kept', async () => {
    const { clock, store, fresh } = await setUp();
    const { path } = (await store.outbox.find(fresh))!;
    await store.payloads.release(path);
    expect(await store.payloads.forget(1)).toEqual({ payloads: 0, bytes: 0 });
    clock.advance(11 * minute);
    expect(await store.payloads.sweep()).not.toContain(path);
    expect(existsSync(path)).toBe(true);
    const [repeat] = await store.resends.all();
    const row = await store.resends.begin(repeat!);
    await store.resends.delivered(row!);
    await store.payloads.releaseFormer(row!);
    expect(existsSync(path)).toBe(false);
  });

  it.for(['unknown', 'known', 'refused'] as const)(
    "causes a resend of newer data only while its own resend's outcome is unknown (%s)",
    async (outcome) => {
      const { clock, store } = await setUp();
      clock.advance(11 * minute);
      const [repeat] = await store.resends.all();
      const row = await store.resends.begin(repeat!);
      if (outcome === 'known') await store.resends.delivered(row!);
      if (outcome === 'refused') await store.resends.postpone(row!, { waitMs: minute, ambiguous: false });
      const newest = await owe(store, clock, 'newest');
      await deliver(store, newest);
      const rows = (await store.resends.all()).map(({ row: { id } }) => id);
      expect(rows).toEqual(outcome === 'unknown' ? [newest] : []);
    },
  );

  it("waits if it could not be sent, and is superseded if the resend's own outcome is unknown", async () => {
    const { clock, store } = await setUp();
    clock.advance(10 * minute);
    const [repeat] = await store.resends.all();
    const row = await store.resends.begin(repeat!);
    await store.resends.postpone(row!, { waitMs: 15 * minute, ambiguous: true });
    expect((await store.resends.all()).map(({ dueAt }) => dueAt)).toEqual([clock.now() + 15 * minute]);
    await deliver(store, await owe(store, clock, 'newest'));
    const [other] = await store.resends.all();
    expect(other!.row.sha256).toBe((await store.receipts.find(key))!.sha256);
  });
});

describe('an attempt that was refused', () => {
  it("proves that the instance doesn't have its bytes", async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await deliver(store, await owe(store, clock, 'a'));
    const id = await owe(store, clock, 'b');
    const tried = await store.outbox.attempt(id);
    expect(await store.receipts.isDoubtful(key)).toBe(true);
    await store.outbox.refused(tried!);
    expect(await store.receipts.isDoubtful(key)).toBe(false);
  });

  it("doesn't resolve the uncertainty of an earlier attempt", async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await deliver(store, await owe(store, clock, 'a'));
    const id = await owe(store, clock, 'b');
    await store.outbox.attempt(id);
    await store.outbox.postpone(id, none);
    await store.outbox.refused((await store.outbox.attempt(id))!);
    expect(await store.receipts.isDoubtful(key)).toBe(true);
  });
});
