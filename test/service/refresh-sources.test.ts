import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServiceOptions } from '../../src/service/service.ts';
import { SteppingClock } from '../clocks.ts';
import { startTdsServer } from '../connectors/doubles/tds-server.ts';
import { Vendor } from '../connectors/doubles/vendor.ts';
import { describeWithServer } from '../servers/describe.ts';
import { describeWithFileServer } from '../servers/describe-file-servers.ts';
import { freePort } from '../servers/free-port.ts';
import { pullDatasource, pullWithin } from './pull-built.ts';
import { type Bench, bench, scratch, until } from './service.ts';

interface Seen {
  readonly fails: number;
  readonly error: string | null;
  readonly document: string;
}

const start = (options: Partial<ServiceOptions> = {}): Promise<Bench> => bench({ pull: pullDatasource, ...options });

/** What an instance shows after its data has arrived or its refresh has failed. */
async function settled(given: Bench, id: string, fails = 1): Promise<Seen> {
  for (let i = 0; i < 1000; i++) {
    const { data } = (await given.call('GET', `/datasource-instances/${id}`)).body;
    const isOver = data.refresh_fail_count === fails || (data.refresh_fail_count === 0 && data.data_size !== 0);
    if (isOver) {
      const { text: document } = await given.call('GET', `/datasource-instances/${id}/data?raw=true`);
      return { fails: Number(data.refresh_fail_count), error: data.last_error as string | null, document };
    }
    await wait(40);
  }
  throw new Error('it was never refreshed');
}

/** Creates a data source and refreshes it. */
async function refreshed(given: Bench, source: object): Promise<Seen & { id: string }> {
  const id = await given.source(source);
  await given.call('POST', `/datasource-instances/${id}/@/refresh`);
  return { id, ...(await settled(given, id)) };
}

async function listen(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((done) => void server.close(() => done()));
  });
  return (server.address() as AddressInfo).port;
}

describeWithServer({ servers: 'PostgreSQL' }, 'a data source with the db connector', (server) => {
  const properties = (more: object = {}) => ({
    driver: 'postgres',
    host: '127.0.0.1',
    port: String(server().port),
    database: server().database,
    user: server().user,
    password: server().password,
    sql: 'select n, n * 1.10 as price from generate_series(1, $1::int) n',
    parameters: '[2]',
    ...more,
  });

  it("shows the rows that its query returns, in the source's format", async () => {
    const given = await start();
    const csv = await refreshed(given, { connector: 'db', format: 'csv', properties: properties() });
    expect(csv.document).toBe('n,price\n1,1.10\n2,2.20\n');
    const json = await refreshed(given, { connector: 'db', format: 'json', properties: properties() });
    expect(JSON.parse(json.document)).toEqual([
      { n: 1, price: 1.1 },
      { n: 2, price: 2.2 },
    ]);
    const xml = await refreshed(given, { connector: 'db', format: 'xml', properties: properties() });
    expect(xml.document).toContain('2.20');
  });

  it("reports the database's error without the password, and keeps the old data", async () => {
    const given = await start();
    const id = await given.source({
      connector: 'db',
      format: 'csv',
      properties: properties({ sql: 'select nothing' }),
    });
    await given.call('PUT', `/datasource-instances/${id}/data`, { body: 'old\n1\n' });
    await given.call('POST', `/datasource-instances/${id}/@/refresh`);
    await until(async () => (await settled(given, id)).fails > 0);
    const seen = await settled(given, id);
    expect(seen).toMatchObject({ fails: 1, document: 'old\n1\n' });
    expect(seen.error).toContain('nothing');
    expect(seen.error).not.toContain(server().password);
  });

  it("doesn't connect to hosts that the service isn't allowed to reach, on any port", async () => {
    const given = await start({ host: '0.0.0.0' });
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '::1']) {
      const { error } = await refreshed(given, { connector: 'db', format: 'csv', properties: properties({ host }) });
      expect(error, host).toContain('requests to this address are not allowed here');
    }
  });

  it('cancels a refresh whose document exceeds the size limit', async () => {
    const given = await start({ uploadLimitBytes: 10_000 });
    const sql = 'select n from generate_series(1, 500000) n';
    const seen = await refreshed(given, {
      connector: 'db',
      format: 'csv',
      properties: properties({ sql, parameters: '[]' }),
    });
    expect(seen.error).toContain("larger than a data source's limit of 10000 bytes");
  });
});

describeWithFileServer({ server: 'vsftpd' }, 'a data source with the ftp connector', (server) => {
  it("shows its file, and doesn't connect to a server that the service isn't allowed to reach", async () => {
    await writeFile(join(server().files, 'orders.csv'), 'id,name\n1,a\n');
    const { host, port, user, password } = server();
    const properties = { protocol: 'ftp', host, port, user, password, path: 'orders.csv', format: 'csv' };
    const given = await start();
    const source = { connector: 'ftp', format: 'json', properties };
    expect(JSON.parse((await refreshed(given, source)).document)).toEqual([{ id: '1', name: 'a' }]);
    const closed = await start({ host: '0.0.0.0' });
    expect((await refreshed(closed, source)).error).toContain('requests to this address are not allowed here');
  });
});

describe('a data source with the simple_rest connector', () => {
  it('shows the response byte for byte and sends its token in a header', async () => {
    const asked: (string | undefined)[] = [];
    const port = await listen(({ headers }, response) => {
      asked.push(headers.authorization ?? String(headers['x-token']));
      response.end('{ "rows" : [1] }');
    });
    const endpoint_url = `http://127.0.0.1:${port}/`;
    const given = await start();
    const own = { endpoint_url, oauth_user_token: 'tok-1', oauth_provider_id: 'p1' };
    expect((await refreshed(given, { properties: own })).document).toBe('{ "rows" : [1] }');
    await refreshed(given, { properties: { ...own, oauth_user_header: 'X-Token: Key' } });
    expect(asked).toEqual(['Bearer tok-1', 'Key tok-1']);
  });

  it('is read as a table if its properties describe one, even with credentials and several pages', async () => {
    const port = await listen(({ headers, url }, response) => {
      const isUs = headers.authorization === `Basic ${Buffer.from('ann:s3cret').toString('base64')}`;
      response.writeHead(isUs ? 200 : 401, { 'content-type': 'application/json' });
      const page = Number(new URL(url!, 'http://x').searchParams.get('page'));
      response.end(JSON.stringify({ items: page > 2 ? [] : [{ id: page }] }));
    });
    const properties = {
      url: `http://127.0.0.1:${port}`,
      path: '/orders',
      auth: JSON.stringify({ kind: 'basic', user: 'ann', password: 's3cret' }),
      paging: '{"kind":"page","parameter":"page"}',
      records: 'items',
    };
    const given = await start();
    expect((await refreshed(given, { format: 'csv', properties })).document).toBe('id\n1\n2\n');
  });
});

/** What `localhost` resolves to. */
const resolved = /127\.0\.0\.1|::1/;

describe("a refresh's limits", () => {
  it('block a redirect, a next page or a token URL that leads to a forbidden host', async () => {
    const asked: string[] = [];
    const secret = 'http://10.0.0.1/secret';
    const port = await listen(({ url }, response) => {
      asked.push(url!);
      if (url === '/redirect') response.writeHead(302, { location: secret }).end();
      else
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ items: [{ id: 1 }], next: secret }));
    });
    const given = await start();
    const url = `http://127.0.0.1:${port}`;
    const paging = '{"kind":"next_link","path":"next"}';
    const open = { url, records: 'items', retries: '0', other_origins: 'http://10.0.0.1' };
    const told = async (properties: object, connector = 'simple_rest') =>
      (await refreshed(given, { connector, format: 'csv', properties })).error;
    expect(await told({ ...open, path: '/redirect' })).toContain('requests to this address are not allowed here');
    expect(await told({ ...open, path: '/pages', paging })).toContain('requests to this address are not allowed here');
    const account = { api_url: 'https://10.0.0.1', client_id: 'a', client_secret: 'b', server: 'app', profile: '1' };
    expect(await told({ ...account, stream: 'pages' }, 'iformbuilder')).toContain(
      'requests to this address are not allowed here',
    );
    expect(asked).toEqual(['/redirect', '/pages']);
  });

  const login = { user: 'u', password: 'secret' };
  const database = { ...login, sql: 'select 1' };
  const hostKey = `SHA256:${'A'.repeat(43)}`;
  it.each([
    ['db', { ...database, driver: 'postgres' }],
    ['db', { ...database, driver: 'mysql' }],
    ['db', { ...database, driver: 'mariadb' }],
    ['db', { ...database, driver: 'sqlserver' }],
    ['ftp', { ...login, protocol: 'ftp', path: 'a.csv' }],
    ['ftp', { ...login, protocol: 'sftp', path: 'a.csv', host_key: hostKey }],
    ['simple_rest', {}],
  ])("don't reveal which address a name resolves to (%s, %j)", async (connector, properties) => {
    const port = await freePort();
    const named =
      connector === 'simple_rest' ? { endpoint_url: `http://localhost:${port}/` } : { host: 'localhost', port };
    const source = { connector, format: 'csv', properties: { ...properties, ...named } };
    const refused = (await refreshed(await start({ host: '0.0.0.0' }), source)).error;
    expect(refused).toMatch(/localhost.*requests to this address are not allowed here/);
    expect(refused).not.toMatch(resolved);
    const unreachable = (await refreshed(await start(), source)).error;
    expect(unreachable).toContain('localhost');
    expect(unreachable).not.toMatch(resolved);
  });

  it("apply to SQL Server's address and to the server that an Azure gateway redirects to", async () => {
    const accepted: string[] = [];
    const spy = createConnection((socket) => {
      accepted.push('a connection');
      socket.destroy();
    });
    await new Promise<void>((done) => spy.listen(0, '127.0.0.1', done));
    onTestFinished(() => new Promise<void>((done) => void spy.close(() => done())));
    const { port } = spy.address() as AddressInfo;
    const told = async (given: Bench, host: string, at: number) => {
      const properties = { ...database, driver: 'sqlserver', host, port: String(at) };
      return (await refreshed(given, { connector: 'db', format: 'csv', properties })).error;
    };
    expect(await told(await start({ host: '0.0.0.0' }), '127.0.0.1', port)).toContain(
      'requests to this address are not allowed here',
    );
    expect(accepted).toEqual([]);
    const own = await start();
    const gateway = await startTdsServer(() => [], { redirect: { server: '10.0.0.1', port } });
    onTestFinished(() => gateway.close());
    expect(await told(own, '10.0.0.1', port)).toContain('requests to this address are not allowed here');
    expect(await told(own, '127.0.0.1', gateway.port)).toContain('requests to this address are not allowed here');
  });

  it("block access to the service's disk, even if an option reads a file by default", async () => {
    const properties = { host: '127.0.0.1', protocol: 'sftp', user: 'a', password: 'b', path: 'x.csv' };
    const { error } = await refreshed(await start(), { connector: 'ftp', format: 'csv', properties });
    expect(error).toMatch(/cannot read the service's files.*known_hosts/);
  });

  it('also apply to memory and idle time', async () => {
    const port = await listen(() => undefined);
    const request = {
      connector: 'xmla',
      format: 'csv' as const,
      properties: { url: `http://127.0.0.1:${port}/`, statement: 'select' },
      reach: { host: '127.0.0.1', allowPrivate: false },
      signal: new AbortController().signal,
    };
    const within = (limits: Parameters<typeof pullWithin>[0]) => Array.fromAsync(pullWithin(limits, request));
    await expect(within({ memoryBytes: 1_048_576, stallMs: 60_000 })).rejects.toMatchObject({ code: 'REFRESH_MEMORY' });
    await expect(within({ memoryBytes: 1e9, stallMs: 200 })).rejects.toMatchObject({ code: 'SOURCE_STALLED' });
  });

  it('leave no process or folder behind if the refresh is stopped or the service is killed', async () => {
    const folder = await scratch();
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const asked = Promise.withResolvers<void>();
    const port = await listen(() => asked.resolve());
    const endpoint_url = `http://127.0.0.1:${port}/`;
    const stop = new AbortController();
    const request = { connector: 'simple_rest', format: 'json', properties: { endpoint_url } } as const;
    const pulled = pullDatasource({
      ...request,
      reach: { host: '127.0.0.1', allowPrivate: false },
      signal: stop.signal,
    });
    const first = pulled[Symbol.asyncIterator]().next();
    await asked.promise;
    stop.abort(new Error('stopped by the test'));
    await expect(first).rejects.toThrow('stopped by the test');
    expect([await readdir(folder), await processesIn(folder)]).toEqual([[], []]);

    const again = Promise.withResolvers<void>();
    const other = await listen(() => again.resolve());
    const killed = spawn(process.execPath, [child, `http://127.0.0.1:${other}/`], { stdio: 'ignore' });
    await again.promise;
    expect(await processesIn(folder)).toHaveLength(1);
    killed.kill('SIGKILL');
    await until(async () => [...(await readdir(folder)), ...(await processesIn(folder))].length === 0);
  });
});

const child = join(import.meta.dirname, 'refresh-child.ts');

/** Processes whose command line contains the folder. */
async function processesIn(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return ids.filter((_, i) => lines[i]!.includes(folder));
}

describe('a data source from a vendor with a login', () => {
  const account = {
    'POST /2/files/list_folder': { json: { entries: [{ '.tag': 'file', id: 'id:1', name: 'a' }], has_more: false } },
  };
  const vendor = async (routes: ConstructorParameters<typeof Vendor>[0]['routes'], token: string): Promise<Vendor> => {
    const guard = ({ path, headers }: { path: string; headers: Record<string, unknown> }) =>
      path.includes('token') || headers.authorization === `Bearer ${token}` ? undefined : { status: 401, json: {} };
    const double = await new Vendor({ routes, guard: guard as never }).start();
    onTestFinished(() => double.stop());
    return double;
  };

  it('is read with the token in its properties, and its settings have the prefix prop:', async () => {
    const { url } = await vendor(account, 'tok-1');
    const properties = {
      oauth_user_token: 'tok-1',
      oauth_provider_id: 'p',
      'prop:api_url': url,
      'prop:path': '/Reports',
    };
    const given = await start();
    const seen = await refreshed(given, { connector: 'dropbox', format: 'csv', properties });
    expect(seen.document.split('\n')[1]).toMatch(/^file,id:1,a,/);
  });

  it("reports a rejected token, and continues once it's replaced", async () => {
    const { url } = await vendor(account, 'tok-2');
    const given = await start();
    const properties = { oauth_user_token: 'tok-1', api_url: url };
    const { id, error } = await refreshed(given, { connector: 'dropbox', format: 'csv', properties });
    expect(error).toContain('oauth_user_token property is no longer accepted');
    expect(error).not.toContain('tok-1');
    const changed = { properties: { oauth_user_token: 'tok-2' } };
    await given.call('PUT', `/datasource-instances/${id}/properties`, { body: changed });
    await given.call('POST', `/datasource-instances/${id}/@/refresh`);
    await until(async () => (await settled(given, id)).fails === 0);
    expect(await settled(given, id)).toMatchObject({ fails: 0, error: null });
  });

  it('requests a token by itself if that requires no user', async () => {
    const pages = [{ id: 7, name: 'visits' }];
    const { url } = await vendor(
      {
        'POST /exzact/api/oauth/token': { json: { access_token: 'fresh', expires_in: 3600 } },
        'GET /exzact/api/v60/profiles/47/pages': { json: pages, headers: { 'total-count': '1' } },
      },
      'fresh',
    );
    const properties = {
      server: 'app',
      api_url: url,
      client_id: 'key',
      client_secret: 'shh',
      stream: 'pages',
      profile: '47',
    };
    const given = await start();
    const seen = await refreshed(given, { connector: 'iformbuilder', format: 'csv', properties });
    expect(seen.document).toContain('7,visits');
  });

  it.each([
    ['requests', { client_secret: 'shh' }],
    ['brings', { oauth_user_token: 'fresh' }],
  ])("also sends the app's ID with a token that it %s, if the vendor requires it", async (_, credentials) => {
    const shown = { json: { content: [{ id: 's1', name: 'Buyers' }], lastPage: true } };
    const refusal = { status: 403, json: { error_code: '403025', message: 'no api key' } };
    const { url } = await vendor(
      {
        'POST /ims/token/v3': { json: { access_token: 'fresh', expires_in: 86_400 } },
        'GET /api/exampleco/segments': ({ headers }) => (headers['x-api-key'] === 'key' ? shown : refusal),
      },
      'fresh',
    );
    const properties = { company: 'exampleco', stream: 'segments', api_url: url, client_id: 'key', ...credentials };
    const seen = await refreshed(await start(), { connector: 'omniture', format: 'csv', properties });
    expect([seen.error, seen.document.split('\n')[1]]).toEqual([null, 's1,Buyers,,']);
  });

  it.each([
    ['any login', {}, /has none; allowed: oauth_user_token/],
    ['a token stored by the service', { token_id: 't-1' }, /this service stores no tokens/],
    ['a login that requires a user', { client_id: 'app' }, /requires a person/],
  ])('reports what is missing or unsupported: %s', async (_name, properties, message) => {
    const given = await start();
    expect((await refreshed(given, { connector: 'dropbox', properties })).error).toMatch(message);
  });

  it('reports a missing value that the vendor returns with the token', async () => {
    const properties = { oauth_user_token: 'tok-1', stream: 'records', object: 'Account' };
    const { error } = await refreshed(await start(), { connector: 'salesforce', properties });
    expect(error).toMatch(/should return it as instance_url with the token.*needs the property instance_url, such as/);
  });
});

describe('an invalid property', () => {
  it.each([
    ['with an unknown name', 'db', { quary: 'select 1' }, /Unknown property "quary" .*db connector.*allowed: sql/],
    ['of the wrong type', 'db', { sql: 'select 1', driver: 'postgres', user: 'u', port: 'high' }, /port/],
    ['that is missing', 'db', { driver: 'postgres', user: 'u', host: 'x.test' }, /sql/],
    ['that conflicts with another one', 'db', { sql: 'select 1', host: 'x.test' }, /driver/],
    ["that reads the service's disk", 'db', { sql: 'select 1', file: '/etc/passwd' }, /file on the service/],
    ['that reads it through SQLite', 'db', { sql: 'select 1', driver: 'sqlite' }, /file on the service/],
    ['with a socket', 'db', { sql: 'select 1', driver: 'postgres', user: 'u', host: '/run' }, /file on the service/],
    [
      'with a hidden file',
      'ftp',
      { host: 'x.test', path: 'a', protocol: 'ftps', tls: '{"mode":"verify","ca_file":"/etc/passwd"}' },
      /ca_file.*file on the service/,
    ],
    [
      'that wants files to be deleted',
      'ftp',
      { host: 'x.test', protocol: 'ftp', path: '*.csv', files: 'changed', after_delivery: 'delete' },
      /"after_delivery" requires a job/,
    ],
    ['that names a service that was shut down', 'radian6', {}, /is discontinued/],
  ])('%s is reported by the instance', async (_name, connector, properties, message) => {
    const given = await start();
    expect((await refreshed(given, { connector, properties })).error).toMatch(message);
  });
});

it('a data source is refreshed repeatedly, according to its schedule', async () => {
  let calls = 0;
  const port = await listen((_request, response) => void response.end(`[${++calls}]`));
  const clock = new SteppingClock('2026-03-02T12:00:00Z');
  const given = await start({ clock, tickMs: 5 });
  const properties = { endpoint_url: `http://127.0.0.1:${port}/` };
  const id = await given.source({ refresh_interval: 60, properties });
  for (const document of ['[1]', '[2]']) {
    clock.advance(60_000);
    const shown = async () => (await given.call('GET', `/datasource-instances/${id}/data?raw=true`)).text;
    await until(async () => (await shown()) === document);
  }
  expect(calls).toBe(2);
});
