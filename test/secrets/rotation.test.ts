import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Source } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { composeRuntime } from '../../src/daemon/compose.ts';
import { runJob } from '../../src/daemon/run/run-job.ts';
import { forgetSecrets, redact, registerSecret } from '../../src/lib/redact.ts';
import { defineConnector } from '../../src/sdk/connector.ts';
import { openStore } from '../../src/state/store.ts';
import { Bank, gateOf, open } from '../daemon/bank.ts';
import { clockAtHalfPast } from '../daemon/rig.ts';
import { writeConfig } from '../journey/home.ts';
import { makeFolder } from '../journey/process.ts';
import { adminKey, makeWorld } from '../journey/world.ts';
import { robot, startVendor } from '../oauth/vendor.ts';
import { Double, type Reply, variable } from './double.ts';

afterEach(forgetSecrets);

async function setUp() {
  const clock = clockAtHalfPast();
  const store = await openStore(await makeFolder(), { clock });
  onTestFinished(() => store.close());
  return { store, bank: new Bank(clock), gate: gateOf({ store, clock }) };
}

/** A source whose password is read repeatedly. Each read returns the next of these, then always the last one. */
function renewing(bank: Bank, passwords: readonly string[], more: Partial<Source> = {}): Source {
  let next = 0;
  const renew = async ({ options }: Source) => {
    next = Math.min(next + 1, passwords.length - 1);
    Object.assign(options, { password: passwords[next] });
  };
  return bank.source(passwords[0]!, { renew, ...more });
}

/** A Vault with a single secret. Each read returns the next of these values, then always the last one. */
async function startVault(values: readonly string[]) {
  let reads = 0;
  const server = await Double.start(({ path }) => {
    if (path.includes('mounts')) return { body: { data: { path: 'secret/', options: { version: '2' } } } };
    const value = values[Math.min(reads++, values.length - 1)];
    return { body: { data: { data: { value } } } };
  });
  return {
    server,
    env: { VAULT_ADDR: server.url, VAULT_TOKEN: 'vault-token' },
    secret: variable('vault:secret/x#value'),
  };
}

describe('a rotated password', () => {
  it('is read again when the old one is refused, without a failed run or a hold', async () => {
    const { store, bank, gate } = await setUp();
    expect(await open(gate, renewing(bank, ['former', 'right']))).toBe('open');
    expect(bank.attempts).toBe(2);
    expect(await store.loginHolds.all()).toEqual([]);
  });

  it('is sent only once if a new read returns the same value', async () => {
    const { bank, gate } = await setUp();
    expect(await open(gate, renewing(bank, ['wrong', 'wrong']))).toMatchObject({ code: 'BANK_REFUSED' });
    expect(bank.attempts).toBe(1);
  });

  it('gets only one more try if its new value is also refused, even if each read returns a different value', async () => {
    const { store, bank, gate } = await setUp();
    expect(await open(gate, renewing(bank, ['a', 'b', 'c', 'd']))).toMatchObject({ code: 'BANK_REFUSED' });
    expect(bank.attempts).toBe(2);
    expect(await store.loginHolds.all()).toHaveLength(1);
  });

  it("isn't sent if its new value is already on hold", async () => {
    const { bank, gate } = await setUp();
    await open(gate, bank.source('known-wrong'));
    expect(await open(gate, renewing(bank, ['former', 'known-wrong']))).toMatchObject({ code: 'LOGIN_ON_HOLD' });
    expect(bank.attempts).toBe(2);
  });

  it('is refused only once if many runs start together', async () => {
    const { bank, gate } = await setUp();
    const source = renewing(bank, ['former', 'right']);
    const all = await Promise.all(Array.from({ length: 10 }, () => open(gate, source)));
    expect(new Set(all)).toEqual(new Set(['open']));
    expect(bank.refused).toHaveLength(1);
  });

  it('is also tried again for a connector that logs in by itself', async () => {
    const { bank, gate } = await setUp();
    const connector = defineConnector({
      ...bank.connector,
      check: async ({ source }) => bank.logIn(source).then(() => 'fine'),
    });
    expect(await open(gate, renewing(bank, ['former', 'right'], { connector }))).toBe('open');
    expect(bank.attempts).toBe(2);
  });
});

/** The outcome of a job that reads this source. */
async function runWith(source: object, { query, env }: { query: object; env: Record<string, string> }) {
  const file = await writeConfig(await makeFolder(), {
    destinations: { main: { url: 'http://127.0.0.1:1/api/1.0', api_key: 'abcdefabcdef' } },
    sources: { api: source },
    jobs: { job: { source: 'api', query, format: 'json', target: 'a'.repeat(32) } },
  });
  const { config, problems } = await loadConfig(file, { env });
  expect(problems).toEqual([]);
  const runtime = await composeRuntime({ config: config! });
  onTestFinished(() => runtime.close());
  const job = config!.jobs.get('job')!;
  const { signal } = new AbortController();
  const { state, problem } = await runJob({ runtime, config: config!, job, signal, origin: 'schedule' });
  return problem?.code ?? state;
}

describe("an API's rotated secret", () => {
  const rows = (isRight: boolean): Reply => (isRight ? { body: [{ value: 1 }] } : { status: 401 });
  const basic = (password: string) => `Basic ${Buffer.from(`etl:${password}`).toString('base64')}`;

  it('is sent in a new request: as a password, as a key in a header, or in a login call', async () => {
    const api = await Double.start(({ path, headers, body }) => {
      if (path === '/session') return body.includes('new-value') ? { body: { token: 'session' } } : { status: 401 };
      if (path === '/by-token') return rows(headers.authorization === 'Bearer session');
      return rows(headers.authorization === basic('new-value') || headers['x-api-key'] === 'new-value');
    });
    const call = { path: '/session', method: 'POST', body: { user: 'etl' } };
    const cases = [
      (password: string) => [{ auth: { kind: 'basic', user: 'etl', password } }, '/by-password'] as const,
      (key: string) => [{ headers: { 'x-api-key': key } }, '/by-key'] as const,
      (password: string) =>
        [
          { auth: { kind: 'login_call', call: { ...call, body: { ...call.body, password } }, token_path: 'token' } },
          '/by-token',
        ] as const,
    ];
    for (const made of cases) {
      const { secret, env } = await startVault(['old-value', 'new-value']);
      const [options, path] = made(secret);
      const source = { connector: 'simple_rest', url: api.url, retries: 0, ...options };
      expect(await runWith(source, { query: { path }, env })).toBe('owed');
    }
    expect(api.to(/by-password/)).toHaveLength(2);
    expect(api.to(/by-key/)).toHaveLength(2);
    expect(api.to(/session/)).toHaveLength(2);
  });

  it("is sent to an OAuth login's token URL", async () => {
    const vendor = await startVendor();
    onTestFinished(() => vendor.close());
    const { secret, env } = await startVault(['old-value', robot.secret]);
    const login = { grant: 'client_credentials', client_id: robot.id, client_secret: secret };
    const auth = { kind: 'client_credentials', token_url: `${vendor.url}/token` };
    const source = { connector: 'simple_rest', url: vendor.url, retries: 0, auth, login };
    expect(await runWith(source, { query: { path: '/rows' }, env })).toBe('owed');
    expect(vendor.asked.map(({ status }) => status)).toEqual([401, 200]);
  });
});

describe("a destination's rotated key", () => {
  it('is read again when the service refuses the old one, and the payload is delivered in the same run', async () => {
    const world = await makeWorld();
    const { secret, env, server } = await startVault(['ef'.repeat(20), adminKey]);
    const home = await world.home();
    const target = await world.instance();
    await home.write('a.csv', 'id,name\n1,first\n');
    await home.config({
      destinations: { main: { url: world.url, api_key: secret, ask_usage: false } },
      sources: { files: { connector: 'file' } },
      jobs: { a: { source: 'files', query: 'a.csv', format: 'csv', target } },
    });
    const ended = await home.sync({ env });
    expect(ended.jobs).toMatchObject([{ state: 'delivered' }]);
    expect(ended.code).toBe(0);
    expect(await world.data(target)).toBe('id,name\n1,first\n');
    expect(server.to(/data/)).toHaveLength(2);
  });

  it('that stays wrong is refused at most twice, and the payload stays owed', async () => {
    const world = await makeWorld();
    const { secret, env } = await startVault(Array.from({ length: 50 }, (_, i) => `${'e'.repeat(30)}${i}`));
    const home = await world.home();
    await home.write('a.csv', 'id,name\n1,first\n');
    await home.config({
      destinations: { main: { url: world.url, api_key: secret, ask_usage: false } },
      sources: { files: { connector: 'file' } },
      jobs: { a: { source: 'files', query: 'a.csv', format: 'csv', target: await world.instance() } },
    });
    const { jobs, code } = await home.sync({ env });
    expect(jobs).toMatchObject([{ state: 'waiting_login', requests: 2 }]);
    expect(code).toBe(3);
  });
});

describe('a secret in a file that is replaced', () => {
  /** The credentials of a source and a destination, and a function that reads replaced files again. */
  async function fromFiles() {
    const folder = await makeFolder();
    const write = (name: string, text: string) => writeFile(join(folder, name), text);
    const basic = (name: string) => ({ user: 'etl', password: variable(`file:${name}.txt`) });
    for (const name of ['source', 'main']) await write(`${name}.txt`, `former-${name}`);
    await write('retries.txt', '3');
    const auth = { kind: 'basic', ...basic('source') };
    const api = { connector: 'simple_rest', url: 'http://127.0.0.1:1', retries: variable('file:retries.txt'), auth };
    const file = await writeConfig(folder, {
      destinations: { main: { url: 'http://127.0.0.1:1/api/1.0', basic: basic('main') } },
      sources: { api },
      jobs: { job: { source: 'api', query: { path: '/' }, format: 'json', target: 'a'.repeat(32) } },
    });
    const { config, problems } = await loadConfig(file, { env: {} });
    expect(problems).toEqual([]);
    const [source, main] = [config!.sources.get('api')!, config!.destinations.get('main')!];
    const renew = async () => {
      await source.renew!(source);
      await main.renew!(main);
      return [(source.options as typeof api).auth.password, (main.credentials as { password?: string }).password];
    };
    return { folder, write, source, renew };
  }

  it("is redacted as soon as it's read again, even if it's encoded", async () => {
    const { write, renew } = await fromFiles();
    for (const name of ['source', 'main']) await write(`${name}.txt`, `latter-${name}`);
    expect(await renew()).toEqual(['latter-source', 'latter-main']);
    const pair = Buffer.from('etl:latter-main').toString('base64');
    expect(redact(`latter-source latter-main ${pair}`)).toBe('[redacted] [redacted] [redacted]');
  });

  it('is renewed only in text options, and only if all files for that source or destination can be read', async () => {
    const { folder, write, source, renew } = await fromFiles();
    for (const name of ['source', 'main']) await write(`${name}.txt`, `latter-${name}`);
    await rm(join(folder, 'retries.txt'));
    expect(await renew()).toEqual(['former-source', 'latter-main']);
    await write('retries.txt', '5');
    expect(await renew()).toEqual(['latter-source', 'latter-main']);
    expect(source.options).toMatchObject({ retries: 3 });
  });
});

it('the server and user of a login on hold are stored without parts that came from a secret', async () => {
  const { store, bank, gate } = await setUp();
  registerSecret('etl-from-vault');
  const connector = defineConnector({
    ...bank.connector,
    account: ({ user, password }) => ({ place: `${String(user)}.example.com:1`, user: String(user), secret: password }),
  });
  const source = bank.source('wrong', { connector }, 'etl-from-vault');
  expect(await open(gate, source)).toMatchObject({ code: 'BANK_REFUSED' });
  expect(await open(gate, source)).toMatchObject({ code: 'LOGIN_ON_HOLD' });
  expect(JSON.stringify(await store.loginHolds.all())).not.toContain('etl-from-vault');
});
