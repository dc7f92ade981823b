import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { adminKey, makeWorld } from './world.ts';

async function openShop() {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-kept-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'shop.sqlite');
  const run = (sql: string) => {
    const db = new Database(file);
    db.exec(sql);
    db.close();
  };
  run("create table orders (id integer, name text, at datetime, gone integer)");
  return { file, run };
}

it('shows everything though the source gives only what changed', async () => {
  const [shop, world] = [await openShop(), await makeWorld()];
  const home = await world.home();
  const instance = await world.instance('csv');
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { shop: { connector: 'db', file: shop.file } },
    jobs: {
      orders: {
        source: 'shop',
        query: { sql: 'select * from orders', cursor: 'at' },
        write: { disposition: 'merge', key: 'id', deleted: 'gone' },
        transforms: [{ select: ['id', 'name'] }],
        format: 'csv',
        target: instance,
      },
    },
  });
  const sync = async () => (await home.sync()).jobs?.[0];
  shop.run("insert into orders values (2, 'two', '2026-01-31 10:00:00', 0), (10, 'ten', '2026-01-31 10:01:00', 0)");
  expect(await sync()).toMatchObject({ state: 'delivered', rows: 2 });
  expect(await world.data(instance)).toBe('id,name\n2,two\n10,ten\n');
  expect(await sync()).toMatchObject({ state: 'unchanged', requests: 0 });
  shop.run("update orders set name = 'TWO', at = '2026-01-31 10:02:00' where id = 2; insert into orders values (3, 'three', '2026-01-31 10:03:00', null)");
  expect(await sync()).toMatchObject({ state: 'delivered', rows: 3 });
  expect(await world.data(instance)).toBe('id,name\n2,TWO\n3,three\n10,ten\n');
  shop.run("update orders set gone = 1, at = '2026-01-31 10:04:00' where id = 3");
  expect(await sync()).toMatchObject({ state: 'delivered', rows: 2 });
  expect(await world.data(instance)).toBe('id,name\n2,TWO\n10,ten\n');
  const cleared = await home.sluice(['state', 'clear', 'orders']);
  expect(cleared.code).toBe(0);
  expect(await sync()).toMatchObject({ state: 'unchanged', rows: 2 });
});
