import pg from 'pg';
import { forTest } from '../journey/process.ts';
import { until } from '../journey/world.ts';
import { openGate } from './gate.ts';
import { startPostgres } from './postgres.ts';
import type { TestServer } from './server.ts';
import { startStandby } from './standby.ts';

/** Runs one statement, as the server's superuser. */
export async function run<T extends object>({ url }: TestServer, text: string): Promise<T[]> {
  const client = new pg.Client(url);
  await client.connect();
  return client
    .query(text)
    .then(({ rows }) => rows as T[])
    .finally(() => client.end());
}

/** A primary, a standby that streams from it, and an address that leads to the primary until `failOver`. */
export async function openPair(isSynchronous: boolean) {
  const primary = await startPostgres();
  forTest(() => primary.stop());
  const standby = await startStandby(primary);
  forTest(() => standby.stop());
  if (isSynchronous) {
    await run(primary, "alter system set synchronous_standby_names = '*'");
    await run(primary, 'select pg_reload_conf()');
    await until('the standby to be synchronous', async () => {
      const [row] = await run<{ sync_state: string }>(primary, 'select sync_state from pg_stat_replication');
      return row?.sync_state === 'sync';
    });
  }
  const gate = await openGate(primary.port, Number.POSITIVE_INFINITY, forTest);
  return {
    primary,
    standby,
    address: { ...primary, port: gate.port },
    /** The standby has everything that has been committed so far, and receives no more. */
    async endReplication(): Promise<void> {
      const [at] = await run<{ lsn: string }>(primary, 'select pg_current_wal_lsn()::text as lsn');
      await until('the standby to catch up', async () => {
        const text = `select pg_last_wal_replay_lsn() >= '${at!.lsn}' as has_all`;
        return (await run<{ has_all: boolean }>(standby, text))[0]!.has_all;
      });
      await run(standby, "alter system set primary_conninfo = ''");
      await run(standby, 'select pg_reload_conf()');
      await until('replication to end', async () => {
        return (await run(primary, 'select from pg_stat_replication')).length === 0;
      });
    },
    async failOver(): Promise<void> {
      await primary.kill();
      gate.aim(standby.port);
      await run(standby, 'select pg_promote()');
    },
  };
}
