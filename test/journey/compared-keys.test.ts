import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { openShop, type Shop } from './shop.ts';
import { forSuite, makeWorld, until, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
});

interface ComparedShop extends Shop {
  /** From now on, the read of the keys hangs after it has begun. */
  hang(): Promise<void>;
  /** Ends the reads that hang, if there are any; later ones don't hang. */
  release(): Promise<void>;
}

describeWithServer({ servers: 'PostgreSQL' }, 'a job that compares keys', (server) => {
  async function open(more: object = {}): Promise<ComparedShop> {
    const shop = await openShop({ server: server(), world });
    const { rows } = await shop.run("select 'orders' as name");
    const { name } = rows[0] as { name: string };
    await shop.run('create table gate_orders ()');
    // Only the statement that reads the keys has this name. The query itself must not contain it.
    const areKeys = "current_query() like '%sluice' || '_keys%'";
    const sleeps = `exists (select from gate_${name} where pg_sleep(600) is not null)`;
    await shop.config({
      query: {
        sql: `select * from ${name} where case when ${areKeys} then not ${sleeps} else true end`,
        cursor: 'updated_at',
        lag: '10m',
      },
      write: { disposition: 'merge', key: 'id', deletes: 'compare' },
      guards: { row_change: { down: '60%', from: 1 } },
      ...more,
    });
    return {
      ...shop,
      hang: async () => void (await shop.run('insert into gate_orders default values')),
      release: async () => {
        await shop.run('delete from gate_orders');
        await shop.run(hanging('pg_terminate_backend(pid)'));
      },
    };
  }

  const hanging = (what: string) => `select ${what} from pg_stat_activity where wait_event = 'PgSleep'`;

  /** Three rows on the dashboard, of which the source has lost one. */
  async function withDeletedRow(): Promise<ComparedShop> {
    const shop = await open();
    await shop.put([1, 'one'], [2, 'two'], [3, 'three']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 3 }]);
    await shop.run('delete from orders where id = 2');
    return shop;
  }

  it('deletes the rows that the source no longer has, adds them again, and sends nothing if nothing has changed', async () => {
    const shop = await withDeletedRow();
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
    await shop.same();
    expect((await shop.sync()).jobs).toMatchObject([{ requests: 0 }]);
    await shop.put([2, 'back'], [4, 'four']);
    await shop.sync();
    await shop.same();
  });

  describe('and is interrupted while it reads the keys, deletes nothing, and deletes the row in the next run:', () => {
    it.each([
      ['by a kill', 'SIGKILL'],
      ['by a stop', 'SIGTERM'],
    ] as const)('%s', async (_, signal) => {
      const shop = await withDeletedRow();
      const before = await shop.shown();
      await shop.hang();
      const sync = shop.home.start(['sync', '--json']);
      await until('the read of the keys to hang', async () => ((await shop.run(hanging('1'))).rowCount ?? 0) > 0);
      sync.child.kill(signal);
      expect((await sync.ended).code).not.toBe(0);
      expect(await shop.shown()).toBe(before);
      await shop.release();
      expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
      await shop.same();
    });

    it.each([
      ['by the end of its connection', 'pg_terminate_backend(pid)', 'DB_SERVER_BUSY'],
      ['by the server, as with a statement timeout', 'pg_cancel_backend(pid)', 'DB_'],
    ])('%s', async (_, how, code) => {
      const shop = await withDeletedRow();
      const before = await shop.shown();
      await shop.hang();
      const sync = shop.sync();
      await until('the read of the keys to hang', async () => ((await shop.run(hanging(how))).rowCount ?? 0) > 0);
      expect((await sync).jobs).toMatchObject([{ state: 'failed', problem: { code: expect.stringContaining(code) } }]);
      expect(await shop.shown()).toBe(before);
      await shop.release();
      expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
      await shop.same();
    });
  });

  it('holds back a result that has lost too many rows, and keeps its rows', async () => {
    const shop = await withDeletedRow();
    const before = await shop.shown();
    await shop.run('delete from orders where id < 3');
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'quarantined' }]);
    expect(await shop.shown()).toBe(before);
    await shop.put([1, 'one again']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
    await shop.same();
  });

  it('reads rows again that were missing from a list of keys by mistake, however old they are', async () => {
    const shop = await open();
    await shop.put([1, 'one'], [2, 'two'], [3, 'three']);
    await shop.run("update orders set updated_at = updated_at - interval '1 day' where id = 1");
    await shop.sync();
    await shop.run('create table away_orders as select * from orders where id = 1');
    await shop.run('delete from orders where id = 1');
    expect((await shop.sync()).jobs).toMatchObject([{ rows: 2 }]);
    // Its cursor is lower than the watermark, so only the keys show that the row is missing.
    await shop.run('insert into orders select * from away_orders');
    await shop.sync();
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 3 }]);
    await shop.same();
    expect((await shop.sync()).jobs).toMatchObject([{ requests: 0 }]);
  });

  it('compares on each of several machines the rows that the others have kept', async () => {
    const shop = await open();
    const job = {
      query: { table: (await shop.run("select 'orders' as name")).rows[0].name, cursor: 'updated_at' },
      write: { disposition: 'merge', key: 'id', deletes: 'compare' },
    };
    const shared = { state: `${server().url}?schema=compared_keys`, login_key: 'key-for-logins-'.repeat(3) };
    const other = await world.home();
    await other.write('sluice.yaml', await readFile(await shop.config(job, shared), 'utf8'));
    await shop.put([1, 'one'], [2, 'two'], [3, 'three']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 3 }]);
    await shop.run('delete from orders where id = 2');
    expect((await other.syncHere()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
    await shop.same();
    expect((await shop.sync()).jobs).toMatchObject([{ requests: 0 }]);
    await shop.put([4, 'four']);
    await shop.sync();
    await shop.run('delete from orders where id = 1');
    expect((await other.syncHere()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
    await shop.same();
  });

  it('needs only one connection, and reads a table without SQL', async () => {
    const shop = await open();
    await shop.config(
      {
        query: { table: (await shop.run("select 'orders' as name")).rows[0].name, cursor: 'updated_at' },
        write: { disposition: 'merge', key: 'id', deletes: 'compare' },
      },
      { sources: { shop: { connector: 'db', url: server().url, connections: 1 } } },
    );
    await shop.put([1, 'one'], [2, 'two']);
    await shop.sync();
    await shop.run('delete from orders where id = 2');
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 1 }]);
    await shop.same();
  });
});
