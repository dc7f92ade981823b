import { afterEach, describe, expect, it } from 'vitest';
import { findFailover } from '../../src/daemon/conditions/failover.ts';
import type { Overview } from '../../src/daemon/report/overview.ts';
import type { StateDatabase } from '../../src/state/engine/state-database.ts';
import { openStore, type Store } from '../../src/state/store.ts';
import { forTest } from '../journey/process.ts';
import { reportMissing } from '../servers/describe.ts';
import { openPair, run as query } from '../servers/pair.ts';
import { hasPostgres } from '../servers/postgres.ts';
import { cleanUp, newFolder, oweText } from './fixtures.ts';

afterEach(cleanUp);

const owe = async (store: Store) => {
  const { run, owed } = await oweText(store, { instance: 'a', text: 'id\n1\n', asOf: store.clock.now() });
  if (!('id' in owed)) throw new Error(`the payload is ${owed.state}`);
  return { run, id: owed.id };
};

/** A process on a machine of its own. */
async function open(database: StateDatabase): Promise<Store> {
  const store = await openStore(newFolder(), { database });
  forTest(() => store.close());
  return store;
}

const databaseOf = ({ host, port, user, password, database }: Omit<StateDatabase, 'schema'>): StateDatabase => ({
  ...{ host, port, user, password, database, schema: 'sluice' },
});

const conditionsOf = (store: Store) => findFailover({ store, overview: { now: store.clock.now() } as Overview });

if (!hasPostgres()) reportMissing('failovers of a state in a database', ['PostgreSQL'], 'postgresql');
else
  describe('a state whose database fails over', () => {
    it('is distrusted once if replication was asynchronous, before any other transaction', async () => {
      const { address, endReplication, failOver, standby } = await openPair(false);
      const database = databaseOf(address);
      const [one, other] = [await open(database), await open(database)];
      const { run, id } = await owe(one);
      await one.watermarks.set({ job: 'orders', reading: 'r', text: '7', run });
      const lease = await one.leases.take('daemon');
      await endReplication();
      // The standby doesn't know that the lease was released, and its owner is alive.
      await lease?.release();
      await failOver();
      const states = await Promise.all([one, other].map((store) => store.transaction(({ outbox }) => outbox.find(id))));
      expect(states).toMatchObject([
        { state: 'dead', code: 'STATE_RESTORED' },
        { state: 'dead', code: 'STATE_RESTORED' },
      ]);
      expect(await one.watermarks.all()).toEqual([]);
      expect(await one.trust.lastFailover()).toMatchObject({ parked: 1 });
      expect(await conditionsOf(other)).toMatchObject([
        { kind: 'failover', what: expect.stringContaining("1 payload that was waiting won't be sent") },
      ]);
      expect(await other.leases.take('daemon')).toBeDefined();
      // What is owed from now on is trusted, also by processes that start later and after a restart.
      await one.watermarks.set({ job: 'orders', reading: 'r', text: '8', run });
      await standby.restart();
      await other.transaction(async () => undefined);
      const late = await open(database);
      expect(await late.watermarks.all()).toMatchObject([{ text: '8' }]);
    });

    it('is trusted after a failover to a synchronous standby, and after a restart', async () => {
      const { address, failOver, primary } = await openPair(true);
      const store = await open(databaseOf(address));
      const { id } = await owe(store);
      await primary.restart();
      expect(await store.transaction(({ outbox }) => outbox.find(id))).toMatchObject({ state: 'owed' });
      await failOver();
      expect(await store.transaction(({ outbox }) => outbox.find(id))).toMatchObject({ state: 'owed' });
      expect(await store.trust.lastFailover()).toBeUndefined();
      expect(await conditionsOf(store)).toEqual([]);
    });

    it('is distrusted if replication has become asynchronous since the state was opened', async () => {
      const { address, endReplication, failOver, primary } = await openPair(true);
      const database = databaseOf(address);
      const store = await open(database);
      const { id } = await owe(store);
      await query(primary, "alter system set synchronous_standby_names = ''");
      await query(primary, 'select pg_reload_conf()');
      // The server's processes read the setting only after a signal, so a transaction may still see the old one.
      const known = async () => {
        await store.transaction(async () => undefined);
        return store.settings.find('database.server');
      };
      await expect.poll(known).toContain('"is_synchronous":false');
      await endReplication();
      await failOver();
      const later = await open(database);
      expect(await later.outbox.find(id)).toMatchObject({ state: 'dead' });
    });
  });
