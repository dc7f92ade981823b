import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchText, type Extraction } from '#sdk';
import { check, extract, problemOf, read, readOn } from '../connectors/db-reader.ts';
import { forSuite, forTest } from '../journey/process.ts';
import { describeWithServer } from '../servers/describe.ts';
import { openGate } from '../servers/gate.ts';
import type { TestServer } from '../servers/server.ts';
import { startStandby } from '../servers/standby.ts';

const rows = 40_000;
/** More than all buffers along the way can hold, so a reader that stops is in the middle. */
const query = { sql: "select id, v, repeat('x', 1000) as fill from orders", fetch_rows: 100 };
const ids = Array.from({ length: rows }, (_, i) => String(i + 1));

describeWithServer({ servers: 'PostgreSQL' }, 'a PostgreSQL hot standby', (primary) => {
  const scope = forSuite();
  let admin: pg.Client;
  beforeAll(async () => {
    admin = new pg.Client(primary().url);
    await admin.connect();
  });
  afterAll(() => admin.end());

  /** A standby that is up to date and has a new table of orders. */
  async function follow(
    settings: Record<string, string | number> = {},
  ): Promise<TestServer & { run(sql: string): Promise<void> }> {
    await admin.query(`drop table if exists orders; create table orders (id int primary key, v int);
      insert into orders select g, 0 from generate_series(1, ${rows}) g`);
    const standby = await startStandby(primary(), { settings });
    scope(() => standby.stop());
    const run = async (sql: string) => {
      const client = new pg.Client(standby.url);
      await client.connect();
      await client.query(sql).finally(() => client.end());
    };
    return { ...standby, run };
  }

  /** Resolves when the standby shows what the primary has written. */
  async function untilReplayed(standby: TestServer): Promise<void> {
    const asked = 'select pg_current_wal_lsn()::text as at';
    const { at } = (await admin.query(asked)).rows[0] as { at: string };
    const client = new pg.Client(standby.url);
    await client.connect();
    while (!(await client.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as ok', [at])).rows[0].ok)
      await wait(10);
    await client.end();
  }

  /** The IDs that a read returns if `act` happens after its first batch. */
  async function idsOf({ batches }: Extraction, act: () => Promise<unknown>): Promise<(string | null)[]> {
    const found: (string | null)[] = [];
    for await (const batch of batches) {
      const first = found.length === 0;
      found.push(...batchText(batch).map(([id]) => id!));
      if (first) await act();
    }
    return found;
  }

  /** Rewrites each row and vacuums the old versions, which a reader on the standby may still need. */
  async function vacuum(standby: TestServer): Promise<void> {
    await admin.query('update orders set v = v + 1');
    await admin.query('vacuum orders');
    await untilReplayed(standby);
  }

  it('returns the same rows as the primary, and each new row once, whatever its lag', async () => {
    const standby = await follow();
    const source = { url: standby.url };
    expect(await check(source)).toMatch(/^PostgreSQL /);
    await untilReplayed(standby);
    const everything = 'select * from orders order by id';
    expect(await read(source, everything)).toEqual(await read({ url: primary().url }, everything));
    const changes = { sql: 'select id, v from orders', cursor: 'id' };
    const first = await readOn(source, changes);
    expect(first.rows.map(([id]) => id)).toEqual(ids);
    await standby.run('select pg_wal_replay_pause()');
    await admin.query(`insert into orders values (${rows + 1}, 1)`);
    const behind = await readOn(source, changes, first.watermark);
    expect(behind).toEqual({ rows: [], unchanged: true, watermark: first.watermark });
    await standby.run('select pg_wal_replay_resume()');
    await untilReplayed(standby);
    expect((await readOn(source, changes, behind.watermark)).rows).toEqual([[String(rows + 1), '1']]);
  });

  it('is selected among several hosts by target_session_attrs', async () => {
    const standby = await follow();
    const [first, second] = [primary(), standby].map(({ port }) => `127.0.0.1:${port}`) as [string, string];
    const served = async (hosts: string, target: string) => {
      const source = { url: primary().url.replace(first, hosts), target_session_attrs: target };
      return (await read(source, 'select pg_is_in_recovery()')).rows[0]![0];
    };
    for (const hosts of [`${first},${second}`, `${second},${first}`]) {
      for (const target of ['standby', 'prefer-standby', 'read-only']) expect(await served(hosts, target)).toBe('true');
      for (const target of ['primary', 'read-write']) expect(await served(hosts, target)).toBe('false');
    }
  });

  it('fails instead of returning only some rows if rows are vacuumed on the primary during the read', async () => {
    const standby = await follow({ max_standby_streaming_delay: 0 });
    const reading = idsOf(await extract({ url: standby.url }, query), () => vacuum(standby));
    // While a server is sending, it can't report why it ends.
    expect(await problemOf(reading)).toMatchObject({
      code: expect.stringMatching(/^DB_(SERVER_BUSY|CONNECTION_LOST)$/),
      family: 'try_later',
      message: expect.stringMatching(/conflict with recovery|lost before/),
    });
  });

  it('returns each row once when read in chunks, even if rows are vacuumed in the meantime', async () => {
    const standby = await follow({ max_standby_streaming_delay: 0 });
    const chunks = { column: 'id', rows: 20_000 };
    const reading = idsOf(await extract({ url: standby.url }, { ...query, chunks }), () => vacuum(standby));
    expect(await reading).toEqual(ids);
  });

  it("returns all its rows, even if it's promoted during the read", async () => {
    const standby = await follow();
    const reading = idsOf(await extract({ url: standby.url }, query), () => standby.run('select pg_promote()'));
    expect((await reading).toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
    expect((await read({ url: standby.url }, 'select pg_is_in_recovery()')).rows).toEqual([['false']]);
  });

  it('that lags and replaces the primary between chunks never makes an incomplete result look complete', async () => {
    const standby = await follow();
    await untilReplayed(standby);
    await standby.run('select pg_wal_replay_pause()');
    await admin.query(`insert into orders select g, 0 from generate_series(${rows + 1}, ${2 * rows}) g`);
    const gate = await openGate(primary().port, 1_000_000, forTest);
    const url = primary().url.replace(/:\d+\//, `:${gate.port}/`);
    const chunks = { column: 'id', rows: rows + 1000 };
    const reading = problemOf(idsOf(await extract({ url }, { ...query, chunks }), async () => {}));
    await gate.held;
    gate.aim(standby.port);
    gate.release();
    expect(await reading).toMatchObject({ code: 'DB_ROWS_GONE', family: 'try_later', seen: String(rows + 1000) });
  });
});
