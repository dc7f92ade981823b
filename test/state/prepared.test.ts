import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { useDatabase } from '../../src/state/engine/database.ts';
import { PendingWrites } from '../../src/state/engine/pending-writes.ts';
import { type BoundValue, prepared } from '../../src/state/engine/prepared.ts';
import { pendingPayloads } from '../../src/state/outbox/pending-payloads.ts';
import type { Store } from '../../src/state/store.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newStore, oweText, place } from './fixtures.ts';

afterEach(cleanUp);

async function newDatabase() {
  const store = await newStore({ clock: new SteppingClock() });
  const { db, close } = useDatabase(`${store.folder}/sluice.db`);
  onTestFinished(close);
  return { store, db };
}

describe('a compiled query', () => {
  const write = prepared((db, value: BoundValue<{ name: string; text: string }>) => {
    const change = { value: value('text') };
    return db
      .insertInto('settings')
      .values({ name: value('name'), ...change })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(change));
  });
  const read = prepared((db, value: BoundValue<{ name: string }>) =>
    db.selectFrom('settings').select(['name', 'value']).where('name', '=', value('name')).where('value', '<>', 'none'),
  );

  it('uses new values each time, and keeps the values that it was built with', async () => {
    const { db } = await newDatabase();
    for (const [name, text] of [
      ['a', 'one'],
      ['b', 'none'],
      ['a', 'two'],
    ] as const) {
      await write(db, { name, text });
    }
    expect(await read(db, { name: 'a' })).toEqual([{ name: 'a', value: 'two' }]);
    expect(await read(db, { name: 'b' })).toEqual([]);
  });

  it('runs in the given transaction, on any database', async () => {
    for (const { db } of [await newDatabase(), await newDatabase()]) {
      const failing = db.transaction().execute(async (inside) => {
        await write(inside, { name: 'a', text: 'lost' });
        expect(await read(inside, { name: 'a' })).toHaveLength(1);
        throw new Error('enough');
      });
      await expect(failing).rejects.toThrow('enough');
      expect(await read(db, { name: 'a' })).toEqual([]);
    }
  });
});

/**
 * How often SQLite prepared a statement that returns rows. Each time, its driver creates a function that builds the
 * rows.
 */
function countPreparing() {
  return vi.spyOn(globalThis, 'Function');
}

describe('the queries of every run', () => {
  const asked: [string, (store: Store, db: ReturnType<typeof useDatabase>['db']) => Promise<unknown>][] = [
    ['for send slots', (store) => store.sendSlots.look('a', [])],
    ['for owed payloads', (store) => store.outbox.inState('owed')],
    [
      'for the waiting payload of an instance',
      ({ folder, processes }, db) => {
        const clock = new SteppingClock();
        const ground = { db, clock, processes, folder, pending: new PendingWrites(clock) };
        return pendingPayloads(ground, { url: place.url, instance: 'orders' });
      },
    ],
  ];

  it.for(asked)('%s are prepared only once', async ([, ask]) => {
    const { store, db } = await newDatabase();
    await store.sendSlots.take('a', 5);
    await oweText(store, { instance: 'orders', text: 'one', asOf: noon });
    expect(await ask(store, db)).not.toEqual([]);
    const preparing = countPreparing();
    onTestFinished(() => preparing.mockRestore());
    for (let i = 0; i < 5; i++) await ask(store, db);
    expect(preparing).not.toHaveBeenCalled();
  });
});
