import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { withDefaults } from '#sdk';
import { addressOf } from '../../connectors/db/address.ts';
import db from '../../connectors/db/index.ts';
import { readAddress } from '../../connectors/db/read-address.ts';
import { makeCertificates } from '../servers/certificates.ts';
import { describeWithServer } from '../servers/describe.ts';
import { freePort } from '../servers/free-port.ts';
import { startPostgres } from '../servers/postgres.ts';
import { check, extract, firstOf, type Options, problemOf, read } from './db-reader.ts';
import { startScripted } from './scripted-server.ts';

/** An address, without what the defaults set. */
function shown(source: Options) {
  const { servers, user, database, tls, target, ...rest } = addressOf(withDefaults(db.source, source));
  const { hasChannelBinding, connectSeconds, applicationName, startupOptions } = rest;
  return Object.fromEntries(
    Object.entries({
      servers: servers.map(({ place }) => place).join(' '),
      ...{ user, password: servers[0].password, database },
      ...(Object.keys(tls).length === 0 ? {} : { tls }),
      ...(target === 'any' ? {} : { target }),
      ...(hasChannelBinding ? { hasChannelBinding } : {}),
      ...(connectSeconds === 10 ? {} : { connectSeconds }),
      ...(applicationName === 'sluice' ? {} : { applicationName }),
      ...{ startupOptions },
    }).filter(([, value]) => value !== undefined),
  );
}

describe('the URL of a hoster', () => {
  it.each<[string, string, object]>([
    [
      'Heroku',
      'postgres://u1:p1@ec2-1-2-3-4.compute.amazonaws.com:5432/d1',
      { servers: 'ec2-1-2-3-4.compute.amazonaws.com:5432', user: 'u1', password: 'p1', database: 'd1' },
    ],
    [
      'Neon',
      'postgresql://u:p@ep-x-pooler.eu.aws.neon.tech/d?sslmode=require&channel_binding=require&options=endpoint%3Dep-x',
      {
        ...{ servers: 'ep-x-pooler.eu.aws.neon.tech:5432', user: 'u', password: 'p', database: 'd' },
        ...{ tls: { mode: 'require' }, hasChannelBinding: true, startupOptions: 'endpoint=ep-x' },
      },
    ],
    [
      'Supabase',
      'postgresql://postgres.ref:p%40ss@aws-0-eu.pooler.supabase.com:6543/postgres?pgbouncer=true&connection_limit=1',
      {
        servers: 'aws-0-eu.pooler.supabase.com:6543',
        ...{ user: 'postgres.ref', password: 'p@ss', database: 'postgres' },
      },
    ],
    [
      'CockroachDB',
      'postgresql://u:p@free.aws.cockroachlabs.cloud:26257/d?sslmode=verify-full&sslrootcert=system',
      {
        ...{ servers: 'free.aws.cockroachlabs.cloud:26257', user: 'u', password: 'p', database: 'd' },
        tls: { mode: 'verify' },
      },
    ],
    [
      'Google Cloud SQL, with a socket',
      'postgresql+psycopg2://u:p@/d?host=/cloudsql/project:region:instance',
      { servers: '/cloudsql/project:region:instance/.s.PGSQL.5432', user: 'u', password: 'p', database: 'd' },
    ],
    [
      'a cluster, with several hosts',
      'postgres://u@[::1]:1,b,c:3/d?target_session_attrs=read-write&connect_timeout=3&application_name=x',
      {
        ...{ servers: '[::1]:1 b:5432 c:3', user: 'u', database: 'd', target: 'read-write' },
        ...{ connectSeconds: 3, applicationName: 'x' },
      },
    ],
    [
      'Yugabyte, with files',
      'postgres://u:a:b@h:5433/d?ssl=true&sslmode=verify-full&sslrootcert=ca&sslcert=c&sslkey=k',
      {
        ...{ servers: 'h:5433', user: 'u', password: 'a:b', database: 'd' },
        tls: { mode: 'verify', ca_file: 'ca', cert_file: 'c', key_file: 'k' },
      },
    ],
    [
      'DigitalOcean, MySQL',
      'mysql://u:p@h:25060/d?ssl-mode=REQUIRED',
      { servers: 'h:25060', user: 'u', password: 'p', database: 'd', tls: { mode: 'require' } },
    ],
    [
      'PlanetScale',
      'mysql://u:pscale_pw_x@aws.connect.psdb.cloud/d?ssl={"rejectUnauthorized":true}',
      {
        ...{ servers: 'aws.connect.psdb.cloud:3306', user: 'u', password: 'pscale_pw_x', database: 'd' },
        tls: { mode: 'verify' },
      },
    ],
    [
      'a MySQL client in Python',
      'mysql+pymysql://u:p@/d?unix_socket=/s&charset=utf8mb4',
      { servers: '/s', user: 'u', password: 'p', database: 'd' },
    ],
  ])('%s is understood', (_title, url, address) => {
    expect(db.validate!({ source: withDefaults(db.source, { url }) })).toEqual([]);
    expect(shown({ url })).toEqual(address);
  });

  it.each([
    ['?sslmode=verify-full&sslrootcert=ca&ssl=true', { mode: 'verify', ca_file: 'ca' }],
    ['?ssl=true&sslmode=verify-full', { mode: 'verify' }],
    ['?sslrootcert=system&sslmode=require', { mode: 'verify' }],
  ])('keeps the strictest TLS mode: %s', (parameters, tls) => {
    expect(shown({ url: `postgres://u@h/d${parameters}` })).toMatchObject({ tls });
  });

  it.each([
    ['postgres://u@h:6432/d?port=6543', 'h:6543'],
    ['postgres://u@[::1]:1,b,c:3/d?port=9', '[::1]:9 b:9 c:9'],
    ['postgres://u@b,c/d?port=1,2', 'b:1 c:2'],
    ['postgres://u@:5433/d?host=/tmp', '/tmp/.s.PGSQL.5433'],
    ['postgres://u:p@:5433/d', 'localhost:5433'],
    ['postgres://u:p@/d?host=', 'localhost:5432'],
  ])('takes hosts and ports as libpq does: %s', (url, servers) => {
    expect(shown({ url })).toMatchObject({ servers });
  });

  it('is overridden by the connect_timeout_seconds option', () => {
    const url = 'postgres://u@h/d?connect_timeout=2';
    expect(shown({ url, connect_timeout_seconds: 60 })).toMatchObject({ connectSeconds: 60 });
  });

  it('is overridden by the tls option', () => {
    const url = 'postgres://u@h/d?sslmode=prefer&sslrootcert=a';
    expect(shown({ url, tls: { mode: 'verify', ca_file: 'b' } })).toMatchObject({
      tls: { mode: 'verify', ca_file: 'b' },
    });
  });
});

describe('a file of libpq', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-libpq-'));
    await writeFile(
      join(folder, 'services'),
      '# shops\n[shop]\nhost=a,b\nport=5433\n dbname = shop\nuser=etl\nsslmode=verify-full\n\n[strange]\nuser=a\nhostaddr=1.2.3.4\n[empty]\nhost=a\n[known]\nhost=a\nuser=u\npassword=own\n',
    );
    const lines = [
      '# comment',
      'a:5433:shop:other:no',
      String.raw`a:*:shop:etl:with\:colon\\`,
      '*:5433:*:etl:any:rest',
    ];
    await writeFile(join(folder, 'pgpass'), lines.join('\n'), { mode: 0o600 });
    await writeFile(join(folder, 'one'), 'b:*:*:*:p', { mode: 0o600 });
    await writeFile(join(folder, 'open'), lines.join('\n'), { mode: 0o644 });
  });
  afterAll(() => rm(folder, { recursive: true }));

  const address = (source: Options) => readAddress(withDefaults(db.source, source), folder);
  const shop = { service: 'shop', service_file: 'services' };

  it('sets what the options lack: the section of a connection service', async () => {
    expect(await address({ ...shop, database: 'copy', password: 'p' })).toMatchObject({
      servers: [
        { host: 'a', port: 5433, password: 'p' },
        { host: 'b', port: 5433, password: 'p' },
      ],
      ...{ database: 'copy', user: 'etl', tls: { mode: 'verify' } },
    });
  });

  it('sets the password of each host: the first line of a password file that matches', async () => {
    const { servers } = await address({ ...shop, passfile: 'pgpass' });
    expect(servers.map(({ password }) => password)).toEqual(['with:colon\\', 'any']);
  });

  it('sets no password where none is needed: at a host without a line, or if the service has one', async () => {
    const passwords = async (source: Options) => (await address(source)).servers.map(({ password }) => password);
    expect(await passwords({ ...shop, passfile: 'one' })).toEqual([undefined, 'p']);
    expect(await passwords({ ...shop, service: 'known', passfile: 'pgpass' })).toEqual(['own']);
  });

  it.each<[string, Options, object]>([
    ['a file that does not exist', { service: 'a', service_file: 'b' }, { code: 'DB_SERVICE_FILE' }],
    ['an unknown section', { ...shop, service: 'a' }, { seen: 'a', allowed: 'shop, strange, empty, known' }],
    ['an unknown entry', { ...shop, service: 'strange' }, { message: expect.stringContaining('"hostaddr"') }],
    ['an incomplete section', { ...shop, service: 'empty' }, { message: expect.stringContaining('user') }],
    ['no password file', { ...shop, passfile: 'a' }, { code: 'DB_PASSWORD_FILE' }],
    [
      'a password file that other users can read',
      { ...shop, passfile: 'open' },
      { code: 'DB_PASSWORD_FILE', seen: 'permissions 0644', next: expect.stringContaining('chmod 0600') },
    ],
    [
      'a password file without a matching line',
      { driver: 'postgres', user: 'x', host: 'h', passfile: 'pgpass' },
      { code: 'DB_PASSWORD_FILE', seen: 'h:5432, database x, user x' },
    ],
  ])('is refused with a reason: %s', async (_title, source, wanted) => {
    expect(await problemOf(address(source))).toMatchObject({ family: 'config', ...wanted });
  });

  it('belongs to the login, which is tried again if the file changes', () => {
    const { place, files } = db.account!(withDefaults(db.source, { ...shop, passfile: 'pgpass' }))!;
    expect(place).toBe('service shop');
    expect(files).toEqual(expect.arrayContaining(['services', 'pgpass']));
  });
});

describeWithServer(
  { servers: 'PostgreSQL', settings: async () => ({ tls: await makeCertificates(['IP:127.0.0.1']) }) },
  'a PostgreSQL address',
  (server) => {
    const by = (parameters: string) => ({ url: `${server().url}?${parameters}` });
    const setting = async (source: Options, name: string) =>
      (await read(source, `select current_setting('${name}')`)).rows[0]![0];

    it('passes options to the server, and takes none from the environment', async () => {
      vi.stubEnv('PGOPTIONS', '-c work_mem=77MB');
      vi.stubEnv('PGCLIENT_ENCODING', 'LATIN1');
      vi.stubEnv('PGREPLICATION', 'database');
      vi.stubEnv('PGSSLNEGOTIATION', 'direct');
      vi.stubEnv('PGHOST', '/nowhere');
      vi.stubEnv('PGUSER', 'nobody');
      vi.stubEnv('PGDATABASE', 'nowhere');
      vi.stubEnv('PGAPPNAME', 'other');
      const { user, password, port } = server();
      try {
        expect(await setting({ url: server().url }, 'work_mem')).not.toBe('77MB');
        expect(await setting(by('options=-c%20work_mem%3D66MB'), 'work_mem')).toBe('66MB');
        expect(await setting(by('application_name=x'), 'application_name')).toBe('x');
        expect((await read({ url: server().url }, "select 'é漢'")).rows).toEqual([['é漢']]);
        const url = `postgres://${user}:${password}@:${port}/postgres?host=&user=&dbname=&application_name=`;
        expect(await setting({ url }, 'application_name')).toBe('sluice');
      } finally {
        vi.unstubAllEnvs();
      }
    });

    it('can be a socket, on which there is no TLS', async () => {
      const { user, password, port, folder } = server();
      const url = `postgres://${user}:${password}@/postgres?host=${folder}&port=${port}`;
      expect(await check({ url })).toContain('PostgreSQL');
      expect(await check({ url: `${url}&sslmode=require` })).toContain('PostgreSQL');
    });

    it('can be in files of libpq', async () => {
      const { user, password, port } = server();
      const folder = await mkdtemp(join(tmpdir(), 'sluice-libpq-'));
      const section = `[shop]\nhost=127.0.0.1\nport=${port}\nuser=${user}\ndbname=postgres\n`;
      await writeFile(join(folder, 'services'), section);
      await writeFile(join(folder, 'pgpass'), `127.0.0.1:${port}:postgres:${user}:${password}\n`, { mode: 0o600 });
      const source = { service: 'shop', service_file: 'services', passfile: 'pgpass' };
      expect(await check(source, { folder })).toContain(`as ${user} on postgres`);
      await rm(folder, { recursive: true });
    });

    it('is connected to with channel binding if the URL requires it, otherwise refused', async () => {
      const source = (user: string) => {
        const { url } = by('sslmode=require&channel_binding=require');
        return { url: url.replace('sluice', user), tls: { verify: false } };
      };
      expect(await check(source('sluice'))).toContain('PostgreSQL');
      const admin = new pg.Client(server().url);
      await admin.connect();
      await admin.query(`set password_encryption = md5; create role plain login password '${server().password}'`);
      const { rows } = await admin.query('show hba_file');
      await admin.query(
        `copy (values ('host all plain 127.0.0.1/32 md5'), ('host all all 127.0.0.1/32 scram-sha-256'),
          ('local all all scram-sha-256')) to '${rows[0].hba_file}'`,
      );
      await admin.query('select pg_reload_conf()');
      await admin.end();
      expect(await check({ url: server().url.replace('sluice', 'plain') })).toContain('as plain');
      expect(await problemOf(check(source('plain')))).toMatchObject({ code: 'DB_LOGIN_KIND', family: 'config' });
    });

    it('can have several hosts: those that are down or not suitable are skipped', async () => {
      const down = `127.0.0.1:${await freePort()}`;
      const up = `127.0.0.1:${server().port}`;
      const hosts = (parameters: string) => ({ url: server().url.replace(up, `${down},${up}`) + parameters });
      expect(await check(hosts(''))).toContain('PostgreSQL');
      expect(await check(hosts('?target_session_attrs=read-write'))).toContain('PostgreSQL');
      expect(await check(hosts('?target_session_attrs=prefer-standby'))).toContain('PostgreSQL');
      expect(await problemOf(check(hosts('?target_session_attrs=standby')))).toMatchObject({
        code: 'DB_NO_SERVER',
        family: 'try_later',
        seen: expect.stringMatching(`^${up}: it is not a standby; ${down}: .*connection refused$`),
      });
      expect(await check(hosts(''))).toContain(` at ${up}`);
      const wrong = { url: hosts('').url.replace(server().password, 'wrong') };
      expect(await problemOf(check(wrong))).toMatchObject({ code: 'DB_LOGIN_REFUSED', family: 'login' });
    });

    // A server that accepts every login. It then answers with the bytes, or not at all.
    const loggedIn = Buffer.from('5200000008000000005a0000000549', 'hex');
    const unknown = Buffer.from('E\0\0\0\x17SERROR\0C42704\0Mno\0\0Z\0\0\0\x05I');

    it.each<[string, readonly Buffer[], string]>([
      ['never says whether it is suitable', [loggedIn], 'did not respond within 10 s'],
      ['does not know the question', [loggedIn, unknown], 'does not support target_session_attrs: read-write'],
    ])('skips a host that %s', async (_, answers, reason) => {
      const silent = `127.0.0.1:${await startScripted(answers)}`;
      const up = `127.0.0.1:${server().port}`;
      // The default timeout, because it also counts for the other server, which may be busy.
      const at = (hosts: string) => ({ url: server().url.replace(up, hosts), target_session_attrs: 'read-write' });
      const skipped: object[] = [];
      const info = (_message: string, facts?: object) => skipped.push(facts!);
      expect(await check(at(`${silent},${up}`), { info })).toContain(` at ${up}`);
      expect(skipped).toEqual([{ place: silent, reason: expect.stringContaining(reason) }]);
      const alone = { ...at(silent), connect_timeout_seconds: 0.5 };
      expect(await problemOf(check(alone))).toMatchObject({ family: 'try_later' });
    });

    it('stops waiting for the answer if the run is aborted', async () => {
      const url = `postgres://a@127.0.0.1:${await startScripted([loggedIn])}/b?target_session_attrs=primary`;
      const stop = new AbortController();
      const checking = check({ url, connect_timeout_seconds: 600 }, { signal: stop.signal });
      setTimeout(() => stop.abort(new Error('stopped')), 100);
      await expect(checking).rejects.toThrow('stopped');
    });

    it('is tried first again after Sluice itself has ended a read', async () => {
      const other = await startPostgres();
      try {
        const [first, second] = [`127.0.0.1:${server().port}`, `127.0.0.1:${other.port}`];
        const source = { url: server().url.replace(first, `${first},${second}`) };
        const many = "select g, repeat('x', 1000) as fill from generate_series(1, 2000000) g";
        await (await firstOf(await extract(source, many))).return!();
        const stop = new AbortController();
        const iterator = await firstOf(await extract(source, many, { signal: stop.signal }));
        stop.abort(new Error('stopped'));
        await expect(
          (async () => {
            while (!(await iterator.next()).done);
          })(),
        ).rejects.toThrow('stopped');
        expect((await read(source, 'select inet_server_port()')).rows).toEqual([[String(server().port)]]);
      } finally {
        await other.stop();
      }
    });

    it('is read from another host after a read failed on the first one', async () => {
      const other = await startPostgres();
      try {
        const [first, second] = [`127.0.0.1:${server().port}`, `127.0.0.1:${other.port}`];
        const source = { url: server().url.replace(first, `${first},${second}`) };
        const served = async () => (await read(source, 'select inet_server_port()')).rows[0]![0];
        expect(await served()).toBe(String(server().port));
        const many = "select g, repeat('x', 1000) as fill from generate_series(1, 2000000) g";
        const iterator = await firstOf(await extract(source, many));
        const admin = new pg.Client(server().url);
        await admin.connect();
        await admin.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where query like '%fill%'  and pid <> pg_backend_pid()",
        );
        await admin.end();
        const rest = (async () => {
          while (!(await iterator.next()).done);
        })();
        expect(await problemOf(rest)).toMatchObject({ family: 'try_later' });
        expect(await served()).toBe(String(other.port));
      } finally {
        await other.stop();
      }
    });
  },
);
