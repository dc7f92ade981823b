import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { handOf, seeds } from '../chaos/seeds.ts';
import { describeWithServer } from '../servers/describe.ts';
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import { openShop, type Shop } from './shop.ts';
import { adminKey, forSuite, makeWorld, until, type World } from './world.ts';

const scope = forSuite();
let world: World;
let proxy: FaultProxy;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
  proxy = await openFaultProxy(world.url, scope);
});

const through = () => ({ destinations: { main: { url: proxy.url, api_key: adminKey, attempts: 1 } } });

/** Files with jobs' kept rows. */
const files = ({ home }: Shop) =>
  (readdirSync(join(home.folder, 'state', 'sets'), { recursive: true }) as string[]).filter((name) =>
    /rows$/.test(name),
  );

/** The steps of `sync`; the sync can be killed before each of them. */
async function stepsOf(shop: Shop): Promise<string[]> {
  const file = join(shop.home.folder, 'steps');
  await shop.sync(dieAt(shop, ''));
  const steps = readFileSync(file, 'utf8').trim().split('\n');
  await rm(file);
  // If equal steps follow each other, test only the first one or, if they make a file durable, the first two.
  return steps.slice(steps.indexOf('say extract.started #1')).filter((step) => /#1$|(folder|payload) #2$/.test(step));
}

/** No earlier request can still arrive. */
function passAnHour({ home }: Shop): void {
  const db = new SqliteDatabase(join(home.folder, 'state', 'sluice.db'));
  db.exec('update outbox set last_attempt_at = last_attempt_at - 3600000');
  db.close();
}

const dieAt = ({ home }: Shop, step: string) => ({
  preload: ['die-at-step'],
  env: { STEPS_FILE: join(home.folder, 'steps'), STEPS_UNDER: join(home.folder, 'state'), DIE_AT: step },
});

describeWithServer({ servers: 'PostgreSQL' }, 'a job that reads only changes', (server) => {
  const open = (more: Parameters<typeof openShop>[1] = {}) => openShop({ server: server(), world }, more);

  it('delivers the whole table: existing, new and changed rows, but no deleted ones', async () => {
    const shop = await open();
    await shop.put([2, 'two'], [10, 'ten'], [-3, 'minus']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 3 }]);
    await shop.same();
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'unchanged', requests: 0 }]);
    await shop.put([10, 'TEN'], [4, 'four']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 4 }]);
    await shop.same();
    await shop.put([2, 'two', true]);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 3 }]);
    await shop.same();
    await shop.put([2, 'back']);
    await shop.sync();
    await shop.same();
  });

  it('reads rows that were committed late, within the lag, without a full read', async () => {
    const shop = await open();
    await shop.put([1, 'one'], [2, 'two'], [3, 'three']);
    await shop.sync();
    await shop.run(
      "insert into orders select 4, 'late', 4.5, updated_at - interval '5 minutes', false from orders where id = 3",
    );
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 4 }]);
    await shop.same();
  });

  it('delivers only rows within the retention window, and delivers again when a row leaves it', async () => {
    const shop = await open({
      job: {
        write: { disposition: 'merge', key: 'id', deleted: 'gone', retain: { column: 'updated_at', within: '2h' } },
      },
    });
    const ago = (id: number, span: string) =>
      shop.run(`insert into orders values (${id}, 'x', 1, now() - interval '${span}', false)`);
    await ago(1, '3 hours');
    await ago(2, '119 minutes 57 seconds');
    await ago(3, '1 minute');
    await shop.sync();
    expect((await shop.shown())?.split('\n').length).toBeLessThan(5);
    for (;;) {
      const [job] = (await shop.sync()).jobs;
      expect(['delivered', 'unchanged']).toContain(job!.state);
      if ((await shop.shown()) === 'id,name,amount\n3,x,1.00\n') break;
    }
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'unchanged', requests: 0 }]);
  });

  it('delivers what a dry run predicted, and the dry run changes nothing', async () => {
    const shop = await open();
    await shop.put([1, 'one'], [2, 'two']);
    const foretold = async () => {
      const { stdout } = await shop.home.sluice(['sync', '--dry-run', '--json']);
      return (JSON.parse(stdout) as { jobs: { rows: number; would: string; sha256: string }[] }).jobs[0]!;
    };
    expect(await foretold()).toMatchObject({ rows: 2, would: 'would be sent with one request' });
    await shop.sync();
    const before = files(shop);
    expect(await foretold()).toMatchObject({ rows: 2, would: expect.stringContaining('unchanged') });
    await shop.put([3, 'three']);
    const { sha256 } = await foretold();
    expect(files(shop)).toEqual(before);
    await shop.sync();
    expect(shop.home.state().outbox.at(-1)!.sha256).toBe(sha256);
  });

  it.for(seeds)(
    'delivers everything even after a kill right before any durable step of a sync (seed %i)',
    async (seed) => {
      const shop = await open();
      await shop.put([1, 'one'], [2, 'two']);
      await shop.sync();
      await shop.put([3, 'three']);
      const steps = await stepsOf(shop);
      expect(steps).toEqual(expect.arrayContaining(['create payload #1', 'sync folder #1', 'say payload.owed #1']));
      let killed = 0;
      const hand = handOf(seed, steps);
      for (const [i, step] of hand.entries()) {
        await shop.put([1, `one at ${i}`], [100 + i, 'new'], [100 + i - 2, 'gone', true]);
        if ((await shop.sync(dieAt(shop, step))).signal !== null) killed += 1;
        // The instance shows a complete state that the source had at some time.
        if (i % 3 === 0) await shop.put([1, `again at ${i}`]);
        await shop.sync();
        await shop.same();
      }
      expect(killed).toBeGreaterThan(hand.length / 2);
      passAnHour(shop);
      expect((await shop.sync()).jobs).toMatchObject([{ state: 'unchanged' }]);
      expect(shop.home.state().leases).toEqual([]);
    },
  );

  it('loses nothing if a result is quarantined: the next run includes its rows, whether it is discarded or approved', async () => {
    const shop = await open({ job: { guards: { rows: { maximum: 3 } } } });
    await shop.put([1, 'one'], [2, 'two']);
    await shop.sync();
    await shop.put([3, 'three'], [4, 'four']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'quarantined' }]);
    await shop.home.sluice(['quarantine', 'discard', 'orders']);
    await shop.put([4, 'four', true]);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 3 }]);
    await shop.same();

    await shop.put([5, 'five']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'quarantined' }]);
    expect(await shop.home.sluice(['quarantine', 'approve', 'orders'])).toMatchObject({ code: 0 });
    await shop.same();
    // The next run continues from the approved result.
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'unchanged' }]);
    await shop.put([1, 'one', true]);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 3 }]);
    await shop.same();
  });

  it('rewinds the checkpoint if a payload is dead, rereads its rows, and continues after the payload is sent again', async () => {
    const shop = await open({ top: through() });
    await shop.config({}, through());
    await shop.put([1, 'one']);
    await shop.sync();
    await shop.put([2, 'two']);
    proxy.always(shop.instance, { answer: 400 });
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'dead' }]);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'dead', rows: 2 }]);
    proxy.always(shop.instance, 'pass');
    await shop.put([3, 'three']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 3 }]);
    await shop.same();

    await shop.put([4, 'four']);
    proxy.always(shop.instance, { answer: 400 });
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'dead' }]);
    proxy.always(shop.instance, 'pass');
    expect(await shop.home.sluice(['dead', 'send', 'orders'])).toMatchObject({ code: 0 });
    await shop.same();
    // An upload that the service refused can't arrive late, so nothing needs to be sent again.
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'unchanged' }]);
  });

  it("returns to an earlier payload on a rollback, and continues from that payload's rows once it's resumed", async () => {
    const shop = await open();
    await shop.put([1, 'one']);
    await shop.sync();
    await shop.put([2, 'two']);
    await shop.sync();
    await shop.put([3, 'three']);
    await shop.sync();
    expect(await shop.home.sluice(['rollback', 'orders', '--why', 'looks wrong'])).toMatchObject({ code: 0 });
    expect(await shop.shown()).toBe(await shop.wanted('id < 3'));
    await shop.put([1, 'ONE']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'on_hold' }]);
    const resumed = await shop.home.sluice(['resume', 'orders']);
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('continues from the rows kept') });
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 3 }]);
    await shop.same();
  });

  it('continues with all its kept rows after a backup is restored', async () => {
    const shop = await open();
    await shop.put([1, 'one'], [2, 'two']);
    await shop.sync();
    const backup = join(shop.home.folder, 'backup');
    await shop.home.sluice(['backup', backup]);
    await shop.put([3, 'three']);
    await shop.sync();
    await rm(join(shop.home.folder, 'state'), { recursive: true });
    expect(await shop.home.sluice(['restore', backup])).toMatchObject({ code: 0 });
    // The source no longer has the row before the watermark; only the kept rows still contain it.
    await shop.run('delete from orders where id in (1, 3)');
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 2, requests: 1 }]);
    expect(await shop.shown()).toBe('id,name,amount\n1,one,1.50\n2,two,2.50\n');
  });

  it('reports damaged files and how to fix them', async () => {
    const shop = await open();
    await shop.put([1, 'one']);
    await shop.sync();
    const [file] = files(shop);
    await writeFile(join(shop.home.folder, 'state', 'sets', file!), 'rubbish');
    await shop.put([2, 'two']);
    const [job] = (await shop.sync()).jobs;
    expect(job).toMatchObject({
      state: 'failed',
      problem: { code: 'SET_DAMAGED', next: expect.stringContaining('sluice state clear') },
    });
    await shop.home.sluice(['state', 'clear', 'orders']);
    await shop.sync();
    await shop.same();
  });

  it('reuses its kept rows if its columns, format or target change, and rereads everything only if its query changes', async () => {
    const shop = await open();
    await shop.put([1, 'one'], [2, 'two']);
    await shop.sync();
    // The row was deleted at the source without a trace, so a full read would not return it.
    await shop.run('delete from orders where id = 1');
    await shop.config({ transforms: [{ select: ['id'] }] });
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
    expect(await shop.shown()).toBe('id\n1\n2\n');
    await shop.config({ write: { disposition: 'merge', key: ['id', 'name'] } });
    expect((await shop.sync()).jobs).toMatchObject([{ rows: 1 }]);
  });

  it('keeps a history by appending rows, up to a maximum', async () => {
    const shop = await open({ job: { write: { disposition: 'append', retain: { rows: 3 } } } });
    await shop.put([1, 'one'], [2, 'two']);
    await shop.sync();
    await shop.put([1, 'again'], [2, 'too']);
    expect((await shop.sync()).jobs).toMatchObject([{ rows: 3 }]);
    expect(await shop.shown()).toBe('id,name,amount\n2,two,2.50\n1,again,1.50\n2,too,2.50\n');
  });

  it("rejects a checkpoint change while a run in another process holds the job's lease", async () => {
    const shop = await open();
    await shop.put([1, 'one']);
    await shop.sync();
    await shop.config({
      write: { disposition: 'merge', key: 'id' },
      query: {
        sql: 'select *, pg_sleep(600)::text as slept from (select 1 as id, now() as updated_at) o',
        cursor: 'updated_at',
      },
    });
    const run = shop.home.start(['sync', '--json']);
    await until("the run to hold the job's lease", () =>
      shop.home.state().leases.some(({ name }) => name === 'job:orders'),
    );
    for (const args of [
      ['clear', 'orders'],
      ['set', 'orders', '{}'],
    ]) {
      expect(await shop.home.sluice(['state', ...args])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('STATE_BUSY'),
      });
    }
    const range = ['--from', '2026-01-01', '--to', '2026-02-01'];
    expect(await shop.home.sluice(['backfill', 'orders', ...range])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('JOB_BUSY'),
    });
    // A process that dies no longer holds its lease.
    run.child.kill('SIGKILL');
    await run.ended;
    expect(await shop.home.sluice(['state', 'clear', 'orders', '--why', 'in the way'])).toMatchObject({ code: 0 });
    expect((await shop.home.sluice(['audit', '--json'])).stdout).toContain('in the way');
  });

  it('reports the number of kept rows and their size on disk', async () => {
    const shop = await open();
    await shop.put([1, 'one'], [2, 'two']);
    await shop.sync();
    const shown = await shop.home.sluice(['state', 'show']);
    expect(shown.stdout).toMatch(/orders .*updated_at.* 2 .* B /);
    const [place] = JSON.parse((await shop.home.sluice(['state', 'show', '--json'])).stdout) as object[];
    expect(place).toMatchObject({ job: 'orders', kept: { rows: 2, files: 1, bytes: expect.any(Number) } });
  });
});
