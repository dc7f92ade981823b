import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { useDatabase } from '../../src/state/database.ts';
import type { Store } from '../../src/state/store.ts';
import { cleanUp, newFolder, newStore } from './fixtures.ts';

afterEach(cleanUp);

/** Larger than all free pages of a new database. */
const large = 'x'.repeat(1_000_000);

/** A store whose database may not grow, as SQLite itself says it: SQLITE_FULL, after which it has rolled back. */
async function fullStore(): Promise<{ store: Store; makeRoom(): Promise<void>; close(): Promise<void> }> {
  const folder = newFolder();
  const store = await newStore({ clock: systemClock, folder });
  // The same connection: there is one per file and process.
  const { db, close } = useDatabase(join(folder, 'sluice.db'));
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
  const limit = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(db);
  await limit(rows[0]!.page_count);
  return { store, makeRoom: async () => void (await limit(1_000_000)), close };
}

describe('a transaction that SQLite itself has rolled back', () => {
  it('fails with what SQLite said first, not with the rollback that had nothing to do', async () => {
    const { store, close } = await fullStore();
    const writing = store.transaction(async ({ settings }) => {
      await settings.set('small', 'x');
      await settings.set('large', large);
    });
    await expect(writing).rejects.toMatchObject({ code: 'STATE_FULL' });
    expect(await store.settings.find('small')).toBeUndefined();
    await close();
  });

  it('takes no further statement, although the failure of one was swallowed', async () => {
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

  it('leaves a store that writes again as soon as there is room', async () => {
    const { store, makeRoom, close } = await fullStore();
    const write = () => store.transaction(({ settings }) => settings.set('large', large));
    await expect(write()).rejects.toMatchObject({ code: 'STATE_FULL' });
    await makeRoom();
    await write();
    expect(await store.settings.find('large')).toBe(large);
    await close();
  });
});
