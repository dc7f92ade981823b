import pg from 'pg';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { PlannerLock } from '../../src/state/engine/engine.ts';
import { jobLock } from '../../src/state/engine/lock-keys.ts';
import type { StateDatabase } from '../../src/state/engine/state-database.ts';
import type { Store } from '../../src/state/store.ts';
import { describeWithServer, reportMissing } from '../servers/describe.ts';
import { hasPgbouncer, type PoolMode, startPgbouncer } from '../servers/pgbouncer.ts';
import type { TestServer } from '../servers/server.ts';
import { cleanUp, newFolder, newStore, oweText } from '../state/fixtures.ts';

if (!hasPgbouncer()) reportMissing('a state behind PgBouncer', ['PgBouncer'], 'pgbouncer');
else describeWithServer({ servers: 'PostgreSQL' }, 'a state behind PgBouncer', describeStates);

function describeStates(server: () => TestServer): void {
  afterEach(cleanUp);

  describe.each(['session', 'transaction'] as const)('in %s mode', (mode: PoolMode) => {
    it('has one planner at a time, and another one as soon as its connection breaks', async () => {
      const pgbouncer = await startPgbouncer(server(), mode, { settings: { default_pool_size: 10 } });
      onTestFinished(() => pgbouncer.stop());
      const { host, port, user, password, database } = pgbouncer;
      const state: StateDatabase = { host, port, user, password, database, schema: `elected_${mode}` };
      const locks: PlannerLock[] = [];
      for (let n = 0; n < 3; n++) locks.push((await newStore({ folder: newFolder(), database: state })).plannerLock!());
      const [first, second, third] = locks;
      const holders = async () => (await Promise.all(locks.map((lock) => lock.tryAcquire()))).filter(Boolean).length;
      expect(await first!.tryAcquire()).toBe(true);
      // Far more statements than connections, so that the pooler would mix up sessions.
      for (let n = 0; n < 20; n++) expect(await holders()).toBe(1);
      expect(await second!.tryAcquire()).toBe(false);
      await first!.close();
      // The pooler tells the server a moment later.
      await expect.poll(() => second!.tryAcquire()).toBe(true);
      expect(await third!.tryAcquire()).toBe(false);
      await pgbouncer.admin(`kill ${database}`);
      await pgbouncer.admin(`resume ${database}`);
      await expect.poll(holders).toBe(1);
      for (const lock of locks) await lock.close();
    });

    it('is shared by processes, loses no write, and leaves no settings for the next client', async () => {
      const pgbouncer = await startPgbouncer(server(), mode, { settings: { default_pool_size: 40 } });
      onTestFinished(() => pgbouncer.stop());
      const { host, port, user, password, database } = pgbouncer;
      const state: StateDatabase = { host, port, user, password, database, schema: `behind_${mode}` };
      const stores: Store[] = [];
      for (let n = 0; n < 3; n++) stores.push(await newStore({ folder: newFolder(), database: state }));
      const [first] = stores;
      await first!.settings.set('count', '0');
      const increment = (store: Store) =>
        store.transaction(async ({ settings }) => {
          await settings.set('count', String(Number(await settings.find('count')) + 1));
        });
      await Promise.all(Array.from({ length: 60 }, (_, nth) => increment(stores[nth % 3]!)));
      expect(await first!.settings.find('count')).toBe('60');
      await first!.schedules.set({ job: 'a', schedule: 'x', next_at: 0 });
      const delay = (store: Store) =>
        store.transactionOn([jobLock('a')], async ({ schedules }) => {
          await schedules.set({ job: 'a', schedule: 'x', next_at: (await schedules.find('a'))!.next_at + 1 });
        });
      await Promise.all(Array.from({ length: 60 }, (_, nth) => delay(stores[nth % 3]!)));
      expect(await first!.schedules.find('a')).toMatchObject({ next_at: 60 });
      await oweText(first!, { instance: 'kpi', text: 'id\n1\n', asOf: Date.now() });
      expect(await stores[1]!.outbox.inState('owed')).toHaveLength(1);
      const next = new pg.Client({ ...state, ssl: false });
      await next.connect();
      onTestFinished(() => next.end());
      const shown = await next.query('show lock_timeout; show idle_in_transaction_session_timeout');
      expect((shown as unknown as pg.QueryResult[]).flatMap(({ rows }) => rows.map(Object.values))).toEqual([
        ['0'],
        ['0'],
      ]);
    });
  });
}
