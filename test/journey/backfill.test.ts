import { beforeAll, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { openShop, type Shop } from './shop.ts';
import { forSuite, makeWorld, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
});

const januaryAndFebruary = ['--from', '2026-01-01', '--to', '2026-03-01'];
const byMonth = [...januaryAndFebruary, '--chunk', '1mo'];

/** Inserts ten rows in each of the first four months, and reads them all. */
async function fourMonths(shop: Shop): Promise<void> {
  await shop.run(`insert into orders select i, 'name ' || i, i, timestamptz '2026-01-10 00:00Z' + (i % 4) * interval '1 month', false
    from generate_series(1, 40) i`);
  expect((await shop.sync()).jobs).toMatchObject([{ rows: 40 }]);
}

const backfill = ({ home }: Shop, args: readonly string[], how = {}) =>
  home.sluice(['backfill', 'orders', ...args], how);

const watermark = async ({ home }: Shop) =>
  (JSON.parse((await home.sluice(['state', 'show', '--json'])).stdout) as { watermark: string }[])[0]!.watermark;

describeWithServer({ servers: 'PostgreSQL' }, 'a backfill', (server) => {
  const open = (more: Parameters<typeof openShop>[1] = {}) => openShop({ server: server(), world }, more);

  it('picks up late rows and changes that have no new timestamp, removes deleted rows, and is delivered once', async () => {
    const shop = await open();
    await fourMonths(shop);
    const before = await watermark(shop);
    const uploads = (await world.uploads(shop.instance)).length;
    await shop.run("update orders set name = 'fixed' where id = 4");
    await shop.run("insert into orders values (99, 'late', 9, '2026-02-03Z', false)");
    await shop.run('delete from orders where id = 8');
    // Rows outside the range aren't read.
    await shop.run("update orders set name = 'not seen' where id = 2");
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'unchanged' }]);
    const done = await backfill(shop, [...byMonth, '--why', 'fixed at the source']);
    expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('2026-02-01 to 2026-03-01: 11 rows') });
    await shop.run("update orders set name = 'name 2' where id = 2");
    await shop.same();
    expect(await world.uploads(shop.instance)).toHaveLength(uploads + 1);
    expect(await watermark(shop)).toBe(before);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'unchanged' }]);
    const audit = await shop.home.sluice(['audit', '--json']);
    expect(audit.stdout).toContain('fixed at the source');
  });

  it('replaces the rows in the range if the job only appends', async () => {
    const shop = await open({ job: { write: 'append' } });
    await fourMonths(shop);
    await shop.run("update orders set name = 'fixed' where id = 4");
    expect(await backfill(shop, byMonth)).toMatchObject({ code: 0 });
    const shown = (await shop.shown())!.trim().split('\n');
    expect(shown).toHaveLength(41);
    expect(shown.toSorted()).toEqual((await shop.wanted()).trim().split('\n').toSorted());
    await shop.put([50, 'after']);
    await shop.sync();
    expect((await shop.shown())!.trim().split('\n').at(-1)).toBe('50,after,50.50');
  });

  it('is safer for a job that appends than `state clear`, which warns that only a rollback restores the rows', async () => {
    const shop = await open({ job: { write: 'append' } });
    await fourMonths(shop);
    await shop.run('delete from orders where id > 30');
    const cleared = await shop.home.sluice(['state', 'clear', 'orders']);
    expect(cleared).toMatchObject({ code: 0, stdout: expect.stringContaining('sluice rollback orders') });
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 30 }]);
    for (const command of ['rollback', 'resume']) await shop.home.sluice([command, 'orders']);
    await shop.put([50, 'after']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered', rows: 41 }]);
  });

  it('resumes after a kill, even if other runs finished in between', async () => {
    const shop = await open();
    await fourMonths(shop);
    await shop.run("update orders set name = 'fixed' where id in (4, 5)");
    const killed = await backfill(shop, byMonth, {
      preload: ['die-at-step'],
      env: { STEPS_UNDER: shop.home.folder, DIE_AT: 'create payload #2' },
    });
    expect(killed).toMatchObject({ signal: 'SIGKILL', stderr: expect.stringContaining('2026-01-01 to 2026-02-01') });
    // After a chunk was read, one of its rows changes: the newer version must not be overwritten.
    await shop.put([4, 'newer'], [60, 'new']);
    expect((await shop.sync()).jobs).toMatchObject([{ state: 'delivered' }]);
    const other = await backfill(shop, ['--from', '2026-01-01', '--to', '2026-01-05']);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('BACKFILL_UNFINISHED') });
    const resumed = await backfill(shop, byMonth);
    expect(resumed.code).toBe(0);
    expect(resumed.stderr).not.toContain('2026-01-01 to 2026-02-01');
    await shop.same();
    expect((await backfill(shop, ['--from', '2026-01-01', '--to', '2026-01-05'])).code).toBe(0);
    await shop.same();
  });

  it("completes even if it's killed right before any durable step", async () => {
    const shop = await open();
    await fourMonths(shop);
    const steps = [
      'create payload',
      'sync payload',
      'sync folder',
      'commit insert into backfills',
      'rename half-written',
    ];
    for (const [i, step] of [...steps, 'say payload.owed', 'say upload.started', 'say payload.delivered'].entries()) {
      await shop.run(`update orders set name = 'fixed ${i}' where id in (4, 5)`);
      const env = { STEPS_UNDER: shop.home.folder, DIE_AT: `${step} #1` };
      await backfill(shop, byMonth, { preload: ['die-at-step'], env });
      const { code, stderr } = await backfill(shop, byMonth);
      expect({ step, code, stderr }).toMatchObject({ code: 0 });
      await shop.sync();
      await shop.same();
    }
  });

  it("is refused for a job that can't be backfilled, and the error says which jobs can", async () => {
    const shop = await open({ job: { write: 'replace' } });
    await shop.put([1, 'one']);
    await shop.sync();
    const refused = async (code: string, args = byMonth) => {
      const ended = await backfill(shop, args);
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(code) });
      return ended.stderr;
    };
    expect(await refused('BACKFILL_KEEPS_NOTHING')).toContain('write: append');
    await shop.config({ query: 'select 1 as id', write: { disposition: 'merge', key: 'id' }, transforms: [] });
    expect(await refused('BACKFILL_NO_RANGES')).toContain('a db or simple_rest query with a cursor');
    await shop.config({});
    expect((await backfill(shop, byMonth)).stderr).toContain('BACKFILL_NO_ROWS');
    await refused('BACKFILL_RANGE', ['--from', '2026-02-01', '--to', '2026-01-01']);
    await refused('BACKFILL_CHUNK', [...januaryAndFebruary, '--chunk', '100']);
    await shop.sync();
    await refused('CURSOR_RANGE', ['--from', '1', '--to', '100']);
  });
});
