import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { forTest } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

/** Accepts requests and never responds. */
async function serveSilence() {
  const server = createServer((request) => request.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  forTest(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/1.0` };
}

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s during an upload leaves the payload owed, and sync reports how the payload will be sent',
  async (signal, code) => {
    const world = await makeWorld();
    const home = await world.home();
    await home.write('orders.csv', 'id\n1\n');
    const config = (url: string) =>
      home.config({
        destinations: { main: { url, api_key: adminKey } },
        sources: { here: { connector: 'file' } },
        jobs: {
          orders: { source: 'here', query: { path: 'orders.csv' }, format: 'csv', target: world.instances.csv },
        },
      });
    const { server, url } = await serveSilence();
    await config(url);
    const sync = home.start(['sync']);
    await once(server, 'request');
    sync.child.kill(signal);
    const ended = await sync.ended;
    expect(ended).toMatchObject({ code });
    expect(ended.stdout).toMatch(/orders .* owed: the daemon will send it, or run "sluice sync orders"$/m);
    expect(home.state().outbox).toMatchObject([{ state: 'owed' }]);
    await config(world.url);
    expect(await home.syncHere()).toMatchObject({ code: 0 });
    expect(await world.data(world.instances.csv)).toBe('id\n1\n');
  },
);
