import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { describeWithServer } from '../servers/describe.ts';
import type { TestServer as DatabaseServer } from '../servers/server.ts';
import { forTest } from './process.ts';
import { adminKey, forSuite, makeWorld, type Running, until, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
});

const env = { SLUICE_KEY: 'key-for-logins-'.repeat(3) };
let schemas = 0;

interface FleetRow {
  readonly job: string;
  readonly owner: string | null;
}

/** A source that answers only when the test lets it. */
async function openSource() {
  const server = await new TestServer().start();
  forTest(() => server.stop());
  const held = new Map<ServerResponse, string>();
  let isOpen = false;
  const asked = new Map<string, number>();
  const reply = (response: ServerResponse, path: string) => sendJson(response, [{ path }]);
  server.answer = ({ pathname }, response) => {
    asked.set(pathname, (asked.get(pathname) ?? 0) + 1);
    if (isOpen) return reply(response, pathname);
    held.set(response, pathname);
    response.on('close', () => held.delete(response));
  };
  return {
    url: server.url,
    asked,
    /** The jobs whose requests are open now. */
    open: () => [...held.values()].sort(),
    release() {
      isOpen = true;
      for (const [response, path] of held) reply(response, path);
    },
  };
}

/** Processes with one state, whose jobs are all due as soon as one of the processes plans. */
async function openFleet(server: DatabaseServer, jobs: number) {
  const [home, source] = [await world.home(), await openSource()];
  const schema = `fleet_runs_${schemas++}`;
  const names = Array.from({ length: jobs }, (_, n) => `job${n}`);
  const instances = new Map<string, string>();
  for (const name of names) instances.set(name, await world.instance('json'));
  const jobOf = (name: string) => ({
    ...{ source: 'api', query: { path: `/${name}` }, format: 'json', target: instances.get(name) },
    schedule: '0 0 1 1 *',
  });
  const config = {
    state: `${server.url}?schema=${schema}`,
    destinations: { main: { url: world.url, api_key: adminKey } },
    // Requests that are held back must neither time out nor be retried.
    sources: { api: { connector: 'simple_rest', url: source.url, timeout_seconds: 600 } },
    jobs: Object.fromEntries(names.map((name) => [name, jobOf(name)])),
  };
  await home.config(config);
  const { host, port, user, password, database } = server;
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  forTest(() => client.end());
  const query = async <T extends object>(text: string): Promise<T[]> =>
    (await client.query(text.replaceAll('@', `${schema}.`))).rows as T[];
  const run = (...more: string[]): Running => home.start(['run', ...more], { env, serves: true });
  const rows = () => query<FleetRow>('select job, owner from @fleet_runs order by job');
  const states = (job: string) =>
    query<{ state: string; code: string | null }>(
      `select state, code from @runs where job = '${job}' order by sequence`,
    );
  const before = run('--concurrency', '1');
  await until('the first process to plan', () => before.output().includes('fleet.planning'));
  before.child.kill('SIGTERM');
  expect((await before.ended).code).toBe(0);
  await query(`update @schedules set next_at = ${Date.now() - 60_000}`);
  const pidOf = ({ owner }: FleetRow) => (owner === null ? undefined : (JSON.parse(owner) as unknown[])[3]);
  return {
    ...{ home, source, names, config, query, run, rows, states },
    /** The jobs that a process is running. */
    runsOf: async ({ child }: Running) => (await rows()).flatMap((row) => (pidOf(row) === child.pid ? [row.job] : [])),
    uploads: async () => Promise.all([...instances.values()].map(async (one) => (await world.uploads(one)).length)),
    isDelivered: async () =>
      (await query<{ n: number }>("select count(distinct job)::int as n from @runs where state = 'delivered'"))[0]!
        .n === jobs,
    all: names.map((name) => `/${name}`).sort(),
  };
}

type FleetOfTest = Awaited<ReturnType<typeof openFleet>>;

const says = (running: Running, what: string) => until(`"${what}"`, () => running.output().includes(what));

async function end(...processes: readonly Running[]): Promise<void> {
  for (const { child } of processes) child.kill('SIGTERM');
  for (const { ended } of processes) expect(await ended).toMatchObject({ code: 0 });
}

/** Lets the source answer, and checks that each firing's result arrived once. */
async function expectAllOnce({ source, isDelivered, uploads, names, rows }: FleetOfTest): Promise<void> {
  source.release();
  await until('all results to be delivered', isDelivered);
  await until('the planner to take all outcomes', async () => (await rows()).length === 0);
  expect(await uploads()).toEqual(names.map(() => 1));
}

describeWithServer({ servers: 'PostgreSQL' }, 'processes that share a state in a database', (server) => {
  it('share the runs; those of a killed or suspended process are begun again, and each result arrives once', async () => {
    const fleet = await openFleet(server(), 6);
    const { source, run, runsOf, states, all } = fleet;
    const planner = run('--concurrency', '2');
    await says(planner, 'fleet.planning');
    const [killed, suspended] = [run('--work-only', '--concurrency', '2'), run('--work-only', '--concurrency', '2')];
    await until('all runs to be in progress', () => source.open().length === 6);
    expect(source.open()).toEqual(all);
    for (const one of [planner, killed, suspended]) expect(await runsOf(one)).toHaveLength(2);
    const [again, late] = [await runsOf(killed), await runsOf(suspended)];
    killed.child.kill('SIGKILL');
    suspended.child.kill('SIGSTOP');
    const other = run('--work-only', '--concurrency', '6');
    await until('the killed runs to be begun again', () =>
      again.every((job) => (source.asked.get(`/${job}`) ?? 0) > 1),
    );
    await until('the suspended runs too', () => late.every((job) => (source.asked.get(`/${job}`) ?? 0) > 1));
    expect(planner.output()).toContain('fleet.run_recovered');
    suspended.child.kill('SIGCONT');
    await expectAllOnce(fleet);
    for (const job of [...again, ...late]) {
      expect((await states(job)).map(({ state }) => state)).toEqual(['interrupted', 'delivered']);
    }
    await end(planner, suspended, other);
  });

  it('go on planning when the planner is killed, and take over the runs of a process that is stopped', async () => {
    const fleet = await openFleet(server(), 4);
    const { source, run, runsOf, rows, all } = fleet;
    const planner = run('--concurrency', '1');
    await says(planner, 'fleet.planning');
    const others = [run('--concurrency', '4'), run('--concurrency', '4')];
    await until('all runs to be in progress', () => source.open().length === 4);
    planner.child.kill('SIGKILL');
    await until('another process to plan', () => others.some((one) => one.output().includes('fleet.planning')));
    await until('the runs of the planner to be begun again', () => source.open().length === 4);
    expect(source.open()).toEqual(all);
    const [next, last] = others[0]!.output().includes('fleet.planning') ? others : others.toReversed();
    // Stopped while it plans and runs jobs: it gives both up at once.
    const given = await runsOf(next!);
    next!.child.kill('SIGTERM');
    expect(await next!.ended).toMatchObject({ code: 0 });
    await says(last!, 'fleet.planning');
    await until('the runs to be begun elsewhere', () => source.open().length === 4);
    for (const job of given) expect(source.asked.get(`/${job}`)).toBeGreaterThan(1);
    expect(await runsOf(last!)).toHaveLength((await rows()).length);
    await expectAllOnce(fleet);
    await end(last!);
  });

  it('take only runs that were planned with their config, and end when a newer version has changed the schema', async () => {
    const fleet = await openFleet(server(), 2);
    const { home, config, source, run, query, runsOf } = fleet;
    const planner = run('--concurrency', '1');
    await says(planner, 'fleet.planning');
    await home.config({ ...config, concurrency: 3 });
    const other = run('--work-only');
    await says(other, 'fleet.config_differs');
    expect(await runsOf(other)).toEqual([]);
    expect(source.open()).toHaveLength(1);
    planner.child.kill('SIGHUP');
    await until('the other process to take the other run', async () => (await runsOf(other)).length === 1);
    await expectAllOnce(fleet);
    await query("insert into @migrations (number, name, at) values (99, 'later', 0)");
    for (const { ended } of [planner, other]) {
      expect(await ended).toMatchObject({ code: 2, stderr: expect.stringContaining('STATE_NEWER') });
    }
  });
});
