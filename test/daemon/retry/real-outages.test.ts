import mysql from 'mysql2/promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFtpScript } from '../../connectors/ftp-script.ts';
import { robot, startVendor } from '../../oauth/vendor.ts';
import { describeWithServer } from '../../servers/describe.ts';
import { Door, readReal } from './real.ts';
import { hour, minute, noon, openWorld, second } from './world.ts';

const outages = [
  ['5 seconds', 5 * second],
  ['5 minutes', 5 * minute],
  ['50 minutes', 50 * minute],
  ['4 hours of the night', 4 * hour],
] as const;

const longestWait = 10 * minute;

interface Outage {
  readonly real: Awaited<ReturnType<typeof open>>;
  readonly ms: number;
  /** Ends the outage. */
  readonly back: () => Promise<void> | void;
  /** What happens to attempts in the meantime. */
  readonly code: string;
}

async function open(source: Parameters<typeof readReal>[1]) {
  const world = await openWorld(noon - minute);
  return { ...world, ...(await readReal(world, source)) };
}

/** Fires the job while its source is unavailable, and makes the source available after `ms`. */
async function live({ real, ms, back, code }: Outage): Promise<void> {
  const { clock, config, asked, pass } = real;
  const { runtime, named } = await real.live(config);
  await pass(noon + ms - clock.now());
  expect(asked.length).toBeGreaterThan(0);
  await back();
  await pass(longestWait + minute);
  const [run, ...others] = await runtime.store.runs.history({ limit: 9 });
  expect(others).toEqual([]);
  expect(run).toMatchObject({ state: 'delivered', fired_at: noon, attempts: asked.length, code: null });
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.at(-1)! - (noon + ms)).toBeLessThanOrEqual(longestWait);
  expect(new Set(named('run.retrying').map(({ facts }) => facts.code))).toEqual(new Set([code]));
  expect(named('run.retrying')).toHaveLength(asked.length - 1);
  expect(named('run.finished')).toHaveLength(1);
  expect(await runtime.store.retries.all()).toEqual([]);
}

describeWithServer({ servers: ['PostgreSQL', 'MariaDB'] }, 'a stopped database', (server) => {
  const kinds = ['PostgreSQL', 'MariaDB'] as const;
  it.each(kinds.flatMap((kind) => outages.map(([span, ms]) => ({ kind, span, ms }))))(
    "for $span delays rows from $kind by at most one wait after it's available again",
    async ({ kind, ms }) => {
      const real = await open({ source: { connector: 'db', url: server(kind).url }, query: 'select 1 as x' });
      await server(kind).kill();
      await live({ real, ms, back: () => server(kind).restart(), code: 'DB_UNREACHABLE' });
    },
  );

  it("gets one probe at a time from 100 jobs, and all of them read it within one wait after it's available again", async () => {
    const { url, port } = server('PostgreSQL');
    const door = await Door.before(port);
    const through = new URL(url);
    through.port = String(door.port);
    const source = { connector: 'db', url: through.href };
    const real = await open({ source, query: 'select 1 as x', jobs: 100 });
    door.isShut = true;
    const { runtime, named } = await real.live({ ...real.config, concurrency: 4 });
    await real.pass(3 * minute);
    expect(named('run.started').filter(({ facts }) => facts.attempt === undefined)).toHaveLength(100);
    const before = door.knocks;
    expect(before).toBeLessThan(105);
    door.most = 0;
    await real.pass(48 * minute);
    expect(door.most).toBe(1);
    expect(door.knocks - before).toBeLessThan(12);
    door.isShut = false;
    await real.pass(longestWait + minute);
    const states = (await runtime.store.runs.lasts()).map(({ state }) => state);
    expect(states).toEqual(Array.from({ length: 100 }, () => 'delivered'));
  });

  it("receives only one wrong password from 100 jobs that fire every 15 minutes, and doesn't lock the account", async () => {
    const { host, port, user, password, database } = server('MariaDB');
    const admin = await mysql.createConnection({ host, port, user, password, database });
    onTestFinished(() => admin.end());
    // A second wrong password in a row locks the account, whatever follows.
    await admin.query('set global max_password_errors = 2');
    await admin.query("create user 'etl'@'127.0.0.1' identified by 'right'");
    await admin.query("grant select on *.* to 'etl'@'127.0.0.1'");
    const door = await Door.before(port);
    const source = { connector: 'db', url: `mysql://etl:wrong-password@127.0.0.1:${door.port}/${database}` };
    const real = await open({ source, query: 'select 1 as x', jobs: 100, schedule: '*/15 * * * *' });
    const { runtime } = await real.live(real.config);
    await real.pass(50 * minute);
    expect(await runtime.store.loginHolds.all()).toMatchObject([{ refusals: 1, code: 'DB_LOGIN_REFUSED' }]);
    expect(door.knocks).toBe(1);
    const right = await mysql.createConnection({ host, port, user: 'etl', password: 'right', database });
    expect((await right.query('select 1 as x'))[0]).toEqual([{ x: 1 }]);
    await right.end();
  });
});

describe('an unavailable FTP server', () => {
  async function openFtp(more: { jobs?: number } = {}) {
    const script = await openFtpScript({ files: new Map([['/a.csv', 'x\n1\n']]) });
    onTestFinished(() => script.close());
    const door = await Door.before(Number(script.source.port));
    const source = { connector: 'ftp', ...script.source, port: door.port };
    const real = await open({ source, query: { path: 'a.csv' }, ...more });
    door.isShut = true;
    return { real, door };
  }

  it.each(outages)("for %s delays its file by at most one wait after it's available again", async (_, ms) => {
    const { real, door } = await openFtp();
    const back = () => {
      door.isShut = false;
    };
    await live({ real, ms, back, code: 'FTP_UNREACHABLE' });
  });

  it('gets one probe at a time from 20 jobs', async () => {
    const { real, door } = await openFtp({ jobs: 20 });
    const { runtime } = await real.live(real.config);
    await real.pass(3 * minute);
    const before = door.knocks;
    door.most = 0;
    await real.pass(48 * minute);
    expect(door.most).toBe(1);
    expect(door.knocks - before).toBeLessThan(12);
    door.isShut = false;
    await real.pass(longestWait + minute);
    expect(new Set((await runtime.store.runs.lasts()).map(({ state }) => state))).toEqual(new Set(['delivered']));
  });
});

describe('an unavailable token endpoint', () => {
  it.each(outages)("for %s delays its API's rows by at most one wait after it's available again", async (_, ms) => {
    const vendor = await startVendor();
    onTestFinished(() => vendor.close());
    const source = {
      ...{ connector: 'simple_rest', url: vendor.url, retries: 0 },
      auth: { kind: 'client_credentials', token_url: `${vendor.url}/token`, client_authentication: 'basic' },
      login: { client_id: robot.id, client_secret: robot.secret },
    };
    const real = await open({ source, query: { path: '/rows' } });
    // Every second request is disconnected without a response.
    vendor.fault = (request, response) => {
      if (vendor.asked.length % 2 === 0) request.socket.destroy();
      else response.writeHead(503).end('no');
      return true;
    };
    const back = () => {
      vendor.fault = undefined;
    };
    await live({ real, ms, back, code: 'LOGIN_UNREACHABLE' });
  });
});
