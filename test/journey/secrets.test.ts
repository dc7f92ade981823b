import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { openFaultProxy } from './fault-proxy.ts';
import type { Home } from './home.ts';
import { forSuite, makeWorld, type World } from './world.ts';

/** Every secret in this suite, by where it's used. Those with special characters appear in several encodings. */
const secrets = {
  fileKey: 'key-from-a-file-51c7a1e0b2',
  envKey: 'key-from-the-environment-0d11',
  plainKey: 'key-in-the-config-itself-77f2',
  basicPassword: 'basic-pass "word" & more/+é',
  dbPassword: 'db-p@ss/w:rd%"é-93',
  wrongPassword: 'wrong-p@ss/w:rd%"é-17',
  bearer: 'bearer-token-e1e2e3e4',
  apiPassword: 'api-basic-passw0rd ü',
  queryKey: 'query-key+with/odd=chars',
  headerKey: 'header-key-a9a8a7',
};
const user = 'reader@test.example';

/** What a secret may look like in a log, a URL, a header or a JSON string. */
function spellings(secret: string): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
    base64(secret),
    base64(`${user}:${secret}`),
  ];
}

/** The names of the secrets that a text contains. */
function spilt(text: string): string[] {
  const shown = Object.entries(secrets).filter(([, secret]) => spellings(secret).some((one) => text.includes(one)));
  return shown.map(([name]) => name);
}

/** All bytes of the state, as stored on disk. */
function stateBytes({ folder }: Home): string {
  const root = join(folder, 'state');
  const names = readdirSync(root, { recursive: true }) as string[];
  const files = names.map((name) => join(root, name)).filter((path) => statSync(path).isFile());
  return files.map((path) => readFileSync(path, 'utf8')).join('\n');
}

const scope = forSuite();
let world: World;
/** An API that echoes everything it receives, as bad ones do in error messages. */
let echo: string;

beforeAll(async () => {
  const person = (email: string, more: object) => ({
    email,
    first_name: 'P',
    last_name: 'Q',
    role: 'Admin',
    ...more,
  });
  world = await makeWorld({
    scope,
    company: {
      requests_per_second: 1000,
      users: [
        person('admin@test.example', { api_keys: ['ad'.repeat(20)] }),
        person('file@test.example', { api_keys: [secrets.fileKey] }),
        person('env@test.example', { api_keys: [secrets.envKey] }),
        person('plain@test.example', { api_keys: [secrets.plainKey] }),
        person(user, { password: secrets.basicPassword }),
      ],
    },
  });
  const server = createServer((incoming, answer) => {
    const { url = '', headers } = incoming;
    if (url.startsWith('/rows')) {
      answer.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1,"name":"row"}]');
      return;
    }
    const status = Number(/^\/(\d+)/.exec(url)?.[1] ?? '500');
    answer.writeHead(status, { 'content-type': 'text/plain', 'x-echo': encodeURIComponent(url) });
    answer.end(`I do not like ${url} with ${JSON.stringify(headers)} of ${decodeURIComponent(url)}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope(() => server.close().closeAllConnections());
  echo = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

/** Ways to read or run a config that together produce every kind of output. */
const commands = [
  ['check', '--connect'],
  ['check', '--connect', '--json'],
  ['sync', '--dry-run'],
  ['sync', '--wait', '0', '--json', '--log', 'debug'],
  ['sync', '--wait', '0'],
  ['status', '--json'],
];

/** The output of all these commands, and the state that they leave. */
async function everything(home: Home, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const said: string[] = [];
  for (const command of commands) {
    const { code, stdout, stderr } = await home.sluice(command, { env });
    said.push(`--- ${command.join(' ')} → ${code}\n${stdout}\n${stderr}`);
  }
  return `${said.join('\n')}\n--- state\n${stateBytes(home)}`;
}

interface Plan {
  readonly destinations: object;
  readonly sources: object;
  readonly jobs: object;
}

async function homeWith(plan: Plan): Promise<Home> {
  const home = await world.home();
  await home.write('rows.csv', 'id,name\n1,row\n');
  await home.write('key.txt', `${secrets.fileKey}\n`);
  await home.write('db.txt', `${secrets.dbPassword}\n`);
  await home.config(plan);
  return home;
}

/** Each command's output contains the job names; otherwise, there would be nothing to search. */
function expectClosedMouth(text: string, ...words: string[]): void {
  expect(words.filter((word) => !text.includes(word))).toEqual([]);
  expect(spilt(text)).toEqual([]);
}

const files = { files: { connector: 'file' } };
const job = async (more: object = {}) => ({
  source: 'files',
  query: 'rows.csv',
  format: 'csv',
  target: await world.instance('csv'),
  ...more,
});

describe('secrets of destinations', () => {
  it("never appear in a successful run's output, wherever they come from", async () => {
    const home = await homeWith({
      destinations: {
        from_file: { url: world.url, api_key: `\${file:key.txt}` },
        from_env: { url: world.url, api_key: `\${env:PUSH_KEY}` },
        as_it_is: { url: world.url, api_key: secrets.plainKey },
        basic: { url: world.url, basic: { user, password: `\${env:PUSH_PASSWORD}` } },
      },
      sources: files,
      jobs: {
        job_a: await job({ destination: 'from_file' }),
        job_b: await job({ destination: 'from_env' }),
        job_c: await job({ destination: 'as_it_is' }),
        job_d: await job({ destination: 'basic' }),
      },
    });
    const env = { PUSH_KEY: secrets.envKey, PUSH_PASSWORD: secrets.basicPassword };
    const text = await everything(home, env);
    expectClosedMouth(text, 'job_a', 'payload.delivered', 'request.sent', 'unchanged', 'credentials accepted');
    expect(home.state().outbox.filter(({ state }) => state === 'delivered')).toHaveLength(4);
  });

  it('never appear if the server rejects and echoes them', async () => {
    const pair = Buffer.from(`${user}:${secrets.basicPassword}`).toString('base64');
    const basic = `no ${secrets.basicPassword}, and no ${pair}`;
    const proxy = await openFaultProxy(world.url);
    const [one, two, three] = [await job(), await job(), await job()];
    for (const { target } of [one, two, three]) proxy.always(target, { answer: 422, words: `no ${secrets.plainKey}` });
    proxy.always(two.target, { answer: 401, words: basic });
    proxy.always(three.target, { page: `<html>${basic}</html>` });
    const home = await homeWith({
      destinations: {
        keyed: { url: proxy.url, api_key: secrets.plainKey },
        basic: { url: proxy.url, basic: { user, password: secrets.basicPassword } },
        basic_too: { url: proxy.url, account: 'other', basic: { user, password: secrets.basicPassword } },
      },
      sources: files,
      jobs: {
        job_a: { ...one, destination: 'keyed' },
        job_b: { ...two, destination: 'basic' },
        job_c: { ...three, destination: 'basic_too' },
      },
    });
    const text = await everything(home);
    expectClosedMouth(
      text,
      'DELIVERY_REFUSED',
      'LOGIN_NEEDED',
      'DELIVERY_STRANGE_ANSWER',
      'no [redacted], and no [redacted]',
    );
  });
});

describe('secrets of sources over HTTP', () => {
  const auths = {
    bearer: { kind: 'bearer', token: secrets.bearer },
    basic: { kind: 'basic', user, password: secrets.apiPassword },
    query: { kind: 'key', name: 'token', value: secrets.queryKey, in: 'query' },
    header: { kind: 'key', name: 'x-api-key', value: secrets.headerKey, in: 'header' },
  };

  it.for(['/rows', '/500', '/401', '/404'])(
    'never appear in the output if the API echoes them, at %s',
    async (path) => {
      const sources: Record<string, object> = {};
      const jobs: Record<string, object> = {};
      for (const [name, auth] of Object.entries(auths)) {
        sources[name] = { connector: 'simple_rest', url: echo, auth, retries: 0 };
        jobs[`job_${name}`] = await job({ source: name, query: { path, format: 'json' } });
      }
      const home = await homeWith({
        destinations: { main: { url: world.url, api_key: secrets.plainKey } },
        sources,
        jobs,
      });
      const text = await everything(home);
      expectClosedMouth(
        text,
        'job_bearer',
        'job_basic',
        'job_query',
        'job_header',
        path === '/rows' ? 'delivered' : 'I do not like',
      );
    },
  );
});

describeWithServer({ servers: ['PostgreSQL', 'MariaDB'] }, 'secrets of databases', (server) => {
  const address = ({ kind, password }: { kind: 'PostgreSQL' | 'MariaDB'; password: string }) => {
    const { host, port, database } = server(kind);
    const scheme = kind === 'PostgreSQL' ? 'postgres' : 'mariadb';
    return `${scheme}://sluice:${encodeURIComponent(password)}@${host}:${port}/${database}`;
  };
  const query = "select 1 as id, 'row' as name";

  it('never appear if they are wrong or no server responds, whether set in a URL or separately', async () => {
    const { host, port, database } = server('PostgreSQL');
    const alone = { connector: 'db', driver: 'postgres', host, port, database, user: 'sluice' };
    const sources = {
      pg_url: { connector: 'db', url: address({ kind: 'PostgreSQL', password: secrets.wrongPassword }) },
      pg_env: { ...alone, password: `\${env:DB_PASSWORD}` },
      pg_file: { ...alone, password: `\${file:db.txt}` },
      maria: { connector: 'db', url: address({ kind: 'MariaDB', password: secrets.wrongPassword }) },
      nowhere: {
        connector: 'db',
        url: address({ kind: 'PostgreSQL', password: secrets.dbPassword }).replace(`:${port}/`, ':9/'),
      },
    };
    const jobs: Record<string, object> = {};
    for (const source of Object.keys(sources)) jobs[`job_${source}`] = await job({ source, query });
    const home = await homeWith({
      destinations: { main: { url: world.url, api_key: secrets.plainKey } },
      sources,
      jobs,
    });
    const text = await everything(home, { DB_PASSWORD: secrets.wrongPassword });
    expectClosedMouth(text, 'DB_LOGIN_REFUSED', 'job_pg_url', 'job_pg_env', 'job_pg_file', 'job_maria', 'job_nowhere');
  });

  it('never appear if they are valid, even if the query is invalid', async () => {
    const { password, url, port, host } = server('PostgreSQL');
    const maria = server('MariaDB');
    const home = await homeWith({
      destinations: { main: { url: world.url, api_key: secrets.plainKey } },
      sources: {
        pg: { connector: 'db', url },
        maria: { connector: 'db', url: maria.url },
      },
      jobs: {
        job_good: await job({ source: 'pg', query }),
        job_bad: await job({ source: 'pg', query: 'select nonsense' }),
        job_maria: await job({ source: 'maria', query: 'select nonsense' }),
      },
    });
    const text = await everything(home);
    expectClosedMouth(text, 'job_good', 'payload.delivered', 'DB_QUERY_FAILED', `${host}:${port}`);
    expect([password, maria.password].filter((secret) => text.includes(secret))).toEqual([]);
  });
});

describe('an invalid config', () => {
  const broken: readonly (readonly [string, object])[] = [
    ['an invalid URL', { connector: 'db', url: `postgres://sluice:${secrets.dbPassword}@h:port/x` }],
    ['an unknown driver', { connector: 'db', url: `oracle://sluice:${encodeURIComponent(secrets.dbPassword)}@h/x` }],
    ['a misspelt option', { connector: 'db', driver: 'postgres', host: 'h', pasword: secrets.dbPassword }],
    ['a password that is a list', { connector: 'db', driver: 'postgres', host: 'h', password: [secrets.dbPassword] }],
    [
      'an unknown kind of token',
      { connector: 'simple_rest', url: 'http://h', auth: { kind: 'beer', token: secrets.bearer } },
    ],
  ];

  it.for(broken)('with %s shows no secret', async ([, source]) => {
    const home = await homeWith({
      destinations: { main: { url: world.url, api_key: secrets.plainKey } },
      sources: { broken: source },
      jobs: { job_a: await job({ source: 'broken', query: 'select 1' }) },
    });
    for (const command of [['check'], ['check', '--json'], ['sync'], ['sync', '--json', '--log', 'debug']]) {
      const { code, stdout, stderr } = await home.sluice(command);
      expect(code, command.join(' ')).toBe(2);
      expect(stdout + stderr).toContain('broken');
      expect(spilt(stdout + stderr), command.join(' ')).toEqual([]);
    }
  });

  it("with credentials in the service's URL doesn't show them", async () => {
    const url = world.url.replace('://', `://sluice:${encodeURIComponent(secrets.plainKey)}@`);
    const home = await homeWith({
      destinations: { main: { url, api_key: `${secrets.envKey} with blanks` } },
      sources: files,
      jobs: { job_a: await job() },
    });
    const { code, stdout, stderr } = await home.sluice(['check']);
    expect(code).toBe(2);
    expectClosedMouth(stdout + stderr, 'CONFIG_URL', 'CONFIG_CREDENTIALS');
  });
});
