import { expect, it } from 'vitest';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { forTest } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

interface Order {
  readonly id: number;
  readonly name: string;
  readonly changed: string;
}

/** An API with orders, which returns them newest first, two on a page. */
async function openApi() {
  const server = await new TestServer().start();
  forTest(() => server.stop());
  const orders = new Map<number, Order>();
  const state = { brokenPage: 0 };
  server.answer = ({ searchParams }, response) => {
    const bound = (name: string) => Date.parse(searchParams.get(name) ?? '');
    const [since, until, page] = [bound('since'), bound('until'), Number(searchParams.get('page'))];
    if (page === state.brokenPage) return void response.writeHead(400).end('broken');
    const wanted = [...orders.values()]
      .filter(({ changed }) => !(Date.parse(changed) < since) && !(Date.parse(changed) >= until))
      .sort((a, b) => Date.parse(b.changed) - Date.parse(a.changed));
    sendJson(response, { data: wanted.slice(2 * page - 2, 2 * page), last: 2 * page >= wanted.length });
  };
  const put = (id: number, name: string, changed: string) => void orders.set(id, { id, name, changed });
  const asked = () => server.requests.splice(0).map(({ url }) => new URL(url, 'http://h').searchParams.get('since'));
  return { server, orders, state, put, asked };
}

it('an incremental REST job merges or appends new records, and its watermark moves only with a delivered result', async () => {
  const { server, orders, state, put, asked } = await openApi();
  const world = await makeWorld();
  const home = await world.home();
  const [merged, appended] = [await world.instance('csv'), await world.instance('csv')];
  const job = {
    source: 'api',
    query: {
      path: '/orders',
      parameters: [
        { name: 'since', value: '{{ since }}' },
        { name: 'until', value: '{{ until }}' },
      ],
      records: 'data',
      paging: { kind: 'page', last: 'last' },
      cursor: 'changed',
    },
    format: 'csv',
  };
  const configure = (more: object = {}) =>
    home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { api: { connector: 'simple_rest', url: server.url, retries: 0 } },
      jobs: {
        merged: {
          ...job,
          query: { ...job.query, ...more },
          write: { disposition: 'merge', key: 'id' },
          target: merged,
        },
        appended: { ...job, write: 'append', target: appended },
      },
    });
  await configure();
  const sync = async (...jobs: string[]) => (await home.syncHere({ jobs })).jobs;
  const ids = async (instance: string) => ((await world.data(instance)) ?? '').match(/^\d+,\w+/gm);

  put(1, 'one', '2026-01-01T10:00:00Z');
  put(2, 'two', '2026-01-03T10:00:00Z');
  put(3, 'three', '2026-01-02T10:00:00+00:00');
  expect(await sync()).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
  expect(await ids(merged)).toEqual(['1,one', '2,two', '3,three']);
  expect(asked().every((since) => since === null)).toBe(true);

  // The record with the highest value comes again; records after it don't exist.
  expect(await sync()).toMatchObject([{ state: 'unchanged' }, { state: 'unchanged' }]);
  orders.delete(2);
  expect(await sync()).toMatchObject([{ state: 'unchanged' }, { state: 'unchanged' }]);
  expect(asked()).toEqual(Array(4).fill('2026-01-03T10:00:00Z'));

  put(4, 'four', '2026-01-03T10:00:00Z');
  put(1, 'new', '2026-01-05T10:00:00Z');
  put(5, 'five', '2026-01-04T10:00:00Z');
  await home.sync({ args: ['--dry-run'] });
  state.brokenPage = 2;
  expect(await sync()).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
  state.brokenPage = 0;
  expect(new Set(asked())).toEqual(new Set(['2026-01-03T10:00:00Z']));
  expect(await sync()).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
  expect(await ids(merged)).toEqual(['1,new', '2,two', '3,three', '4,four', '5,five']);
  expect((await ids(appended))?.toSorted()).toEqual(['1,new', '1,one', '2,two', '3,three', '4,four', '5,five']);
  expect(await sync()).toMatchObject([{ state: 'unchanged' }, { state: 'unchanged' }]);

  put(3, 'fixed', '2026-01-02T10:00:00Z');
  const range = ['--from', '2026-01-02', '--to', '2026-01-05', '--chunk', '1d'];
  for (const name of ['merged', 'appended']) {
    expect(await home.sluice(['backfill', name, ...range])).toMatchObject({ code: 0 });
  }
  expect(await ids(merged)).toEqual(['1,new', '3,fixed', '4,four', '5,five']);
  expect((await ids(appended))?.toSorted()).toEqual(['1,new', '1,one', '3,fixed', '4,four', '5,five']);

  asked();
  await home.sluice(['state', 'set', 'merged', '2026-01-04T00:00:00Z']);
  await sync('merged');
  expect(new Set(asked())).toEqual(new Set(['2026-01-04T00:00:00Z']));
  await home.sluice(['state', 'clear', 'merged']);
  await sync('merged');
  expect(new Set(asked())).toEqual(new Set([null]));
  await configure({ path: '/v2/orders', start: '2026-01-04' });
  await sync('merged');
  expect(new Set(asked())).toEqual(new Set(['2026-01-04']));
  expect(await ids(merged)).toEqual(['1,new', '5,five']);
});
