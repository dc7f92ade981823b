import { statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { startPostgres } from '../servers/postgres.ts';
import type { TestServer } from '../servers/server.ts';
import type { Home } from './home.ts';
import { adminKey, forSuite, makeWorld, type Running, until, type World } from './world.ts';

const older = 'id,name\n1,old\n';
/** Practically endless rows of a kilobyte each; PostgreSQL stores none of them. */
const endless = "select generate_series(1, 1000000000) as id, repeat('x', 1000) as name";
const few = "select 1 as id, 'new' as name";
const newer = 'id,name\n1,new\n';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
});

interface Stage {
  readonly home: Home;
  readonly instance: string;
  /** Changes the query and, if one is given, the server. */
  ask(sql: string, url?: string): Promise<void>;
}

/** A job that has delivered once and whose next run uses another query. */
async function stage(url: string, sql: string): Promise<Stage> {
  const instance = await world.instance('csv');
  const home = await world.home();
  const ask = async (query: string, from = url): Promise<void> => {
    await home.config({
      keep: { payloads: 0 },
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { shop: { connector: 'db', url: from } },
      jobs: { orders: { source: 'shop', query, format: 'csv', target: instance } },
    });
  };
  await ask("select 1 as id, 'old' as name");
  expect((await home.syncHere()).code).toBe(0);
  await ask(sql);
  return { home, instance, ask };
}

/** The old rows are shown, nothing was sent for the failed run, and none of its files are left. */
async function expectUntouched({ home, instance }: Stage): Promise<void> {
  expect(await world.data(instance)).toBe(older);
  expect(await world.uploads(instance)).toHaveLength(1);
  expect(home.state().outbox.filter(({ state }) => state === 'owed')).toEqual([]);
  expect(home.state().runs.filter(({ state }) => state === 'running')).toEqual([]);
  expect(home.payloads()).toEqual([]);
}

async function expectWorksAgain({ home, instance, ask }: Stage, url?: string): Promise<void> {
  await ask(few, url);
  const ended = await home.syncHere();
  expect(ended.jobs).toMatchObject([{ state: 'delivered', rows: 1 }]);
  expect(await world.data(instance)).toBe(newer);
}

/** Resolves when rows have reached the disk, so that the extract is in progress. */
async function midExtract({ home }: Stage): Promise<void> {
  const path = (name: string) => join(home.folder, 'state', 'payloads', name);
  const parts = () => home.payloads().filter((name) => name.endsWith('.part'));
  const size = (name: string) => statSync(path(name), { throwIfNoEntry: false })?.size ?? 0;
  await until('rows to reach the disk', () => parts().some((name) => size(name) > 1_000_000));
}

async function underWay(one: Stage): Promise<Running> {
  const sync = one.home.start(['sync', '--json']);
  await midExtract(one);
  return sync;
}

/** Statements that the server is still running for us. */
async function statementsOf(server: TestServer): Promise<number> {
  const client = new pg.Client(server.url);
  await client.connect();
  try {
    const asked = 'select count(*)::int as n from pg_stat_activity where pid <> pg_backend_pid() and query like $1';
    const { rows } = await client.query<{ n: number }>(asked, ['%generate_series%']);
    return rows[0]!.n;
  } finally {
    await client.end();
  }
}

describeWithServer({ servers: 'PostgreSQL' }, 'a sync whose source fails midway', (server) => {
  it('uploads nothing if the query fails at row 500,000, and reports the job, the source and the row', async () => {
    const dies = 'select g as id, 1 / (500000 - g) as share from generate_series(1, 600000) g';
    const one = await stage(server().url, dies);
    const { code, jobs } = await one.home.sync();
    expect(code).toBe(1);
    const [orders] = jobs;
    expect(orders).toMatchObject({ job: 'orders', state: 'failed', requests: 0 });
    expect(orders!.problem!.message).toMatch(/division by zero/);
    expect(orders!.problem!.where).toMatchObject({ job: 'orders', source: 'shop', row: 500_000 });
    await expectUntouched(one);

    const said = await one.home.sluice(['sync']);
    expect(said.code).toBe(1);
    expect(said.stderr).toMatch(/where .*job orders, source shop.*, row 500000/);
    await expectWorksAgain(one);
  });

  it('uploads nothing if the server is killed, and the next sync works', async () => {
    const mortal = await startPostgres();
    try {
      const one = await stage(mortal.url, endless);
      const sync = await underWay(one);
      await mortal.kill();
      const ended = await sync.ended;
      expect(ended).toMatchObject({ code: 1, signal: null });
      const { jobs } = JSON.parse(ended.stdout) as Awaited<ReturnType<Home['sync']>>;
      expect(jobs).toMatchObject([{ state: 'failed', problem: { where: { job: 'orders', source: 'shop' } } }]);
      expect(jobs[0]!.problem!.code).not.toMatch(/THREW|BUG/);
      await expectUntouched(one);
      await expectWorksAgain(one, server().url);
    } finally {
      await mortal.stop();
    }
  });

  it("still runs other jobs if the source can't be reached", async () => {
    const one = await stage(server().url, few);
    const { url, password } = server();
    const away = await world.instance('csv');
    await one.home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: {
        shop: { connector: 'db', url },
        away: { connector: 'db', url: url.replace(/:\d+\//, ':9/') },
      },
      jobs: {
        lost: { source: 'away', query: few, format: 'csv', target: away },
        orders: { source: 'shop', query: few, format: 'csv', target: one.instance },
      },
    });
    const { code, jobs, stdout, stderr } = await one.home.sync();
    expect(code).toBe(1);
    expect(jobs.map(({ job, state }) => `${job} ${state}`)).toEqual(['lost failed', 'orders delivered']);
    expect(jobs[0]!.problem!.where).toMatchObject({ job: 'lost', source: 'away' });
    expect(jobs[0]!.problem!.next).toBeDefined();
    expect(stdout + stderr).not.toContain(password);
    expect(await world.data(one.instance)).toBe(newer);
    expect(await world.data(away)).toBeNull();
  });

  describe.for([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('on %s', ([name, exitCode]) => {
    it(`exits with ${exitCode} and disconnects from the server, and the next sync works`, async () => {
      const one = await stage(server().url, endless);
      const sync = await underWay(one);
      expect(await statementsOf(server())).toBe(1);
      sync.child.kill(name);
      expect(await sync.ended).toMatchObject({ code: exitCode, signal: null });
      await until('the statements to end on the server', async () => (await statementsOf(server())) === 0);
      await expectUntouched(one);
      expect(one.home.state().runs.map(({ state }) => state)).toEqual(['delivered', 'interrupted']);
      await expectWorksAgain(one);
    });
  });
});

describeWithServer({ servers: 'MariaDB' }, 'a sync whose MariaDB source fails midway', (server) => {
  it('also reports a failure at row 500,000', async () => {
    const dies = 'select seq as id, cast(9223372036854275807 + seq as signed) + 1 as share from seq_1_to_600000';
    const one = await stage(server().url, dies);
    const { code, jobs } = await one.home.sync();
    expect(code).toBe(1);
    expect(jobs).toMatchObject([{ job: 'orders', state: 'failed', requests: 0 }]);
    expect(jobs[0]!.problem!.where).toMatchObject({ job: 'orders', source: 'shop', row: 500_000 });
    await expectUntouched(one);
    await expectWorksAgain(one);
  });
});
