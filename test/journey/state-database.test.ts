import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { freePort } from '../servers/free-port.ts';
import type { TestServer } from '../servers/server.ts';
import type { Home } from './home.ts';
import { forTest, makeFolder } from './process.ts';
import { adminKey, forSuite, makeWorld, type Running, until, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
});

const env = { SLUICE_KEY: 'key-for-logins-'.repeat(3) };
let states = 0;

interface Shop {
  readonly home: Home;
  readonly instance: string;
  /** Runs a command; its output must not contain the database's password. */
  sluice(...args: string[]): ReturnType<Home['sluice']>;
  write(rows: string): Promise<unknown>;
}

/** A user with one job, whose state is in a new schema of the server. */
async function openShop(
  server: TestServer,
  change: (url: string) => string = (url) => url,
  more: object = {},
): Promise<Shop> {
  const [home, instance] = [await world.home(), await world.instance('csv')];
  await home.config({
    state: change(`${server.url}?schema=shop_${states++}`),
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: {
      orders: { source: 'files', query: { path: join(home.folder, 'orders.csv') }, format: 'csv', target: instance },
    },
    ...more,
  });
  const sluice = async (...args: string[]) => {
    const ended = await home.sluice(args, { env });
    expect(`${ended.stdout}${ended.stderr}`).not.toContain(server.password);
    return ended;
  };
  return { home, instance, sluice, write: (rows) => home.write('orders.csv', rows) };
}

const run = ({ home }: Shop, ...more: string[]): Running => home.start(['run', ...more], { env, serves: true });

/** A server that accepts connections and never answers. Returns its port and the number of connections so far. */
async function startSilent(): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const silent = createServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
    forTest(() => socket.destroy());
  });
  forTest(async () => void silent.close());
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  return { port: (silent.address() as AddressInfo).port, connections: () => connections };
}

describeWithServer({ servers: 'PostgreSQL' }, 'a state in a PostgreSQL database', (server) => {
  it('keeps what was delivered, the history and earlier payloads', async () => {
    const shop = await openShop(server());
    const { instance, sluice, write } = shop;
    expect((await sluice('status')).stdout).toContain('orders');
    await write('id\n1\n');
    expect(await sluice('sync')).toMatchObject({ code: 0, stdout: expect.stringContaining('delivered') });
    expect(await sluice('sync')).toMatchObject({ code: 0, stdout: expect.stringContaining('unchanged') });
    await write('id\n2\n');
    expect((await sluice('sync')).code).toBe(0);
    expect(await world.data(instance)).toBe('id\n2\n');
    const states = JSON.parse((await sluice('history', 'orders', '--json')).stdout) as { state: string }[];
    expect(states.map(({ state }) => state)).toEqual(['delivered', 'unchanged', 'delivered']);
    expect((await sluice('rollback', 'orders')).code).toBe(0);
    expect(await world.data(instance)).toBe('id\n1\n');
    expect((await sluice('status')).stdout).toContain('on hold');
    expect((await sluice('explain', 'orders')).code).toBe(0);
    expect((await sluice('resume', 'orders')).code).toBe(0);
    expect((await sluice('sync')).code).toBe(0);
    expect(await world.data(instance)).toBe('id\n2\n');
    expect(await world.uploads(instance)).toHaveLength(4);
  });

  it('lets several processes run the same jobs at once, and sends each result once', async () => {
    const shop = await openShop(server());
    await shop.write('id\n1\n');
    const both = await Promise.all([shop.sluice('sync'), shop.sluice('sync')]);
    // The second one either finds the first one's run in progress or finds its result delivered.
    const codes = both.map(({ code, stderr }) => (stderr.includes('JOB_BUSY') ? 0 : code));
    expect(codes).toEqual([0, 0]);
    expect(both.map(({ code }) => code)).toContain(0);
    expect(await world.uploads(shop.instance)).toHaveLength(1);
  });

  it('needs none of the files in the cache folder', async () => {
    const shop = await openShop(server());
    const lose = () => rm(join(shop.home.folder, 'sluice-cache'), { recursive: true });
    await shop.write('id\n1\n');
    expect((await shop.sluice('sync')).code).toBe(0);
    await shop.write('id\n2\n');
    expect((await shop.sluice('sync')).code).toBe(0);
    await lose();
    expect((await shop.sluice('history')).stdout).toContain('delivered');
    expect(await shop.sluice('sync')).toMatchObject({ code: 0, stdout: expect.stringContaining('unchanged') });
    await lose();
    expect((await shop.sluice('rollback', 'orders')).code).toBe(0);
    expect(await world.data(shop.instance)).toBe('id\n1\n');
  });

  it('has one process that plans, and another that takes over', async () => {
    const shop = await openShop(server());
    const { home, sluice } = shop;
    const health = async () => (await sluice('health', '--json')).stdout;
    const first = run(shop);
    await until('the daemon to be healthy', async () => (await sluice('health')).code === 0);
    const second = run(shop);
    await until('the other process to start', () => second.output().includes('daemon.started'));
    expect(await sluice('reload')).toMatchObject({ code: 0 });
    await shop.write('id\n1\n');
    expect(await sluice('sync')).toMatchObject({ code: 0 });
    first.child.kill('SIGKILL');
    await first.ended;
    await until('the other process to plan', async () => (await health()).includes(String(second.child.pid)));
    await home.write('sluice.yaml', 'destinations: [');
    const inEnvironment = { ...env, SLUICE_STATE: `${server().url}?schema=shop_${states - 1}` };
    const fallback = await home.sluice(['health'], { env: inEnvironment, cwd: home.folder });
    expect(fallback).toMatchObject({ code: 0 });
    second.child.kill('SIGTERM');
    expect((await second.ended).code).toBe(0);
    expect(`${first.output()}${second.output()}`).not.toContain(server().password);
  });

  it('is awaited by a daemon that starts before its server', async () => {
    const port = await freePort();
    const shop = await openShop(server(), (url) => url.replace(/:\d+\//, `:${port}/`));
    const [starting, ended] = [run(shop), run(shop)];
    for (const one of [starting, ended])
      await until('the daemon to wait', () => one.output().includes('state.waiting'), { seen: one.output });
    ended.child.kill('SIGTERM');
    expect(await ended.ended).toMatchObject({ code: 0 });
    const front = createServer((client) => {
      const upstream = connect({ port: server().port, host: '127.0.0.1' });
      for (const socket of [client, upstream]) socket.on('error', () => undefined);
      client.pipe(upstream).pipe(client);
    });
    forTest(async () => void front.close());
    await once(front.listen(port, '127.0.0.1'), 'listening');
    await until('the daemon to start', () => starting.output().includes('daemon.started'), { seen: starting.output });
    starting.child.kill('SIGTERM');
    expect((await starting.ended).code).toBe(0);
  });

  it("doesn't delay the end of a daemon that is stopped before its server has answered", async () => {
    const { port, connections } = await startSilent();
    const shop = await openShop(server(), (url) => url.replace(/:\d+\//, `:${port}/`));
    const daemon = run(shop);
    await until('the daemon to connect', () => connections() > 0, { seen: daemon.output });
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
  });

  it("isn't opened by a daemon that is stopped while it loads its config", async () => {
    const { port, connections } = await startSilent();
    const folder = await makeFolder();
    const [script, asked] = ['key.sh', 'asked'].map((name) => join(folder, name)) as [string, string];
    // The key never comes.
    await writeFile(script, `touch ${asked}; while true; do sleep 0.1; done`);
    const shop = await openShop(server(), (url) => url.replace(/:\d+\//, `:${port}/`), {
      allow_commands: true,
      destinations: { main: { url: world.url, api_key: `\${cmd:sh ${script}}` } },
    });
    const daemon = run(shop);
    await until('the config to be loaded', () => existsSync(asked), { seen: daemon.output });
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
    expect(daemon.output()).not.toContain('error');
    expect(connections()).toBe(0);
  });

  it('is awaited by a daemon until its start is complete', async () => {
    const shop = await openShop(server());
    await shop.write('id\n1\n');
    expect(await shop.sluice('sync')).toMatchObject({ code: 0 });
    const { host, port, user, password, database } = server();
    const client = new pg.Client({ host, port, user, password, database });
    await client.connect();
    forTest(() => client.end());
    const schema = `shop_${states - 1}`;
    await client.query(`create function ${schema}.refuse() returns trigger language plpgsql as $$ begin
      if new.name like 'process.heartbeat:%' then raise exception 'locked' using errcode = '55P03'; end if;
      return new; end $$`);
    await client.query(`create trigger refuse before insert on ${schema}.settings
      for each row execute function ${schema}.refuse()`);
    const daemon = run(shop);
    await until('the daemon to wait', () => daemon.output().includes('state.waiting'), { seen: daemon.output });
    expect(daemon.output()).toContain('daemon.started');
    await client.query(`drop trigger refuse on ${schema}.settings`);
    const beats = `select from ${schema}.settings where name like 'process.heartbeat:%'`;
    await until('the daemon to be ready', async () => (await client.query(beats)).rowCount === 1, {
      seen: daemon.output,
    });
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
  });

  it('is described without its password, also if it cannot be opened', async () => {
    const { sluice } = await openShop(server());
    const shown = `postgres://127.0.0.1:${server().port}/postgres`;
    expect((await sluice('config', 'show')).stdout).toContain(shown);
    expect(await sluice('doctor')).toMatchObject({ stdout: expect.stringContaining(shown) });
    expect(await sluice('check')).toMatchObject({ code: 0 });
    const wrong = await openShop(server(), (url) => url.replace(':pg-test', ':not-pg-test'));
    for (const command of ['sync', 'status', 'health', 'run'])
      expect(await wrong.sluice(command)).toMatchObject({ code: expect.not.stringContaining('0') });
    expect((await wrong.sluice('sync')).stderr).toContain('STATE_REFUSED');
    const absent = await openShop(server(), (url) => url.replace(/:\d+\//, ':9/'));
    expect((await absent.sluice('sync')).stderr).toContain('STATE_UNREACHABLE');
    const mistyped = await openShop(server(), (url) => `${url}&sslmode=on`);
    expect((await mistyped.sluice('status')).stderr).toContain('CONFIG_STATE_URL');
  });
});
