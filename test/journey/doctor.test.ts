import { chmod, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clockFinding } from '../../src/daemon/doctor/clocks.ts';
import { diskFinding } from '../../src/daemon/doctor/examine.ts';
import { orphansFinding } from '../../src/daemon/doctor/leftovers.ts';
import { zoneFinding } from '../../src/daemon/doctor/zones.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { openStore } from '../../src/state/store.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { describeWithServer } from '../servers/describe.ts';
import { freePort } from '../servers/free-port.ts';
import { oweText } from '../state/fixtures.ts';
import { type Home, makeHome } from './home.ts';
import { forTest } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

async function setUp(): Promise<{
  home: Home;
  state: string;
  bad: () => Promise<{ code: number | null; checks: string[] }>;
}> {
  const home = await makeHome(forTest);
  const file = await home.config({
    destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: { orders: { source: 'files', query: 'a.csv', format: 'csv', target: 'ab'.repeat(16) } },
  });
  await chmod(file, 0o600);
  const state = join(home.folder, 'state');
  await (await openStore(state, { clock: new SteppingClock() })).close();
  const bad = async () => {
    const { code, stdout, stderr } = await home.sluice(['doctor', '--json']);
    expect(stderr).toBe('');
    const { findings } = JSON.parse(stdout) as { findings: { check: string; ok: boolean; fix?: string }[] };
    return { code, checks: findings.flatMap(({ check, ok, fix }) => (ok || fix === undefined ? [] : [check])) };
  };
  return { home, state, bad };
}

describe('sluice doctor', () => {
  it('reports no problems if there are none', async () => {
    expect(await (await setUp()).bad()).toEqual({ code: 0, checks: [] });
  });

  it('reports a config with secrets and a state folder that other users can read', async () => {
    const { home, state, bad } = await setUp();
    await chmod(join(home.folder, 'sluice.yaml'), 0o644);
    await chmod(state, 0o755);
    expect(await bad()).toEqual({ code: 1, checks: ['config file', 'state permissions'] });
    const { stdout } = await home.sluice(['doctor']);
    expect(stdout).toMatch(
      /^BAD +config file +other users can read it, and it contains secrets: destinations\.main\.api_key \(line \d+\)$/m,
    );
    expect(stdout).not.toContain(adminKey);
  });

  it("doesn't treat an unset variable as a secret", async () => {
    const { home } = await setUp();
    const file = join(home.folder, 'sluice.yaml');
    await writeFile(file, (await readFile(file, 'utf8')).replace(adminKey, `\${env:NOBODY_SETS_THIS}`));
    await chmod(file, 0o644);
    const { stdout, stderr } = await home.sluice(['doctor']);
    expect(stderr).toContain('The environment variable NOBODY_SETS_THIS is not set');
    expect(stdout).toMatch(/ok +config file +contains no secrets that other users can read/);
  });

  it('reports a secrets file that other users can read, and owed payloads whose files are missing', async () => {
    const { home, state, bad } = await setUp();
    const path = await home.write('key', adminKey);
    await chmod(path, 0o644);
    const file = join(home.folder, 'sluice.yaml');
    await writeFile(file, (await readFile(file, 'utf8')).replace(adminKey, `\${file:./key}`));
    const store = await openStore(state, { clock: new SteppingClock() });
    await oweText(store, { instance: 'ab'.repeat(16), text: 'rows', asOf: noon });
    for (const row of await store.outbox.inState('owed')) await rm(row.path);
    await store.close();
    expect(await bad()).toEqual({ code: 1, checks: ['secret file', 'payloads'] });
  });

  it('reports a damaged database without changing it', async () => {
    const { state, bad } = await setUp();
    await writeFile(join(state, 'sluice.db'), 'not a database at all, and longer than a header would be');
    expect(await bad()).toEqual({ code: 1, checks: ['database'] });
  });

  it('reports a database written by a newer version of Sluice', async () => {
    const { state, bad } = await setUp();
    const database = new SqliteDatabase(join(state, 'sluice.db'));
    database.prepare("insert into migrations values (999, 'later', 0)").run();
    database.close();
    expect(await bad()).toEqual({ code: 1, checks: ['database'] });
  });

  it('checks that there is enough disk space for owed payloads and that time zone data is current', () => {
    expect(diskFinding({ free: 64e6, payloads: 1e6, state: '/x' }).ok).toBe(false);
    expect(diskFinding({ free: 90e6, payloads: 1e6, state: '/x' }).ok).toBe(true);
    const found = [Date.parse('2026-03-08T07:00Z'), Date.parse('2026-11-01T06:00Z')];
    expect(zoneFinding(2026, found).ok).toBe(true);
    expect(zoneFinding(2027, found).ok).toBe(false);
    expect(zoneFinding(2026, [undefined, undefined]).ok).toBe(false);
  });

  it('reports files that a killed backup left behind, and counts unreferenced files', async () => {
    const { home, state, bad } = await setUp();
    await mkdir(join(state, 'payloads', 'run'), { recursive: true });
    await writeFile(join(state, 'payloads', 'run', 'orphan.csv'), 'id\n');
    await mkdir(join(state, '.backup-x'));
    const longAgo = Date.now() / 1000 - 3 * 86_400;
    for (const name of ['payloads/run/orphan.csv', '.backup-x']) await utimes(join(state, name), longAgo, longAgo);
    expect(await bad()).toEqual({ code: 1, checks: ['leftovers'] });
    const { stdout } = await home.sluice(['doctor']);
    expect(stdout).toContain('1 unreferenced file (1 MB)');
    expect(stdout).toContain(`rm -r ${join(state, '.backup-x')}`);
    expect(orphansFinding({ count: 3, bytes: 5e8, first: '/x' })).toMatchObject({ ok: false });
  });

  it('shows the versions in use, and whether Temporal and Intl agree on time zones', async () => {
    const { home } = await setUp();
    const { stdout } = await home.sluice(['doctor']);
    expect(stdout).toMatch(/^ok +versions +Sluice \S+ \(.+\), Node \S+, SQLite 3\.\S+$/m);
    expect(stdout).toMatch(/^ok +calendars +Temporal and Intl agree on \d+ time zones$/m);
  });

  it("uses one request to compare the local clock with the service's clock", async () => {
    const world = await makeWorld();
    const { home } = await setUp();
    const file = await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'file' } },
      jobs: { orders: { source: 'files', query: 'a.csv', format: 'csv', target: world.instances.csv } },
    });
    await chmod(file, 0o600);
    const before = (await world.requests()).length;
    const right = await home.sluice(['doctor', '--connect']);
    expect([right.code, right.stdout]).toEqual([
      0,
      expect.stringMatching(/ok +clock +matches the clock of main to within/),
    ]);
    expect((await world.requests()).length - before).toBe(1);
    expect(home.state().quota.map(({ used }) => used)).toContain(1);
    const wrong = await home.sluice(['doctor', '--connect'], {
      preload: ['shifted-clock'],
      env: { CLOCK_SHIFT_MS: '90000' },
    });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toMatch(/BAD +clock +this machine's clock is 1 min \d\d s ahead of the clock of main/);
    expect(clockFinding('main', { date: 100_000, began: 90_000, ended: 90_200 })).toMatchObject({ ok: false });
    expect(clockFinding('main', { date: 100_000, began: 90_000, ended: 110_000 })).toMatchObject({ ok: true });
  });
});

describeWithServer({ servers: 'MariaDB' }, 'sluice doctor --connect', (server) => {
  it("reports privileges that allow a source's account to write, and a source that doesn't respond", async () => {
    const world = await makeWorld();
    const home = await world.home();
    const { host, port, database, user, password } = server();
    const shop = { connector: 'db', driver: 'mariadb', host, port, database, user, password };
    const job = (source: string, target: string) => ({ source, query: 'select 1 as n', format: 'csv', target });
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { shop, away: { ...shop, port: await freePort() } },
      jobs: { orders: job('shop', world.instances.csv), lost: job('away', world.instances.json) },
    });
    const { code, stdout } = await home.sluice(['doctor', '--connect']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ok +source +shop: MariaDB .*this account has write privileges: ALL PRIVILEGES$/m);
    expect(stdout).toMatch(/^BAD +source +away: .*cannot connect to.*\n +fix +check the host/m);
  });
});
