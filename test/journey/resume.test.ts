import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { adminKey, makeWorld } from './world.ts';

/** An API with versioned data that returns 304 to clients that have the current version. */
async function openApi() {
  const api = { version: 1, answers: [] as number[], url: '' };
  const server = createServer((request, response) => {
    const etag = `"v${api.version}"`;
    const isKnown = request.headers['if-none-match'] === etag;
    api.answers.push(isKnown ? 304 : 200);
    response.writeHead(isKnown ? 304 : 200, { etag, 'content-type': 'application/json' });
    response.end(isKnown ? undefined : JSON.stringify([{ id: api.version }]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  api.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return api;
}

it('checking for unchanged data costs one small request, and data that was not delivered is read again', async () => {
  const [api, world] = [await openApi(), await makeWorld()];
  const [instance, other] = [await world.instance('csv'), await world.instance('csv')];
  const home = await world.home();
  const write = (target: string) =>
    home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { api: { connector: 'simple_rest', url: api.url } },
      jobs: { rows: { source: 'api', query: { path: '/rows', conditional: true }, format: 'csv', target } },
    });
  const sync = async (how = {}) => (await home.sync(how)).jobs?.[0];
  await write(instance);
  expect(await sync()).toMatchObject({ state: 'delivered' });
  expect(await sync()).toMatchObject({ state: 'unchanged', requests: 0, rows: 0 });
  expect(api.answers).toEqual([200, 304]);

  const killed = await home.sync({ preload: ['kill-at'], env: { KILL_AT: 'extract.unchanged' } });
  expect(killed).toMatchObject({ signal: 'SIGKILL' });
  expect(await sync()).toMatchObject({ state: 'unchanged' });

  api.version = 2;
  const cut = await home.sync({ preload: ['kill-at'], env: { KILL_AT: 'payload.spooled' } });
  expect(cut).toMatchObject({ signal: 'SIGKILL' });
  expect(await sync()).toMatchObject({ state: 'delivered' });
  expect(await world.data(instance)).toBe('id\n2\n');
  expect(await sync()).toMatchObject({ state: 'unchanged' });

  await write(other);
  expect(await sync()).toMatchObject({ state: 'delivered' });
  expect(await world.data(other)).toBe('id\n2\n');
  expect(home.state().runs.map(({ state }) => state)).not.toContain('running');
});
