import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadCatalog } from '../../src/config/catalog/catalog.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import type { JsonSchema, Option, OptionSet } from '../../src/sdk/option.ts';
import { openReceiver } from '../alerts/receiver.ts';
import { Canaries } from './canaries.ts';
import { openEcho, openLineEcho } from './echo.ts';
import type { Home } from './home.ts';
import { forSuite, until } from './process.ts';
import { makeWorld, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope });
});

/** All bytes of the state, as stored on disk. */
function stateBytes({ folder }: Home): string {
  const root = join(folder, 'state');
  const names = readdirSync(root, { recursive: true }) as string[];
  const files = names.map((name) => join(root, name)).filter((path) => statSync(path).isFile());
  return files.map((path) => readFileSync(path, 'latin1')).join('\n');
}

/** Lets every source log in again. If a login were on hold, it would not be sent, and no server could echo it. */
function liftHolds({ folder }: Home): void {
  const file = join(folder, 'state', 'sluice.db');
  if (!existsSync(file)) return;
  const database = new SqliteDatabase(file);
  database.exec('delete from login_holds');
  database.close();
}

/** The output of each command, by command line. */
async function saidBy(home: Home, commands: readonly string[], env: NodeJS.ProcessEnv): Promise<Map<string, string>> {
  const said = new Map<string, string>();
  for (const command of commands) {
    liftHolds(home);
    const { code, stdout, stderr } = await home.sluice(command.split(' '), { env });
    said.set(`${command} (${code})`, `${stdout}\n${stderr}`);
  }
  return said;
}

/** Where secrets appear, and which ones. */
function leaksIn(said: ReadonlyMap<string, string>, canaries: Canaries): string[] {
  return [...said].flatMap(([where, text]) => canaries.in(text).map((place) => `${place} in ${where}`));
}

/** Names of headers that carry secrets. */
const headers = ['x-api-token', 'x-auth', 'x-session-id', 'x-signature', 'apikey', 'x-access-key', 'cookie'];

const looking = ['check', 'check --json', 'config show', 'config show --json', 'plan', 'doctor', 'schedules', 'status'];

describe('secrets of every connector', () => {
  /** A value for each secret of a schema, and examples for the other required options. */
  function planted(options: OptionSet, at: string, canaries: Canaries): Record<string, unknown> {
    const wanted = Object.entries(options).filter(
      ([, option]) => option.secret || option.required || hasSecret(option.schema),
    );
    return Object.fromEntries(wanted.map(([name, option]) => [name, fillerOf(option, `${at}.${name}`, canaries)]));
  }

  function hasSecret(schema: JsonSchema): boolean {
    const inner = [schema.properties ?? {}, schema.items ?? {}, schema.additionalProperties ?? {}];
    return schema.writeOnly === true || inner.some((node) => typeof node === 'object' && innerHas(node as object));
  }

  const innerHas = (node: object): boolean => {
    const { writeOnly } = node as JsonSchema;
    return writeOnly === true || Object.values(node).some((one) => typeof one === 'object' && one && innerHas(one));
  };

  function fillerOf({ schema, secret, example }: Option<unknown>, at: string, canaries: Canaries): unknown {
    if (schema.type === 'string' && secret) return canaries.odd(at);
    return secret || hasSecret(schema) ? membersOf(schema, at, canaries, secret) : example;
  }

  function membersOf(schema: JsonSchema, at: string, canaries: Canaries, secret: boolean): unknown {
    if (schema.type === 'array') return [membersOf(schema.items as JsonSchema, `${at}[]`, canaries, secret)];
    const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
    if (properties.length === 0) return { 'x-api-token': canaries.key(`${at}.x-api-token`) };
    return Object.fromEntries(
      properties.map(([name, node]) => [
        name,
        node.writeOnly === true ? canaries.odd(`${at}.${name}`) : Array.isArray(node.enum) ? node.enum[0] : 'x',
      ]),
    );
  }

  it('never appear in the output of commands that read a config, even an invalid one', async () => {
    const canaries = new Canaries();
    const { connectors } = await loadCatalog();
    const sources: Record<string, object> = {};
    const jobs: Record<string, object> = {};
    for (const [id, connector] of connectors) {
      const login = {
        client_id: 'app',
        client_secret: canaries.odd(`${id}.login.client_secret`),
        password: canaries.odd(`${id}.login.password`),
        private_key: `-----BEGIN PRIVATE KEY-----\n${canaries.core(`${id}.login.private_key`)}\n-----END PRIVATE KEY-----\n`,
      };
      sources[id] = { connector: id, ...planted(connector.source, id, canaries), login };
      sources[`${id}_bare`] = { connector: id, ...planted(connector.source, `${id}_bare`, canaries) };
      const query = planted(connector.query, `${id}.query`, canaries);
      const job = { format: 'csv', query, schedule: '0 6 * * *' };
      jobs[id] = { ...job, source: id, target: world.instances.csv };
      jobs[`${id}_bare`] = { ...job, source: `${id}_bare`, target: await world.instance() };
    }
    const home = await world.home();
    await home.config({
      login_key: canaries.odd('login_key'),
      former_login_keys: [canaries.odd('former_login_keys')],
      destinations: {
        keyed: { url: world.url, api_key: canaries.key('api_key') },
        named: { url: world.url, basic: { user: 'me', password: canaries.odd('basic.password') } },
      },
      sources,
      jobs: Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, { ...job, destination: 'keyed' }])),
    });
    expect(canaries.size).toBeGreaterThan(80);
    const said = await saidBy(home, looking, {});
    expect(leaksIn(said, canaries)).toEqual([]);
    expect(said.get([...said.keys()].find((where) => where.startsWith('config show --json'))!)).toContain('hubspot');
  });
});

describe('secrets that servers reject and echo', () => {
  async function setUp() {
    const canaries = new Canaries();
    const echo = await openEcho(scope);
    const ftp = await openLineEcho('220 here', scope);
    const smtp = await openLineEcho('220 here ESMTP', scope);
    const collector = await openReceiver();
    const home = await world.home();
    await home.write('rows.csv', 'id,name\n1,row\n');
    await home.write('key.txt', `\uFEFF${canaries.key('api_key in a file')}\r\n`);
    const env = {
      PUSH_PASSWORD: canaries.odd('basic.password from the environment'),
      DB_PASSWORD: canaries.odd('db.password from the environment'),
      OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${canaries.core('OTEL_EXPORTER_OTLP_HEADERS')}`,
    };
    const odd = (place: string) => canaries.odd(place);
    const rest = (kind: number, status: number, auth: object, more: object = {}) => ({
      connector: 'simple_rest',
      url: `${echo.url}/kind${kind}/${status}/at`,
      retries: 0,
      auth,
      ...more,
    });
    const oauth = { kind: 'client_credentials', token_url: `${echo.url}/kind1/400/at/token` };
    const sent = Object.fromEntries(headers.map((name) => [name, canaries.key(`header ${name}`)]));
    const encoded = (place: string) => encodeURIComponent(canaries.odd(place));
    const sources: Record<string, object> = {
      files: { connector: 'file' },
      bearer: rest(0, 401, { kind: 'bearer', token: odd('bearer').replace('ö', '') }),
      basic: rest(2, 403, { kind: 'basic', user: 'me', password: odd('rest basic') }),
      in_query: rest(1, 500, { kind: 'key', name: 'sig', value: odd('key in a query'), in: 'query' }),
      in_header: rest(3, 404, { kind: 'key', name: 'x-sig', value: canaries.key('key in a header'), in: 'header' }),
      headed: rest(0, 500, { kind: 'none' }, { headers: sent }),
      app: { ...rest(1, 400, oauth), login: { client_id: 'app', client_secret: odd('client_secret') } },
      app_basic: {
        ...rest(1, 400, { ...oauth, client_authentication: 'basic' }),
        login: { name: 'second', client_id: 'app', client_secret: odd('client_secret in a header') },
      },
      xmla: { connector: 'xmla', url: `${echo.url}/kind3/500/at`, user: 'me', password: odd('xmla') },
      ftp: { connector: 'ftp', protocol: 'ftp', host: '127.0.0.1', port: ftp, user: 'me', password: odd('ftp') },
      pg: { connector: 'db', url: `postgres://me:${encoded('db url')}@127.0.0.1:9/x` },
      pg_odd: { connector: 'db', url: `postgres://me:${canaries.core('db url, as it is')}+@127.0.0.1:9/x` },
      maria: { connector: 'db', driver: 'mariadb', host: '127.0.0.1', port: 9, database: 'x', user: 'me' },
      ssh: {
        ...{ connector: 'db', driver: 'postgres', host: 'db', database: 'x', user: 'me', password: odd('db') },
        ssh: { host: '127.0.0.1', port: 9, user: 'me', password: odd('ssh') },
      },
    };
    Object.assign(sources.maria!, { password: `\${env:DB_PASSWORD}` });
    const queries: Record<string, unknown> = {
      files: 'rows.csv',
      xmla: { catalog: 'x', statement: 'select 1' },
      ftp: 'rows.csv',
      pg: 'select 1',
      pg_odd: 'select 1',
      maria: 'select 1',
      ssh: 'select 1',
    };
    const destinations = {
      from_file: { url: `${echo.url}/kind4/401/at/1.0`, api_key: `\${file:key.txt}` },
      named: { url: `${echo.url}/kind2/403/at/1.0`, basic: { user: 'me', password: `\${env:PUSH_PASSWORD}` } },
      keyed: { url: `${echo.url}/kind0/500/at/1.0`, api_key: canaries.key('api_key') },
      strange: { url: `${echo.url}/kind2/200/at/1.0`, api_key: canaries.key('api_key of a page') },
    };
    const jobs: Record<string, object> = {};
    const add = async (name: string, source: string, destination: string) => {
      const target = await world.instance();
      const schedule = { cron: '0 6 * * *', timezone: 'UTC' };
      jobs[name] = { source, query: queries[source] ?? '/rows', format: 'csv', target, destination, schedule };
    };
    for (const source of Object.keys(sources)) await add(`read_${source}`, source, 'from_file');
    for (const destination of Object.keys(destinations)) await add(`send_${destination}`, 'files', destination);
    const bytes = canaries.core('alerts.secret').slice(0, 32);
    await home.config({
      monitor: { port: 0 },
      destinations,
      sources,
      jobs,
      alerts: {
        settle: '1s',
        channels: {
          hook: {
            type: 'webhook',
            url: `${echo.url}/kind0/400/at/${canaries.core('alerts.webhook.url')}`,
            secret: `whsec_${Buffer.from(bytes).toString('base64')}`,
          },
          chat: { type: 'slack', url: `${echo.url}/kind1/403/at/${canaries.core('alerts.slack.url')}` },
          alive: {
            type: 'heartbeat',
            url: `${echo.url}/kind0/500/at/${canaries.core('alerts.heartbeat.url')}`,
            every: '1m',
          },
          mail: {
            type: 'email',
            server: `smtp://127.0.0.1:${smtp}`,
            user: 'me',
            password: odd('alerts.email.password'),
            from: 'a@test.example',
            to: ['b@test.example'],
            tls: 'when offered',
          },
        },
      },
    });
    return { canaries, home, env, collector, echo };
  }

  it('never appear in output, state, responses or traces', async () => {
    const { canaries, home, env, collector, echo } = await setUp();
    const commands = [
      'config show --json',
      'check --connect --json',
      'sync --dry-run',
      'sync --wait 0 --json --log debug',
      'status --json',
      'explain read_bearer',
      'explain send_keyed --json',
      'history',
      'history --json',
      'alerts test',
      'alerts test --json',
      'alerts --json',
      'logins',
      'login app',
      'dead',
      'quarantine',
      'audit',
      'state show',
      'doctor --connect',
    ];
    const said = await saidBy(home, commands, env);
    // Spans that are sent before the process ends are reported with the collector's response.
    const refused = {
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${echo.url}/kind0/400/at`,
      OTEL_BSP_SCHEDULE_DELAY: '1',
    };
    liftHolds(home);
    said.set(
      'a collector that refuses',
      (await home.sluice(['sync', 'read_bearer', '--wait', '0', '--log', 'warn'], { env: refused })).stderr,
    );
    liftHolds(home);
    const daemon = home.start(['run', '--log', 'debug'], { env });
    await until('the daemon to start', () => daemon.output().includes('daemon.started'));
    await until('an alert to be sent or fail', () => /alert\.(unsent|given_up|sent)/.test(daemon.output()));
    const monitor = /"url":"(http[^"]+)","msg":"monitor.listening"/.exec(daemon.output())![1]!;
    for (const path of ['/', '/metrics', '/healthz', '/readyz', '/jobs/read_bearer', '/job/send_keyed']) {
      said.set(path, await (await fetch(`${monitor}${path}`)).text());
    }
    daemon.child.kill('SIGHUP');
    await until('the config to be reloaded', () => daemon.output().includes('config.reloaded'));
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    said.set('run', daemon.output());
    said.set('state', stateBytes(home));
    said.set('traces', collector.got.map(({ text }) => text).join('\n'));
    expect(leaksIn(said, canaries)).toEqual([]);
    const all = [...said.values()].join('\n');
    // The secrets were actually echoed, and actually redacted.
    expect(all.split('[redacted]').length).toBeGreaterThan(100);
    expect(canaries.in(echo.heard()).length).toBeGreaterThan(8);
    expect(said.get('traces')).toContain('sluice.run');
    expect(said.get('a collector that refuses')).toContain('failed to send traces');
  });

  it("don't appear in a process's crash report", async () => {
    const { canaries, home, env } = await setUp();
    const spilt = canaries.odd('db');
    const daemon = home.start(['run'], {
      env: { ...env, FALL_AT: 'daemon.started', SPILT: spilt },
      preload: ['fall-over'],
    });
    const { code, stdout, stderr } = await daemon.ended;
    expect(code).not.toBe(0);
    expect(stderr).toContain('[redacted] on the way');
    expect(canaries.in(stdout + stderr)).toEqual([]);
  });
});
