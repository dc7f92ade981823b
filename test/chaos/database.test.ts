import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { openReceiver, secret } from '../alerts/receiver.ts';
import type { Home } from '../journey/home.ts';
import { forTest } from '../journey/process.ts';
import { adminKey, busiestWindow, forSuite, makeWorld, type Running, until, type World } from '../journey/world.ts';
import { describeWithServer } from '../servers/describe.ts';
import type { TestServer } from '../servers/server.ts';

const scope = forSuite();
let world: World;
let schemas = 0;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000, requests_per_day: 1_000_000 } });
});

const env = { SLUICE_KEY: 'key-for-logins-'.repeat(3) };

interface Shop {
  readonly home: Home;
  readonly schema: string;
  /** The instance of each job. */
  readonly instances: readonly string[];
}

/** A user whose state is on the server, with some jobs that read a file each. */
async function openShop(server: TestServer, { jobs = 1, schedule, top = {} }: ShopOptions = {}): Promise<Shop> {
  const home = await world.home();
  const schema = `chaos_${++schemas}`;
  const instances = await Promise.all(Array.from({ length: jobs }, () => world.instance('csv')));
  await home.config({
    state: `${server.url}?schema=${schema}`,
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: Object.fromEntries(
      instances.map((target, nth) => [
        `job${nth}`,
        { source: 'files', query: { path: join(home.folder, `${nth}.csv`) }, format: 'csv', target, schedule },
      ]),
    ),
    ...top,
  });
  return { home, schema, instances };
}

interface ShopOptions {
  readonly jobs?: number;
  readonly schedule?: string;
  readonly top?: object;
}

/** Writes the rows of all jobs. */
async function write({ home, instances }: Shop, row: string): Promise<void> {
  for (const nth of instances.keys()) await home.write(`${nth}.csv`, `id\n${row}${nth}\n`);
}

const start = ({ home }: Shop): Running => home.start(['run'], { env, serves: true });
const says = (running: Running, text: string): Promise<void> =>
  until(text, () => running.output().includes(text), { seen: running.output });

async function query({ url }: TestServer, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  return client
    .query(text)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

/** Stops all of the server's processes, so that it keeps its connections but doesn't respond. */
function hang(server: TestServer): void {
  const [first] = readFileSync(join(server.folder, 'data/postmaster.pid'), 'utf8').split('\n');
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ');
  const signal = (name: NodeJS.Signals): void => {
    for (const pid of [first, ...children]) process.kill(Number(pid), name);
  };
  signal('SIGSTOP');
  forTest(() => signal('SIGCONT'));
}

describeWithServer({ servers: 'PostgreSQL' }, "a state's database that goes away", (server) => {
  it("delays the due jobs until it's back, with one alert, and doesn't delay the end of a daemon if it hangs", async () => {
    const receiver = await openReceiver();
    const channels = { hook: { type: 'webhook', url: receiver.url, secret } };
    const top = { monitor: { port: 0 }, alerts: { channels, settle: '1s' } };
    // A job that runs each minute needs more than the rest of the daily allowance if the day has just begun, and that is
    // reported, too.
    const ofState = () => receiver.titles().filter((title) => title.includes('the state'));
    const shop = await openShop(server(), { schedule: 'every 1m', top });
    await write(shop, 'a');
    const daemon = start(shop);
    await says(daemon, 'daemon.started');
    const monitor = /"url":"(http[^"]+)","msg":"monitor.listening"/.exec(daemon.output())![1]!;
    const look = async (path: string) => {
      const response = await fetch(`${monitor}${path}`);
      return { status: response.status, text: await response.text() };
    };
    await says(daemon, 'fleet.planning');
    await until('the daemon to be ready', async () => (await look('/readyz')).status === 200);
    await server().kill();
    expect(await look('/readyz')).toMatchObject({ status: 503, text: expect.stringContaining('"state"') });
    await says(daemon, 'state.unwritable');
    expect(await look('/readyz')).toMatchObject({ status: 503, text: expect.stringContaining('STATE_UNREACHABLE') });
    expect(await look('/healthz')).toMatchObject({ status: 200 });
    await until('the alert', () => ofState().length === 1);
    expect(ofState()).toEqual(['the state is not writable']);
    expect(await world.uploads(shop.instances[0])).toEqual([]);
    await server().restart();
    await says(daemon, 'payload.delivered');
    expect(await world.data(shop.instances[0]!)).toBe('id\na0\n');
    await until('the end of the alert', () => ofState().length === 2);
    expect(ofState()[1]).toBe('the state is writable again');
    await until('the daemon to be ready again', async () => (await look('/readyz')).status === 200);
    hang(server());
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
    expect(daemon.output()).toContain('daemon.stopped');
    const reported = daemon.output().match(/state\.(un)?writable/g);
    expect(reported).toEqual(['state.unwritable', 'state.writable']);
    expect(ofState()).toHaveLength(2);
    expect(daemon.output()).not.toContain(server().password);
  }, 400_000);

  it('loses nothing and exceeds no limit if it restarts and cuts connections during uploads', async () => {
    const shop = await openShop(server(), { jobs: 20 });
    const { home, instances, schema } = shop;
    await write(shop, 'a');
    const syncing = home.start(['sync'], { env });
    const isSent = (count: number) => async () => {
      const { length } = (await world.uploads()).filter(({ path }) => instances.some((one) => path.includes(one)));
      return length >= count;
    };
    const cut = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice'";
    await until('the first upload', isSent(1));
    await query(server(), cut);
    await until('more uploads', isSent(4));
    await server().kill();
    await server().restart();
    await until('more uploads', isSent(8));
    for (let times = 0; times < 5; times++) {
      await query(server(), cut);
      await wait(200);
    }
    await syncing.ended;
    const last = await home.sluice(['sync'], { env });
    expect(last, `${last.stdout}${last.stderr}`).toMatchObject({ code: 0 });
    for (const [nth, instance] of instances.entries()) expect(await world.data(instance)).toBe(`id\na${nth}\n`);
    const uploads = (await world.uploads()).filter(({ path }) => instances.some((one) => path.includes(one)));
    expect(busiestWindow(uploads.map(({ arrived }) => arrived))).toBeLessThanOrEqual(5);
    const count = async (text: string) => Number((await query(server(), text))[0]!.count);
    expect(await count(`select sum(used) as count from ${schema}.quota`)).toBeGreaterThanOrEqual(uploads.length);
    const open = `select count(*) from ${schema}.runs where state in ('running', 'owed', 'retrying')`;
    expect(await count(open)).toBe(0);
    expect(await count(`select count(*) from ${schema}.outbox where state = 'owed'`)).toBe(0);
    expect(await count(`select count(*) from ${schema}.leases`)).toBe(0);
  }, 400_000);

  it("doesn't delay the end of a daemon that is still starting if it hangs", async () => {
    const shop = await openShop(server(), { schedule: 'every 1m' });
    await write(shop, 'a');
    const daemon = start(shop);
    await says(daemon, 'daemon.started');
    hang(server());
    daemon.child.kill('SIGTERM');
    const { code, signal, stderr } = await daemon.ended;
    expect({ code, signal, stderr }).toMatchObject({ code: 0, signal: null, stderr: '' });
  });
});
