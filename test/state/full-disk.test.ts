import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { useDatabase } from '../../src/state/engine/database.ts';
import type { Store } from '../../src/state/store.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newFolder, newStore, Population } from './fixtures.ts';

afterEach(cleanUp);

/** Larger than all free pages of a new database. */
const large = 'x'.repeat(1_000_000);

/** A store whose database can't grow: SQLite itself reports SQLITE_FULL, after it has rolled back. */
async function fullStore(): Promise<{ store: Store; makeRoom(): Promise<void>; close(): Promise<void> }> {
  const folder = newFolder();
  const store = await newStore({ clock: systemClock, folder });
  // This is the store's own connection, because there is one per file and process.
  const { db, close } = useDatabase(join(folder, 'sluice.db'));
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
  const limit = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(db);
  await limit(rows[0]!.page_count);
  return { store, makeRoom: async () => void (await limit(1_000_000)), close };
}

describe('a transaction that SQLite itself rolled back', () => {
  it("fails with SQLite's original error, not with the redundant rollback's error", async () => {
    const { store, close } = await fullStore();
    const writing = store.transaction(async ({ settings }) => {
      await settings.set('small', 'x');
      await settings.set('large', large);
    });
    await expect(writing).rejects.toMatchObject({ code: 'STATE_FULL' });
    expect(await store.settings.find('small')).toBeUndefined();
    await close();
  });

  it('accepts no more statements, even if the caller ignored a failure', async () => {
    const { store, close } = await fullStore();
    const writing = store.transaction(async ({ settings }) => {
      await settings.set('before', 'x');
      await settings.set('large', large).catch(() => undefined);
      await settings.set('after', 'x').catch(() => undefined);
    });
    await expect(writing).rejects.toMatchObject({ code: 'STATE_FULL' });
    expect(await store.settings.find('before')).toBeUndefined();
    expect(await store.settings.find('after')).toBeUndefined();
    await close();
  });

  it('lets the store write again as soon as there is space', async () => {
    const { store, makeRoom, close } = await fullStore();
    const write = () => store.transaction(({ settings }) => settings.set('large', large));
    await expect(write()).rejects.toMatchObject({ code: 'STATE_FULL' });
    await makeRoom();
    await write();
    expect(await store.settings.find('large')).toBe(large);
    await close();
  });
});

/**
 * Two processes that share a state, and a function that makes the disk reject writes, as if it were remounted as
 * read-only.
 */
async function twoProcesses() {
  const folder = newFolder();
  const clock = new SteppingClock(noon, { manual: true });
  const population = new Population();
  const [mine, other] = [
    await newStore({ clock, folder, processes: population.member('mine') }),
    await newStore({ clock, folder, processes: population.member('other') }),
  ];
  const { db, close } = useDatabase(join(folder, 'sluice.db'));
  const freeze = (isFrozen: boolean) => sql.raw(`pragma query_only = ${isFrozen ? 1 : 0}`).execute(db);
  return { mine, other, clock, freeze, close };
}

const turnsOfTheLoop = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('while the disk rejects writes', () => {
  it('a released lease can be taken again by the same process as soon as the disk works again', async () => {
    const { mine, freeze, close } = await twoProcesses();
    const lease = await mine.leases.take('instance:a');
    await freeze(true);
    await lease?.release();
    await expect(mine.leases.take('instance:a')).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
    await freeze(false);
    expect(await mine.leases.take('instance:a')).toBeDefined();
    expect(await mine.leases.take('instance:a'), 'it is held again').toBeUndefined();
    await close();
  });

  it('a released lease can be taken by other processes soon after the disk works again', async () => {
    const { mine, other, clock, freeze, close } = await twoProcesses();
    const lease = await mine.leases.take('instance:a');
    await freeze(true);
    await lease?.release();
    await freeze(false);
    expect(await other.leases.take('instance:a')).toBeUndefined();
    clock.advance(10_000);
    await turnsOfTheLoop();
    expect(await other.leases.take('instance:a')).toBeDefined();
    await close();
  });

  it('a released send slot stays taken for a while, and then becomes free for all processes', async () => {
    const { mine, other, clock, freeze, close } = await twoProcesses();
    const first = await mine.sendSlots.take('account', 1);
    if (!('ticket' in first)) throw new Error('no slot');
    await freeze(true);
    await mine.sendSlots.release(first);
    await freeze(false);
    expect(await mine.sendSlots.take('account', 1)).toEqual({ freeInMs: undefined });
    clock.advance(10_000);
    await turnsOfTheLoop();
    clock.advance(10_000);
    expect(await other.sendSlots.take('account', 1)).toMatchObject({ slot: 0 });
    await close();
  });

  it('a released send slot blocks another process only for as long as the disk fails', async () => {
    const { mine, other, clock, freeze, close } = await twoProcesses();
    const first = await mine.sendSlots.take('account', 1);
    if (!('ticket' in first)) throw new Error('no slot');
    await freeze(true);
    await mine.sendSlots.release(first);
    await freeze(false);
    clock.advance(10_000);
    await turnsOfTheLoop();
    expect(await other.sendSlots.take('account', 1)).toEqual({ freeInMs: expect.any(Number) });
    clock.advance(2_000);
    expect(await other.sendSlots.take('account', 1)).toMatchObject({ slot: 0 });
    await close();
  });

  it('the release of a lease is retried when the store is closed', async () => {
    const { mine, other, freeze, close } = await twoProcesses();
    const lease = await mine.leases.take('instance:a');
    await freeze(true);
    await lease?.release();
    await freeze(false);
    await mine.close();
    expect(await other.leases.take('instance:a')).toBeDefined();
    await close();
  });
});
