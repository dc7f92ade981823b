import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/state/store.ts';
import { describeWithServer } from '../servers/describe.ts';
import { cleanUp, newFolder, newStore } from './fixtures.ts';

afterEach(cleanUp);

/** A proxy in front of a server. It breaks the connection instead of passing the response to the statement `lose`. */
async function openLosing(behind: number): Promise<{ readonly port: number; lose(statement: string): void }> {
  const sockets = new Set<Socket>();
  let statement: string | undefined;
  const server = createServer((client) => {
    const upstream = connect(behind, '127.0.0.1');
    let isLost = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client
      .on('close', () => upstream.destroy())
      .on('data', (chunk: Buffer) => {
        if (statement !== undefined && chunk.includes(statement)) {
          statement = undefined;
          isLost = true;
        }
        upstream.write(chunk);
      });
    upstream
      .on('close', () => client.destroy())
      .on('data', (chunk: Buffer) => {
        if (isLost) client.destroy();
        else client.write(chunk);
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  return {
    port: (server.address() as AddressInfo).port,
    lose: (given) => {
      statement = given;
    },
  };
}

describeWithServer({ servers: 'PostgreSQL' }, 'a write whose confirmation is lost', (server) => {
  let schemas = 0;

  /** A store behind the proxy. `lost` runs a write that is stored but seems to have failed. */
  async function open(): Promise<{
    store: Store;
    lost(work: () => Promise<unknown>, statement?: string): Promise<void>;
  }> {
    const { host, port, user, password, database } = server();
    const proxy = await openLosing(port);
    schemas += 1;
    const schema = `lost_${schemas}`;
    const store = await newStore({
      folder: newFolder(),
      database: { host, port: proxy.port, user, password, database, schema },
    });
    // The first heartbeat has a transaction of its own.
    await store.heartbeats.beat();
    const lost = async (work: () => Promise<unknown>, statement = 'commit\0'): Promise<void> => {
      proxy.lose(statement);
      await expect(work()).rejects.toMatchObject({ code: 'STATE_UNREACHABLE' });
      expect(await store.probe()).toBeUndefined();
    };
    return { store, lost };
  }

  it("doesn't keep a lease for as long as the process lives", async () => {
    const { store, lost } = await open();
    await lost(() => store.leases.take('job:x'), '."leases" (');
    expect(await store.leases.held()).toEqual([]);
    expect(await store.leases.take('job:x')).toBeDefined();
  });

  it("doesn't keep a send slot, but counts its request", async () => {
    const { store, lost } = await open();
    await lost(() =>
      store.transaction(async ({ sendSlots, quota }) => {
        expect(await sendSlots.take('account', 1, ['2026-11-27'])).toHaveProperty('ticket');
        await quota.charge('account', '2026-11-27');
      }),
    );
    expect(await store.sendSlots.underway('account')).toBe(0);
    expect(await store.sendSlots.take('account', 1)).toMatchObject({ freeInMs: expect.any(Number) });
    expect((await store.quota.use('account', '2026-11-27')).used).toBe(1);
  });

  it("doesn't keep a run of the fleet that the process doesn't know it has", async () => {
    const { store, lost } = await open();
    const waiting = { fired_at: 1, logical_at: null, attempt: null, next_firing: null, urgency: 1, config_sha256: 'c' };
    await store.fleetRuns.add({ job: 'orders', ...waiting });
    await lost(() => store.fleetRuns.take('c', 1), 'update "lost_');
    expect(await store.fleetRuns.taken()).toEqual([]);
    expect(await store.fleetRuns.take('c', 1)).toMatchObject([{ job: 'orders' }]);
  });

  it("interrupts the run that it began, so that the run's firing is repeated", async () => {
    const { store, lost } = await open();
    await lost(() => store.runs.begin({ job: 'orders', origin: 'schedule' }));
    expect(await store.runs.underway()).toEqual([]);
    expect(await store.runs.last('orders')).toMatchObject({ state: 'interrupted', code: 'RUN_INTERRUPTED' });
  });

  it('lets the attempt that it began begin again', async () => {
    const { store, lost } = await open();
    const run = await store.runs.begin({ job: 'orders', origin: 'schedule' });
    const times = { fired_at: 1, logical_at: null, since: 1, next_at: 2, until: 3 };
    const row = { job: 'orders', run, ...times, attempt: 1, waits: 1, facts: null };
    await store.retries.plan(run, { code: 'DOWN', message: 'down' }, row);
    await lost(() => store.retries.begin(run));
    expect(await store.runs.find(run)).toMatchObject({ state: 'retrying', attempts: 1 });
    expect(await store.retries.begin(run)).toBe(true);
    expect(await store.runs.find(run)).toMatchObject({ state: 'running', attempts: 2 });
  });
});
