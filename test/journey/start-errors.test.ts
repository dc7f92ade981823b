import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openReceiver, secret } from '../alerts/receiver.ts';
import { client, startVendor } from '../oauth/vendor.ts';
import { freePort } from '../servers/free-port.ts';
import type { Home } from './home.ts';
import { adminKey, makeWorld, until, type World } from './world.ts';

const connectors = new URL('../oauth/connectors/', import.meta.url).pathname;

/** A schedule that doesn't fire during a test. */
const seldom = { format: 'csv', schedule: '0 0 29 2 *' };

/** A user with a job that can run, other jobs that a test adds, and a webhook that receives alerts. */
async function setUp(
  world: World,
  { jobs = {}, sources = {}, ...more }: { jobs?: object; sources?: object; [top: string]: unknown },
) {
  const home = await world.home();
  await home.write('rows.csv', 'id,name\n1,a\n');
  const receiver = await openReceiver();
  const config = (beside: { jobs?: object; sources?: object }) => ({
    destinations: { main: { url: world.url, api_key: adminKey } },
    alerts: { channels: { ops: { type: 'webhook', url: receiver.url, secret } }, settle: '1s' },
    ...more,
    sources: { files: { connector: 'file' }, ...beside.sources },
    jobs: { good: { ...seldom, source: 'files', query: 'rows.csv', target: world.instances.csv }, ...beside.jobs },
  });
  await home.config(config({ jobs, sources }));
  const run = async () => {
    const daemon = home.start(['run']);
    await until('the daemon to start', () => daemon.output().includes('daemon.started'));
    return daemon;
  };
  return { home, receiver, run, repair: () => home.config(config({})) };
}

const nobody = async () => ({
  connector: 'db',
  url: `postgres://reader:s3cret-word@127.0.0.1:${await freePort()}/shop`,
});

async function jobsOf(home: Home): Promise<string[]> {
  const { stdout } = await home.sluice(['config', 'show', 'jobs', '--json']);
  return Object.keys((JSON.parse(stdout) as { values: { jobs: object } }).values.jobs);
}

it("a daemon starts without the jobs that can't run, sends an alert about them, and resolves the alert once the config is valid", async () => {
  const world = await makeWorld();
  const bad = { ...seldom, source: 'nowhere', query: 'x.csv', target: world.instances.json };
  const { home, receiver, run, repair } = await setUp(world, { jobs: { bad } });
  const daemon = await run();
  const lines = daemon.output().split('\n').slice(0, 2);
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['config.error', 'daemon.started']);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: 50,
    code: 'CONFIG_UNKNOWN_SOURCE',
    place: expect.stringMatching(/sluice\.yaml:\d+:\d+$/),
    message: expect.stringContaining('nowhere'),
  });
  await receiver.receives(1);
  expect(receiver.titles()).toEqual(['the active config differs from the config file']);
  expect(receiver.got[0]!.text).toMatch(/Unknown source .*nowhere/);
  expect(await jobsOf(home)).toEqual(['good']);
  await repair();
  daemon.child.kill('SIGHUP');
  await until('the alert to close', async () => (await home.sluice(['alerts'])).stdout.includes('No open alerts'));
});

it('with on_start_error: retry, a daemon starts each job once the file that it needs exists, and ignores config edits', async () => {
  const world = await makeWorld();
  const late = (name: string) => ({ connector: 'file', folder: `\${file:${name}}` });
  const { home, run, repair } = await setUp(world, {
    on_start_error: 'retry',
    sources: { soon: late('soon.txt'), later: late('later.txt') },
    jobs: {
      soon: { ...seldom, source: 'soon', query: 'rows.csv', target: world.instances.json, format: 'json' },
      later: { ...seldom, source: 'later', query: 'rows.csv', target: world.instances.xml, format: 'xml' },
    },
  });
  const daemon = await run();
  await until('the recorded config to have only the good job', async () => (await jobsOf(home)).join() === 'good');
  await home.write('soon.txt', '.');
  await until('the first job to be active', async () => (await jobsOf(home)).join() === 'good,soon');
  await home.write('later.txt', '.');
  await until('the second job to be active', async () => (await jobsOf(home)).join() === 'good,soon,later');
  const reloads = () => daemon.output().match(/"config.reloaded"/g)?.length;
  await until('the second reload to be logged', () => reloads() === 2);
  await repair();
  expect(reloads()).toBe(2);
  expect(await jobsOf(home)).toEqual(['good', 'soon', 'later']);
});

it('with on_start_error: probe, a daemon tests every source once at startup, and reports which run will fail', async () => {
  const world = await makeWorld();
  const lost = { ...seldom, source: 'shop', query: 'select 1', target: world.instances.json, format: 'json' };
  const { home, receiver, run } = await setUp(world, {
    on_start_error: 'probe',
    sources: { shop: await nobody() },
    jobs: { lost },
  });
  const before = (await world.requests()).length;
  await run();
  await receiver.receives(1);
  expect(receiver.titles()).toEqual(['shop does not respond']);
  expect(receiver.got[0]!.text).toMatch(/the next run of lost at 2028-02-29 00:00:00Z will fail: .*cannot connect to/);
  const { stdout } = await home.sluice(['status']);
  expect(stdout).toMatch(/warning: shop: the next run of lost .* will fail: /);
  expect((await home.sluice(['explain', 'lost'])).stdout).toContain("a check of the job's source failed");
  expect(stdout + receiver.got[0]!.text).not.toContain('s3cret-word');
  expect((await world.requests()).length).toBe(before);
});

it.each([['on_start_error: fail'], ['--strict']])('with %s, a daemon starts only if all jobs can run', async (how) => {
  const world = await makeWorld();
  const top = how === '--strict' ? {} : { on_start_error: 'fail' };
  const start = (home: Home) => home.sluice(['run', ...(how === '--strict' ? [how] : [])]);
  const bad = { ...seldom, source: 'nowhere', query: 'x.csv', target: world.instances.json };
  const faulty = await start((await setUp(world, { ...top, jobs: { bad } })).home);
  expect(faulty.code).toBe(2);
  expect(JSON.parse(faulty.stdout)).toMatchObject({ code: 'CONFIG_UNKNOWN_SOURCE', msg: 'config.error' });
  expect(faulty.stderr).toMatch(/^START_FAULTS: Not started: the config has 1 error/);

  const lost = { ...seldom, source: 'shop', query: 'select 1', target: world.instances.json, format: 'json' };
  const away = await start((await setUp(world, { ...top, sources: { shop: await nobody() }, jobs: { lost } })).home);
  expect(away.code).toBe(1);
  expect(away.stdout).not.toContain('daemon.started');
  expect(away.stderr).toMatch(/DB_UNREACHABLE[\s\S]*START_SILENCE: Not started: 1 source does not respond/);
  expect(await world.uploads()).toEqual([]);
});

it("with on_start_error: fail, a daemon doesn't start if a login has no token or a connector can't be loaded", async () => {
  const world = await makeWorld();
  const vendor = await startVendor({ redirects: ['http://127.0.0.1:1/callback'] });
  onTestFinished(() => vendor.close());
  const login = { client_id: client.id, client_secret: client.secret };
  const acme = { ...seldom, source: 'acme', target: world.instances.json, format: 'json' };
  const sources = { acme: { connector: 'acme', url: vendor.url, login } };
  const untold = await setUp(world, { on_start_error: 'fail', connectors, sources, jobs: { acme } });
  const refused = await untold.home.sluice(['run']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/LOGIN_NEEDED[\s\S]*sluice login acme[\s\S]*START_SILENCE/);

  const plugin = { ...seldom, source: 'own', target: world.instances.json, format: 'json' };
  const mine = { connectors: './mine', sources: { own: { connector: 'broken' } }, jobs: { plugin } };
  const strict = await setUp(world, { on_start_error: 'fail', ...mine });
  await mkdir(join(strict.home.folder, 'mine'));
  await strict.home.write('mine/broken.ts', 'throw new Error("it is not finished");\n');
  const broken = await strict.home.sluice(['run']);
  expect(broken).toMatchObject({ code: 2, stdout: expect.stringContaining('it is not finished') });
  expect(broken.stderr).toContain('START_FAULTS');
});

it.each([
  ['in the log, one line each', [], ['config.error', 'config.error'], /^CONFIG_UNUSABLE/],
  ['on standard error without a log', ['--log', 'silent'], [], /CONFIG_[\s\S]*CONFIG_[\s\S]*CONFIG_UNUSABLE/],
])('a daemon reports why a config file is unusable %s', async (_, flags, lines, stderr) => {
  const { home } = await setUp(await makeWorld(), { version: 7, timezone: 'Mars/Base' });
  const started = await home.sluice(['run', ...flags]);
  expect(started.code).toBe(2);
  const written = started.stdout.split('\n').filter((line) => line !== '');
  expect(written.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(lines);
  expect(started.stderr).toMatch(stderr);
});
