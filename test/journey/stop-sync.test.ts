import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { forTest } from './process.ts';
import { adminKey, makeWorld, until } from './world.ts';

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

const endless = 'select sum(a.seq * b.seq) from seq_1_to_1000000 a, seq_1_to_1000000 b';

describeWithServer({ servers: 'MariaDB' }, 'SIGTERM while the database server is stalled', (server) => {
  it("doesn't leave the statement running once the server continues", async () => {
    const world = await makeWorld();
    const home = await world.home();
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { shop: { connector: 'db', url: server().url } },
      jobs: { orders: { source: 'shop', query: endless, format: 'csv', target: world.instances.csv } },
    });
    const admin = await mysql.createConnection(server().url);
    forTest(() => admin.end());
    const isRunning = async () => {
      const sql = 'select 1 from information_schema.processlist where info like ?';
      const [rows] = await admin.query(sql, [`${endless}%`]);
      return (rows as unknown[]).length > 0;
    };
    const sync = home.start(['sync']);
    await until('the statement to run', isRunning);
    await server().signal('SIGSTOP');
    sync.child.kill('SIGTERM');
    await Promise.race([sync.ended, wait(2500)]);
    await server().signal('SIGCONT');
    expect(await sync.ended).toMatchObject({ code: 143 });
    await until('the statement to end', async () => !(await isRunning()));
  });
});
