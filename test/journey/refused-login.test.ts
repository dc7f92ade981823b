import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { dieAt, stepsOf } from '../chaos/stage.ts';
import { openFtpScript, type ScriptedFtp } from '../connectors/ftp-script.ts';
import type { Home } from './home.ts';
import { adminKey, forSuite, makeWorld, until, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, serve: ['--no-limits'] });
});

interface Town {
  readonly home: Home;
  readonly server: ScriptedFtp;
  readonly instance: string;
  /** Sets the only password that the server accepts. */
  accept(password: string): void;
  /** Writes the config with this password. */
  write(password: string): Promise<string>;
  /** Logins that the server has seen. */
  logins(): number;
}

/** A job that reads a file on an FTP server with a wrong password. */
async function setUp(): Promise<Town> {
  let right = 'right';
  const reply = (verb: string, argument: string) =>
    verb === 'PASS' && argument !== right ? '530 Login incorrect.' : undefined;
  const server = await openFtpScript({ files: new Map([['/a.csv', 'x\n1\n']]), reply });
  onTestFinished(() => server.close());
  const home = await world.home();
  const instance = await world.instance('csv');
  const write = (password: string) =>
    home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'ftp', ...server.source, password } },
      jobs: { rows: { source: 'files', query: { path: 'a.csv' }, format: 'csv', target: instance } },
    });
  await write('wrong');
  const accept = (password: string) => {
    right = password;
  };
  const logins = () => server.commands.filter((command) => command.startsWith('PASS')).length;
  return { home, server, instance, write, accept, logins };
}

/** Makes every hold's attempt due. */
function makeDue({ folder }: Home): void {
  const database = new SqliteDatabase(join(folder, 'state', 'sluice.db'));
  database.exec('update login_holds set retry_at = 1');
  database.close();
}

function holdsOf({ folder }: Home): unknown[] {
  const database = new SqliteDatabase(join(folder, 'state', 'sluice.db'));
  const rows = database.prepare('select * from login_holds').all();
  database.close();
  return rows;
}

const refused = [{ state: 'failed', problem: { code: 'FTP_LOGIN_REFUSED' } }];
const held = [{ state: 'on_hold', problem: { code: 'LOGIN_ON_HOLD' } }];

it('status shows that a login was refused, and no later run tries it again', async () => {
  const { home, logins } = await setUp();
  expect((await home.syncHere()).jobs).toMatchObject(refused);
  expect(await home.syncHere()).toMatchObject({ code: 1, jobs: held });
  const texts = await Promise.all([
    home.sluice(['status']),
    home.sluice(['explain', 'rows']),
    home.sluice(['sync']),
    home.sluice(['doctor', '--connect']),
    home.sluice(['sync', '--dry-run']),
    home.sluice(['sources']),
  ]);
  expect(logins()).toBe(1);
  const [status, explain, sync, doctor, preview, sources] = texts.map(({ stdout, stderr }) => `${stdout}${stderr}`);
  expect(status).toMatch(/login refused at ftp:\/\/127\.0\.0\.1:\d+ as u; 1 job is waiting; next attempt at /);
  expect(status).toContain('sluice sources resume files');
  expect(explain).toContain('login refused');
  expect(sync).toContain('on hold: login refused');
  expect(doctor).toContain('on hold to prevent an account lockout');
  expect(preview).toContain('LOGIN_ON_HOLD');
  expect(sources).toMatch(/^files +ftp +ftp:\/\/127\.0\.0\.1:\d+ as u +rows +login on hold; next attempt at /m);
});

it('a new password, a successful check or a resume lets the source log in again', async () => {
  const { home, instance, write, accept, logins } = await setUp();
  expect((await home.syncHere()).jobs).toMatchObject(refused);
  await write('right');
  expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered' }]);
  expect(await world.data(instance)).toBe('x\n1\n');

  accept('other');
  expect((await home.syncHere()).jobs).toMatchObject(refused);
  expect((await home.syncHere()).jobs).toMatchObject(held);
  expect((await home.sluice(['check', '--connect'])).stdout).toContain('FTP_LOGIN_REFUSED');
  accept('right');
  expect((await home.syncHere()).jobs).toMatchObject(held);
  expect(await home.sluice(['check', '--connect'])).toMatchObject({ code: 0 });
  expect((await home.syncHere()).jobs).not.toMatchObject(held);

  accept('other');
  expect((await home.syncHere()).jobs).toMatchObject(refused);
  accept('right');
  const resume = ['sources', 'resume', 'files', '--why', 'unlocked', '--json'];
  expect(JSON.parse((await home.sluice(resume)).stdout)).toEqual({ source: 'files', resumed: true });
  expect(JSON.parse((await home.sluice(resume)).stdout)).toEqual({ source: 'files', resumed: false });
  const before = logins();
  expect((await home.syncHere()).jobs).not.toMatchObject(held);
  expect(logins()).toBe(before + 1);
  expect((await home.sluice(['audit'])).stdout).toMatch(/resume +source files.*unlocked/);
  expect((await home.sluice(['sources', 'resume', 'flies'])).stderr).toContain('did you mean "files"?');
});

it('two syncs that start at the same time send a wrong password only once', async () => {
  const { promise: told, resolve: answer } = Promise.withResolvers<void>();
  const reply = async (verb: string) => {
    if (verb !== 'PASS') return undefined;
    await told;
    return '530 Login incorrect.';
  };
  const server = await openFtpScript({ files: new Map(), reply });
  onTestFinished(() => server.close());
  const home = await world.home();
  const job = async () => ({
    ...{ source: 'files', query: { path: 'a.csv' }, format: 'csv' },
    target: await world.instance('csv'),
  });
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'ftp', ...server.source } },
    jobs: { first: await job(), second: await job() },
  });
  const logins = () => server.commands.filter((command) => command.startsWith('PASS')).length;
  const first = home.sync({ args: ['first'] });
  await until("the first job's login", () => logins() === 1);
  const second = home.sync({ args: ['second'] });
  await until("the second job's run", () => home.state().runs.some((run) => run.job === 'second'));
  // Enough time to log in for an attempt that doesn't wait.
  await wait(500);
  answer();
  expect((await first).jobs).toMatchObject(refused);
  expect((await second).jobs).toMatchObject([{ job: 'second', problem: { code: 'LOGIN_ON_HOLD' } }]);
  expect(logins()).toBe(1);
});

it('a rejected password is sent again at most once if the process is killed at any step of the login', async () => {
  const listed = await setUp();
  await listed.home.sync(dieAt(listed, ''));
  const steps = (await stepsOf(listed)).filter((step) =>
    /login_holds|say source\.on_hold|say extract\.failed/.test(step),
  );
  expect(steps).toContain('commit insert into login_holds #1');
  expect(steps).toContain('say source.on_hold #1');
  for (const step of steps) {
    const town = await setUp();
    expect(await town.home.sync(dieAt(town, step)), step).toMatchObject({ signal: 'SIGKILL' });
    const isKept = step !== 'commit insert into login_holds #1';
    expect((await town.home.syncHere()).jobs, step).toMatchObject(isKept ? held : refused);
    expect((await town.home.syncHere()).jobs, step).toMatchObject(held);
    expect(town.logins(), step).toBe(isKept ? 1 : 2);
  }
});

it('a due login attempt is made at most once, even if the process is killed at any of its steps', async () => {
  const listed = await setUp();
  await listed.home.syncHere();
  makeDue(listed.home);
  expect((await listed.home.sync(dieAt(listed, ''))).jobs).toMatchObject(refused);
  const steps = (await stepsOf(listed)).filter((step) => /login_holds|say source\.on_hold|say run\.started/.test(step));
  expect(steps.length).toBeGreaterThan(3);
  for (const step of steps) {
    const town = await setUp();
    await town.home.syncHere();
    makeDue(town.home);
    expect(await town.home.sync(dieAt(town, step)), step).toMatchObject({ signal: 'SIGKILL' });
    await town.home.syncHere();
    expect((await town.home.syncHere()).jobs, step).toMatchObject(held);
    expect(town.logins(), step).toBeLessThanOrEqual(2);
  }
});

it("a working login doesn't stay on hold if the process is killed while it lifts the hold", async () => {
  const heldSince = async () => {
    const town = await setUp();
    await town.home.syncHere();
    makeDue(town.home);
    town.accept('wrong');
    return town;
  };
  const listed = await heldSince();
  expect((await listed.home.sync(dieAt(listed, ''))).jobs).toMatchObject([{ state: 'delivered' }]);
  const steps = (await stepsOf(listed)).filter((step) => /login_holds|say source\.resumed/.test(step));
  expect(steps).toContain('commit delete from login_holds #1');
  expect(steps).toContain('say source.resumed #1');
  for (const step of steps) {
    const town = await heldSince();
    expect(await town.home.sync(dieAt(town, step)), step).toMatchObject({ signal: 'SIGKILL' });
    // An attempt that was claimed counts even if it was never made, so the next one is due later.
    makeDue(town.home);
    expect((await town.home.syncHere()).jobs, step).toMatchObject([
      { state: expect.stringMatching(/delivered|unchanged/) },
    ]);
    expect(holdsOf(town.home), step).toEqual([]);
  }
});

it('a resume killed at any step either lifts the hold and records the user, or does nothing', async () => {
  const resume = ['sources', 'resume', 'files', '--why', 'unlocked'];
  const listed = await setUp();
  await listed.home.syncHere();
  await listed.home.sluice(resume, dieAt(listed, ''));
  const steps = await stepsOf(listed);
  expect(steps.some((step) => step.startsWith('commit '))).toBe(true);
  for (const step of steps) {
    const town = await setUp();
    await town.home.syncHere();
    expect(await town.home.sluice(resume, dieAt(town, step)), step).toMatchObject({ signal: 'SIGKILL' });
    const isLifted = holdsOf(town.home).length === 0;
    expect((await town.home.sluice(['audit'])).stdout.includes('unlocked'), step).toBe(isLifted);
  }
});
