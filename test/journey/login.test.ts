import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { agree, enterCode } from '../oauth/person.ts';
import { client, robot, startVendor, type Vendor, type VendorOptions } from '../oauth/vendor.ts';
import { freePort } from '../servers/free-port.ts';
import { type Home, makeHome } from './home.ts';
import { forTest } from './process.ts';
import { adminKey, forSuite, makeWorld, type Running, until, type World } from './world.ts';

const connectors = new URL('../oauth/connectors/', import.meta.url).pathname;
const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope });
});

interface Place {
  readonly vendor: Vendor;
  readonly home: Home;
}

/**
 * A vendor, and a user of Sluice with jobs that read it. The browser may be redirected to any free port on this
 * machine.
 */
async function makePlace(
  options: VendorOptions = {},
  more: { login?: object; source?: object; jobs?: number } = {},
): Promise<Place> {
  const redirect = `http://127.0.0.1:${await freePort()}/callback`;
  const vendor = await startVendor({ redirects: [redirect], ...options });
  onTestFinished(() => vendor.close());
  const home = await makeHome(forTest);
  const login = { client_id: client.id, client_secret: client.secret, redirect_uri: redirect, ...more.login };
  const names = Array.from({ length: more.jobs ?? 1 }, (_, i) => `rows${i}`);
  const jobs = await Promise.all(
    names.map(
      async (name) =>
        [name, { source: 'acme', format: 'csv', target: await world.instance('csv'), always: true }] as const,
    ),
  );
  await home.config({
    connectors,
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { acme: { connector: 'acme', url: vendor.url, login, ...more.source } },
    jobs: Object.fromEntries(jobs),
  });
  return { vendor, home };
}

/** The URL that a running login printed. */
async function addressOf(login: Running): Promise<string> {
  await until('the login URL to be printed', () => /^ {2}http/m.test(login.output()));
  return /^ {2}(http\S+)/m.exec(login.output())![1]!;
}

/** Logs in like a user whose browser is on this machine. */
async function logIn(home: Home): Promise<string> {
  const login = home.start(['login', 'acme', '--no-browser']);
  const url = await addressOf(login);
  const back = await agree(url, new URL(url).searchParams.get('redirect_uri')!);
  const page = await fetch(back);
  expect(await page.text()).toContain('Logged in');
  const { code, stdout, stderr } = await login.ended;
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout;
}

describe('sluice login', () => {
  it("asks the user for consent in a browser and stores encrypted tokens; then all of the source's jobs run", async () => {
    const { vendor, home } = await makePlace();
    const before = await home.syncHere();
    expect(before.jobs[0]?.problem).toMatchObject({ code: 'LOGIN_NEEDED', next: 'sluice login acme' });

    const said = await logIn(home);
    expect(said).toContain('Logged in as alice, for acme.');
    const { jobs } = await home.syncHere();
    expect(jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);

    const database = readFileSync(join(home.folder, 'state', 'sluice.db')).toString('latin1');
    expect(database).toContain('"rows0"'.slice(1, -1));
    expect(database).not.toMatch(/refresh_?token/i);
    expect(statSync(join(home.folder, 'state', 'login.key')).mode & 0o777).toBe(0o600);
    expect(vendor.asked).toHaveLength(1);
  });

  it('rejects a redirect with the wrong state, and keeps waiting for the right one', async () => {
    const { home } = await makePlace();
    const login = home.start(['login', 'acme', '--no-browser']);
    const url = new URL(await addressOf(login));
    const back = url.searchParams.get('redirect_uri')!;
    const forged = await fetch(`${back}?code=stolen-code&state=guessed`);
    expect(forged.status).toBe(400);
    expect((await fetch(new URL('/elsewhere', back))).status).toBe(404);
    const right = await agree(url.href, back);
    expect((await fetch(right)).status).toBe(200);
    expect((await login.ended).code).toBe(0);
    await expect(fetch(right)).rejects.toThrow();
  });

  it('accepts a URL that a user pastes from another machine, and prints neither the code nor the token', async () => {
    const { home } = await makePlace();
    const login = home.start(['login', 'acme', '--paste'], { input: true });
    const url = await addressOf(login);
    const back = await agree(url, new URL(url).searchParams.get('redirect_uri')!);
    login.child.stdin!.end(`${back}\n`);
    const { code, stdout, stderr } = await login.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Logged in as alice');
    expect(stdout + stderr).not.toContain(new URL(back).searchParams.get('code'));
  });

  it('shows a code to enter on another machine, and waits until it has been entered', async () => {
    const { home } = await makePlace();
    const login = home.start(['login', 'acme', '--code']);
    const address = await addressOf(login);
    await until('the user code to be printed', () => /^ {2}\w{4}-\w{4}$/m.test(login.output()));
    const [code = ''] = /\w{4}-\w{4}/.exec(login.output())!;
    await enterCode(address, code);
    const { code: status, stdout, stderr } = await login.ended;
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('Logged in as alice, for acme.');
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
  });

  it('suggests `--paste` and `--code` if there is no browser', async () => {
    const { home } = await makePlace();
    const nobody = { DISPLAY: undefined, WAYLAND_DISPLAY: undefined, BROWSER: undefined };
    const login = home.start(['login', 'acme'], { env: nobody });
    await until('the hint about the redirect', () => login.output().includes('Waiting for the redirect'));
    expect(login.output()).toContain('use "sluice login acme --paste" or "sluice login acme --code"');
    login.child.kill('SIGINT');
    expect((await login.ended).code).toBe(130);
  });

  it("suggests `--paste` if the vendor doesn't support device codes", async () => {
    const { home } = await makePlace({}, { source: { codes: false } });
    const { code, stderr } = await home.sluice(['login', 'acme', '--code']);
    expect(code).toBe(2);
    expect(stderr).toContain('CLI_NO_CODES: Acme does not support login by code');
    expect(stderr).toContain('sluice login acme --paste');
  });

  it('logs in to any REST API where a user can grant an app access', async () => {
    const { vendor, home } = await makePlace();
    const { url } = vendor;
    const auth = {
      kind: 'authorization_code',
      authorize_url: `${url}/auth`,
      token_url: `${url}/token`,
      device_url: `${url}/device/auth`,
      scopes: ['openid', 'offline_access'],
      authorize_parameters: { prompt: 'consent' },
    };
    const login = { client_id: client.id, client_secret: client.secret };
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { graph: { connector: 'simple_rest', url, auth, login } },
      jobs: { rows: { source: 'graph', query: '/rows', format: 'csv', target: await world.instance('csv') } },
    });
    const entering = home.start(['login', 'graph', '--code']);
    const address = await addressOf(entering);
    await until('the user code to be printed', () => /^ {2}\w{4}-\w{4}$/m.test(entering.output()));
    await enterCode(address, /\w{4}-\w{4}/.exec(entering.output())![0]);
    expect((await entering.ended).stdout).toContain('Logged in as alice, for graph.');
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered', rows: 2 }]);
  });

  it('reports that the user denied access', async () => {
    const { home } = await makePlace();
    const login = home.start(['login', 'acme', '--no-browser']);
    const url = new URL(await addressOf(login));
    const back = new URL(url.searchParams.get('redirect_uri')!);
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('state', url.searchParams.get('state')!);
    await fetch(back);
    const { code, stderr } = await login.ended;
    expect(code).toBe(3);
    expect(stderr).toContain('LOGIN_DENIED: Consent was refused in the browser');
  });

  it('tests a client credentials login immediately', async () => {
    const login = { grant: 'client_credentials', client_id: robot.id, client_secret: robot.secret, scopes: ['read'] };
    const { home } = await makePlace({}, { login });
    const { code, stdout } = await home.sluice(['login', 'acme']);
    expect(code).toBe(0);
    expect(stdout).toContain('Logged in, for acme.');
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered' }]);

    const wrong = await makePlace({}, { login: { ...login, client_secret: 'not-the-secret-at-all' } });
    const refused = await wrong.home.sluice(['login', 'acme']);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('LOGIN_CLIENT');
    expect(refused.stderr).not.toContain('not-the-secret-at-all');
  });
});

describe('sluice logins', () => {
  it('lists logins as text and as JSON, and revokes a login with the vendor', async () => {
    const { home } = await makePlace();
    expect((await home.sluice(['logins'])).stdout).toContain('needs a person');
    await logIn(home);
    const { stdout } = await home.sluice(['logins', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { login: 'acme', sources: ['acme'], state: 'good', who: 'alice', scopes: ['openid', 'offline_access'] },
    ]);
    expect((await home.sluice(['logins', 'revoke', 'acme'])).stdout).toContain(
      'with the vendor and deleted its tokens',
    );
    expect((await home.syncHere()).jobs[0]?.problem?.code).toBe('LOGIN_NEEDED');
  });

  it("isn't the only command that reports a missing login: check and status do, too", async () => {
    const { home } = await makePlace();
    const check = await home.sluice(['check', '--connect']);
    expect(check.stdout).toContain('sluice login acme');
    expect(check.code).toBe(3);
    expect((await home.sluice(['status'])).stdout).toContain('sluice login acme');
  });
});

describe('tokens in use', () => {
  it('are renewed during a run that takes longer than their lifetime', async () => {
    const source = { pages: 6, pause_ms: 1500 };
    const { vendor, home } = await makePlace({ accessTtl: 5 }, { source });
    await logIn(home);
    const { jobs } = await home.syncHere();
    expect(jobs).toMatchObject([{ state: 'delivered', rows: 12 }]);
    // The run takes at least 7.5 s, so a token that was valid at its start has expired before its end.
    expect(vendor.accepted.size).toBeGreaterThanOrEqual(2);
    expect(vendor.asked.every(({ status }) => status === 200)).toBe(true);
  });

  it('are renewed only once if three processes find them expired at the same time', async () => {
    const { vendor, home } = await makePlace({ accessTtl: 60 }, { jobs: 3 });
    await logIn(home);
    const how = { preload: ['shifted-clock'], env: { CLOCK_SHIFT_MS: '55000' } };
    const all = await Promise.all([0, 1, 2].map((i) => home.sync({ args: [`rows${i}`], ...how })));
    expect(all.flatMap(({ jobs }) => jobs.map(({ state }) => state))).toEqual(['delivered', 'delivered', 'delivered']);
    expect(vendor.asked).toHaveLength(2);
  });

  it("aren't lost if the process is killed right after they were stored", async () => {
    const { vendor, home } = await makePlace({ accessTtl: 60 });
    await logIn(home);
    const shift = { CLOCK_SHIFT_MS: '55000' };
    const killed = await home.sync({
      preload: ['shifted-clock', 'kill-at'],
      env: { ...shift, KILL_AT: 'token.stored' },
    });
    expect(killed.signal).toBe('SIGKILL');
    const next = await home.sync({ preload: ['shifted-clock'], env: shift });
    expect(next.jobs).toMatchObject([{ state: 'delivered' }]);
    expect(vendor.asked).toHaveLength(2);
  });

  it("aren't lost if the process receives SIGTERM while it waits for the vendor's response", async () => {
    const { vendor, home } = await makePlace({ accessTtl: 60 });
    await logIn(home);
    const shift = { preload: ['shifted-clock'], env: { CLOCK_SHIFT_MS: '70000' } };
    vendor.delayMs = 1500;
    const stopped = home.start(['sync'], shift);
    await until('the token renewal request', () => vendor.asked.length === 2);
    stopped.child.kill('SIGTERM');
    expect((await stopped.ended).code).toBe(143);
    vendor.delayMs = 0;
    expect((await home.sync(shift)).jobs).toMatchObject([{ state: 'delivered' }]);
    expect(vendor.asked.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('are lost if the process is killed before it stores them; the next sync reports that, and a new login fixes it', async () => {
    const { home } = await makePlace({ accessTtl: 60 });
    await logIn(home);
    const shift = { CLOCK_SHIFT_MS: '70000' };
    const killed = await home.sync({
      preload: ['shifted-clock', 'kill-at'],
      env: { ...shift, KILL_AT: 'token.answered' },
    });
    expect(killed.signal).toBe('SIGKILL');
    const next = await home.sync({ preload: ['shifted-clock'], env: shift });
    expect(next.jobs[0]?.problem).toMatchObject({ code: 'LOGIN_LOST', next: 'sluice login acme' });
    expect(next.jobs[0]?.problem?.message).toContain('whose response was lost');
    expect((await home.sluice(['logins'])).stdout).toContain('refused');
    await logIn(home);
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered' }]);
  });

  it("aren't lost if the encryption key is missing: the error asks for the key, and with it the next sync delivers", async () => {
    const { home } = await makePlace();
    const key = { SLUICE_KEY: 'k'.repeat(40) };
    const login = home.start(['login', 'acme', '--no-browser'], { env: key });
    const url = await addressOf(login);
    await fetch(await agree(url, new URL(url).searchParams.get('redirect_uri')!));
    await login.ended;
    const without = await home.syncHere();
    expect(without.jobs[0]?.problem).toMatchObject({ code: 'LOGIN_KEY_UNKNOWN' });
    const wrong = await home.sync({ env: { SLUICE_KEY: 'w'.repeat(40) } });
    expect(wrong.jobs[0]?.problem).toMatchObject({ code: 'LOGIN_KEY_UNKNOWN' });
    expect((await home.sync({ env: key })).jobs).toMatchObject([{ state: 'delivered' }]);
  });
});
