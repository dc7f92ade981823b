import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { adminKey, makeWorld } from './world.ts';

async function openShop() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-cursor-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'shop.sqlite');
  const run = (sql: string) => {
    const db = new SqliteDatabase(file);
    db.exec(sql);
    db.close();
  };
  run("create table orders (id integer, at datetime); insert into orders values (1, '2026-01-31 10:00:00')");
  return { file, run };
}

it('an incremental job shows only the new rows, keeps them while nothing changes, and loses none in a crash', async () => {
  const [shop, world] = [await openShop(), await makeWorld()];
  const instance = await world.instance('csv');
  const home = await world.home();
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { shop: { connector: 'db', file: shop.file } },
    jobs: {
      orders: {
        source: 'shop',
        query: { sql: 'select id from (select id, at from orders) o', cursor: 'id', lag: 1 },
        format: 'csv',
        target: instance,
      },
    },
  });
  const sync = async (how = {}) => (await home.sync(how)).jobs?.[0];
  const shownAsOf = async () => JSON.parse((await home.sluice(['status', '--json'])).stdout).jobs[0].last_delivered_at;
  expect(await sync()).toMatchObject({ state: 'delivered', rows: 1 });
  const delivered = await shownAsOf();
  // Later, whatever the machine's clock does in the meantime.
  const later = { preload: ['shifted-clock'], env: { CLOCK_SHIFT_MS: '60000' } };
  expect(await sync(later)).toMatchObject({ state: 'unchanged', rows: 0, requests: 0 });
  // The source was checked again and is unchanged, so the data shown is as recent as this check.
  expect(Date.parse(await shownAsOf())).toBeGreaterThan(Date.parse(delivered));
  expect(await world.data(instance)).toBe('id\n1\n');

  shop.run("insert into orders values (2, '2026-01-31 10:05:00'), (3, '2026-01-31 10:05:00')");
  // The process is killed before the payload is owed, so the same rows are read again.
  const cut = await home.sync({ preload: ['kill-at'], env: { KILL_AT: 'payload.spooled' } });
  expect(cut).toMatchObject({ signal: 'SIGKILL' });
  expect(await sync()).toMatchObject({ state: 'delivered', rows: 2 });
  expect(await world.data(instance)).toBe('id\n2\n3\n');

  // Committed late, within the lag.
  shop.run("insert into orders values (2, '2026-01-31 10:01:00')");
  expect(await sync()).toMatchObject({ state: 'delivered', rows: 1 });
  expect(await world.data(instance)).toBe('id\n2\n');
  expect(await sync()).toMatchObject({ state: 'unchanged' });
});

it("a user can show, clear and set a job's checkpoint, and each change is recorded", async () => {
  const [shop, world] = [await openShop(), await makeWorld()];
  const home = await world.home();
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { shop: { connector: 'db', file: shop.file } },
    jobs: {
      orders: {
        source: 'shop',
        query: { sql: 'select id from (select id, at from orders) o', cursor: 'id' },
        format: 'csv',
        target: world.instances.csv,
      },
    },
  });
  const state = async (...args: string[]) => home.sluice(['state', ...args]);
  expect((await state('show')).stdout).toContain('every run reads everything');
  expect((await state('show', 'orders')).stdout).toContain('orders has no watermark');
  expect(await state('show', 'ordr')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/Unknown job "ordr"[\s\S]*did you mean "orders"/),
  });
  expect(await state('clear', 'orders')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('sluice state show'),
  });
  await home.syncHere();
  shop.run("insert into orders values (2, '2026-02-01 10:00:00')");
  const [known] = JSON.parse((await state('show', '--json')).stdout) as { job: string; watermark: string }[];
  expect(known).toMatchObject({ job: 'orders', watermark: expect.stringContaining('"1"') });
  expect(await state('clear', 'orders', '--why', 'loaded again')).toMatchObject({ code: 0 });
  expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
  expect(await state('set', 'orders', known!.watermark)).toMatchObject({ code: 0 });
  expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered', rows: 1 }]);
  for (const wrong of ['nonsense', '1.5', '{}', known!.watermark.replace('"id"', '"at"')]) {
    expect(await state('set', 'orders', wrong)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/CURSOR_WATERMARK: [\s\S]*allowed {2}[\s\S]*next +sluice state show orders/),
    });
  }
  expect(await state('set', 'orders', '1')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      'continues from {"column":"id","type":"integer","value":"1","columns":[],"seen":[]}',
    ),
  });
  expect((await home.syncHere()).jobs).toMatchObject([{ rows: 2 }]);
  await state('clear', 'orders');
  shop.run("insert into orders values (3, '2026-03-01 10:00:00')");
  const stopped = await home.sync({ preload: ['kill-at'], env: { KILL_AT: 'payload.spooled' } });
  expect(stopped).toMatchObject({ signal: 'SIGKILL' });
  expect((await home.syncHere()).jobs).toMatchObject([{ rows: 3 }]);
});
