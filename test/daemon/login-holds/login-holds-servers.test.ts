import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import ssh2 from 'ssh2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Batch, batchText, withDefaults } from '#sdk';
import db from '../../../connectors/db/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { trySources } from '../../../src/daemon/checks/try-connections.ts';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { runJob } from '../../../src/daemon/run/run-job.ts';
import { ShiftedClock } from '../../clocks.ts';
import { fingerprintOf } from '../../connectors/ftp-logins.ts';
import { openTcpProxy } from '../../connectors/ftp-proxy.ts';
import { openFtpScript } from '../../connectors/ftp-script.ts';
import { writeConfig } from '../../journey/home.ts';
import { makeFolder } from '../../journey/process.ts';
import { startVendor } from '../../oauth/vendor.ts';
import { describeWithServer } from '../../servers/describe.ts';
import { newSshKey } from '../../servers/ssh-key.ts';

const hour = 3_600_000;
const days = 2;

interface Town {
  readonly source: object;
  readonly query: object | string;
  /** Logins seen by the server. */
  readonly logins: () => number;
}

/**
 * For two days, fires three jobs of the source every 15 minutes, at first all at once, and in between checks the source
 * as doctor does. Returns the hours in which the server saw a login.
 */
async function hoursOfLogins({ source, query, logins }: Town): Promise<number[]> {
  const folder = await makeFolder();
  const job = (n: number) => ({
    source: 'shop',
    query,
    format: 'csv',
    target: `${n}`.repeat(32),
    schedule: '*/15 * * * *',
  });
  const file = await writeConfig(folder, {
    destinations: { main: { url: 'http://127.0.0.1:1/api/1.0', api_key: 'abcdefabcdef' } },
    sources: { shop: source },
    jobs: { one: job(1), two: job(2), three: job(3) },
  });
  const { config, problems } = await loadConfig(file);
  expect(problems).toEqual([]);
  const clock = new ShiftedClock();
  let runtime = await composeRuntime({ config: config!, clock });
  const { signal } = new AbortController();
  const hours: number[] = [];
  for (let quarter = 0; quarter < 4 * 24 * days; quarter++) {
    const before = logins();
    const jobs = [...config!.jobs.values()];
    await Promise.all(jobs.map((one) => runJob({ runtime, config: config!, job: one, origin: 'schedule', signal })));
    const [look] = await trySources(config!, runtime, signal);
    expect(look?.problem).toMatchObject({ code: 'LOGIN_ON_HOLD' });
    for (let n = before; n < logins(); n++) hours.push(quarter / 4);
    clock.advance(hour / 4);
    // A restart in the middle of each day.
    if (quarter % 96 === 48) {
      await runtime.close();
      runtime = await composeRuntime({ config: config!, clock });
    }
  }
  await runtime.close();
  return hours;
}

const onceThenRarely = [0, 1, 5, 29];

describeWithServer({ servers: ['PostgreSQL', 'MariaDB'] }, 'a wrong database password', (server) => {
  it.each(['PostgreSQL', 'MariaDB'] as const)(
    'is sent to %s once, then again after waits of 1 hour, 4 hours and a day',
    async (kind) => {
      const proxy = await openTcpProxy(server(kind).port, []);
      onTestFinished(() => proxy.close());
      const url = new URL(server(kind).url);
      [url.port, url.password] = [String(proxy.port), 'wrong-password'];
      const source = { connector: 'db', url: url.href };
      expect(await hoursOfLogins({ source, query: 'select 1', logins: proxy.carried })).toEqual(onceThenRarely);
    },
  );

  it('is sent only one more time if it changes while chunks are read', async () => {
    const admin = new pg.Client(server('PostgreSQL').url);
    await admin.connect();
    onTestFinished(() => admin.end());
    await admin.query("create role chunky login password 'first-password'");
    const url = new URL(server('PostgreSQL').url);
    [url.username, url.password] = ['chunky', 'first-password'];
    const refused: unknown[] = [];
    const extraction = await db.extract({
      ...{ source: withDefaults(db.source, { url: url.href }), folder: '/', scratch: '/' },
      query: withDefaults(db.query, {
        sql: 'select i from generate_series(1, 100000) as s(i)',
        chunks: { column: 'i', rows: 1000 },
      }),
      ...{ signal: new AbortController().signal, warn: () => undefined },
      log: { debug() {}, info() {}, warn() {} },
      logIn: async (attempt) => {
        try {
          return await attempt();
        } catch (thrown) {
          refused.push(thrown);
          throw thrown;
        }
      },
    });
    let rows = 0;
    const reading = (async () => {
      for await (const batch of extraction.batches as AsyncIterable<Batch>) {
        if (rows === 0) await admin.query("alter role chunky password 'second-password'");
        rows += batchText(batch).length;
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'DB_LOGIN_REFUSED', isLoginRefused: true });
    expect(refused).toHaveLength(1);
    expect(rows).toBeGreaterThan(0);
    await admin.query('drop role chunky');
  });
});

describe("a file server's wrong password", () => {
  it('is sent to FTP once, then again after waits of 1 hour, 4 hours and a day', async () => {
    const reply = (verb: string) => (verb === 'PASS' ? '530 Login incorrect.' : undefined);
    const script = await openFtpScript({ files: new Map(), reply });
    onTestFinished(() => script.close());
    const logins = () => script.commands.filter((command) => command.startsWith('PASS')).length;
    const source = { connector: 'ftp', ...script.source };
    expect(await hoursOfLogins({ source, query: { path: 'a.csv' }, logins })).toEqual(onceThenRarely);
  });

  it('is sent to SFTP once, then again after waits of 1 hour, 4 hours and a day', async () => {
    const host = newSshKey();
    let seen = 0;
    const server = new ssh2.Server({ hostKeys: [host.private] }, (connection) => {
      connection.on('error', () => undefined);
      connection.on('authentication', (context) => {
        if (context.method === 'password' || context.method === 'keyboard-interactive') seen += 1;
        context.reject(['password', 'keyboard-interactive']);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const source = {
      ...{ connector: 'ftp', protocol: 'sftp', host: '127.0.0.1', port, user: 'u', password: 'wrong' },
      host_key: fingerprintOf(host.public),
    };
    expect(await hoursOfLogins({ source, query: { path: 'a.csv' }, logins: () => seen })).toEqual(onceThenRarely);
  });
});

describe('a wrong app secret', () => {
  it('is sent to a token endpoint once, then again after waits of 1 hour, 4 hours and a day', async () => {
    const vendor = await startVendor();
    onTestFinished(() => vendor.close());
    const source = {
      ...{ connector: 'simple_rest', url: vendor.url },
      auth: { kind: 'client_credentials', token_url: `${vendor.url}/token`, client_authentication: 'basic' },
      login: { client_id: 'robot', client_secret: 'wrong-secret-wrong' },
    };
    const town = { source, query: { path: '/rows' }, logins: () => vendor.asked.length };
    expect(await hoursOfLogins(town)).toEqual(onceThenRarely);
    expect(new Set(vendor.asked.map(({ status }) => status))).toEqual(new Set([401]));
  });
});

it('a secret file is re-read, so a job continues without a reload once its password is corrected', async () => {
  const folder = await makeFolder();
  const password = join(folder, 'password');
  await writeFile(password, 'wrong\n');
  let right = 'right';
  const reply = (verb: string, argument: string) =>
    verb === 'PASS' && argument !== right ? '530 Login incorrect.' : undefined;
  const script = await openFtpScript({ files: new Map([['/a.csv', 'x\n1\n']]), reply });
  onTestFinished(() => script.close());
  const file = await writeConfig(folder, {
    destinations: { main: { url: 'http://127.0.0.1:1/api/1.0', api_key: 'abcdefabcdef' } },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable in the config
    sources: { shop: { connector: 'ftp', ...script.source, password: '${file:password}' } },
    jobs: { one: { source: 'shop', query: { path: 'a.csv' }, format: 'csv', target: '1'.repeat(32) } },
  });
  const { config } = await loadConfig(file);
  const runtime = await composeRuntime({ config: config! });
  onTestFinished(() => runtime.close());
  const job = config!.jobs.get('one')!;
  const run = async () => {
    const { state, problem } = await runJob({
      ...{ runtime, config: config!, job, origin: 'schedule' },
      signal: new AbortController().signal,
    });
    return [state, problem?.code];
  };
  expect(await run()).toEqual(['failed', 'FTP_LOGIN_REFUSED']);
  expect(await run()).toEqual(['on_hold', 'LOGIN_ON_HOLD']);
  await writeFile(password, 'right\n');
  expect(await run()).toEqual(['owed', undefined]);
  right = 'another';
  expect(await run()).toEqual(['failed', 'FTP_LOGIN_REFUSED']);
  expect(script.commands.filter((command) => command.startsWith('PASS'))).toEqual([
    'PASS wrong',
    'PASS right',
    'PASS right',
  ]);
});
