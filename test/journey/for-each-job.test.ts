import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { forTest } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

/** An API with accounts, and two orders of each account; and a home with a job for each. */
async function makeShop() {
  const server = await new TestServer().start();
  forTest(() => server.stop());
  const state = { accounts: [7, 8], hanging: 0 };
  server.answer = ({ pathname }, response) => {
    const [, , id] = pathname.split('/');
    if (id === undefined)
      return sendJson(
        response,
        state.accounts.map((one) => ({ id: one, name: `n${one}` })),
      );
    if (Number(id) !== state.hanging)
      sendJson(
        response,
        [1, 2].map((order) => ({ order: `${id}-${order}` })),
      );
  };
  const world = await makeWorld();
  const home = await world.home();
  const [accounts, orders] = [await world.instance('csv'), await world.instance('json')];
  const configure = (forEach: object = {}, more: object = {}) =>
    home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { api: { connector: 'simple_rest', url: server.url, retries: 0 } },
      jobs: {
        orders: {
          source: 'api',
          query: {
            for_each: { job: 'accounts', column: 'id', ...forEach },
            path: '/accounts/{{ parent.id }}/orders',
            parent_columns: { account: 'name' },
          },
          format: 'json',
          target: orders,
        },
        accounts: { source: 'api', query: '/accounts', format: 'csv', target: accounts, ...more },
      },
    });
  await configure();
  const sync = async (...jobs: string[]) =>
    (await home.syncHere({ jobs })).jobs.map(({ job, state: end, problem }) => [job, problem?.code ?? end]);
  const shown = async () =>
    (JSON.parse((await world.data(orders)) ?? '[]') as object[]).map((row) => Object.values(row).join());
  return { server, state, world, home, configure, sync, shown };
}

it("a REST job reads the parents from another job's last rows, which are kept and checked for it", async () => {
  const { state, home, configure, sync, shown } = await makeShop();
  expect(await sync('orders')).toEqual([['orders', 'JOB_ROWS_NONE']]);
  const dry = await home.sluice(['sync', 'orders', '--dry-run']);
  expect(dry.stdout).toContain('JOB_ROWS_NONE: Job accounts has not delivered any rows yet');
  expect(await sync()).toEqual([
    ['orders', 'delivered'],
    ['accounts', 'delivered'],
  ]);
  expect(await shown()).toEqual(['n7,7-1', 'n7,7-2', 'n8,8-1', 'n8,8-2']);

  const checked = await home.sluice(['check', '--connect', 'orders']);
  expect(checked.stdout).toMatch(/^orders uses the last rows of job accounts, which are \d/m);
  state.accounts = [5, 6, 7, 8];
  expect(await sync()).toMatchObject([
    ['orders', 'delivered'],
    ['accounts', 'delivered'],
  ]);
  const sample = await home.sluice(['sync', 'orders', '--dry-run']);
  expect(sample.stdout).toContain('This dry run read the records of 3 of 4 parents');

  // The last payload is still csv with commas.
  await configure({}, { format: { type: 'csv', delimiter: ';' } });
  expect(await sync('orders')).toEqual([['orders', 'unchanged']]);
  const compared = await home.sluice(['sync', 'accounts', '--dry-run', '--diff', '--json']);
  expect(JSON.parse(compared.stdout)).toMatchObject({ jobs: [{ difference: { added: 0, removed: 0, changed: 0 } }] });
  await configure({ max_age: '1s' });
  await expect.poll(() => sync('orders')).toEqual([['orders', 'JOB_ROWS_OLD']]);
  await configure({ job: 'acounts' });
  expect((await home.sluice(['check'])).stderr).toContain('did you mean "accounts"?');
});

it('a job that is killed while it reads its parents delivers all of them later, and never a part', async () => {
  const { server, state, home, sync, shown } = await makeShop();
  await sync();
  Object.assign(state, { accounts: [7, 8, 9], hanging: 9 });
  await sync('accounts');
  server.requests.length = 0;
  const running = home.start(['sync', 'orders', '--local']);
  await expect.poll(() => server.requests.map(({ url }) => url)).toContain('/accounts/9/orders');
  running.child.kill('SIGKILL');
  await running.ended;
  expect(await shown()).toHaveLength(4);
  state.hanging = 0;
  expect(await sync('orders')).toEqual([['orders', 'delivered']]);
  expect(await shown()).toHaveLength(6);

  const folder = join(home.folder, 'state/payloads');
  for (const name of readdirSync(folder, { recursive: true }) as string[])
    if (name.endsWith('.csv')) truncateSync(join(folder, name), 10);
  expect(await sync('orders')).toEqual([['orders', 'JOB_ROWS_LOST']]);
  expect(await shown()).toHaveLength(6);
});
