import { setTimeout as sleep } from 'node:timers/promises';
import type { Options } from '../db-reader.ts';
import { notFound, type Situation, verify } from './situation.ts';
import type { Stage } from './stage.ts';

const many = "select g, repeat('x', 1000) as fill from generate_series(1, 100000) g";
const ofSluice = "from pg_stat_activity where application_name = 'sluice'";

const login = (user: string, database?: string) => (at: Stage) => at.check(at.pg(user, database));
const read = (query: Options | string) => (at: Stage) => at.read(at.pg('sluice'), query);

export const postgresSituations: readonly Situation[] = [
  [
    'nothing listens at the port',
    (at) => at.check({ url: 'postgres://a@127.0.0.1:1/b' }),
    'DB_UNREACHABLE try_later',
    /127\.0\.0\.1:1: connection refused/,
    /host and port.*server is running/,
  ],
  [
    'the host name does not exist',
    (at) => at.check({ url: 'postgres://a@db.invalid/b' }),
    'DB_UNREACHABLE try_later',
    notFound,
    /host and port/,
  ],
  [
    'there is no socket',
    (at) => at.check({ url: 'postgres://a@/b?host=/nowhere' }),
    'DB_UNREACHABLE try_later',
    /\/nowhere\/\.s\.PGSQL\.5432: the socket does not exist/,
    /check the path/,
  ],
  [
    'a MariaDB server listens at the port',
    (at) => at.check({ url: at.maria('a').url.replace('mysql:', 'postgres:') }),
    'DB_PROTOCOL try_later',
    /cannot parse/,
    /host and port belong to a database of this kind/,
  ],
  [
    'a web server listens at the port',
    async (at) =>
      at.check(
        await at.listener('postgres', (socket) =>
          socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
        ),
      ),
    'DB_PROTOCOL try_later',
    /oversized message/,
    /host and port belong/,
  ],
  [
    'nothing is behind a proxy',
    async (at) => at.check(await at.listener('postgres', (socket) => socket.end())),
    'DB_UNREACHABLE try_later',
    /closed before the login was complete/,
    /server is running/,
  ],
  [
    'a firewall swallows everything',
    async (at) => at.check(await at.listener('postgres', (socket) => socket.resume())),
    'DB_CONNECT_TIMEOUT try_later',
    /did not respond within 0\.5 s/,
    /firewall.*connect_timeout_seconds/,
  ],
  [
    'the password is wrong',
    (at) => at.check({ url: at.pg('sluice').url.replace('pg-test-password', 'x') }),
    'DB_LOGIN_REFUSED login',
    /password authentication failed/,
    /user and password/,
  ],
  [
    'no password is set',
    (at) => at.check({ url: at.pg('sluice').url.replace(':pg-test-password', '') }),
    'DB_LOGIN_REFUSED login',
    /requires a password, but none is set/,
    /set the password option/,
  ],
  ['the user does not exist', login('nobody'), 'DB_LOGIN_REFUSED login', /"nobody"/, /user and password/],
  [
    'the role may not log in',
    login('group_only'),
    'DB_LOGIN_REFUSED login',
    /not permitted to log in/,
    /alter role … login/,
  ],
  [
    'the password has expired',
    login('expired'),
    'DB_LOGIN_REFUSED login',
    /"expired"/,
    /password has expired \(valid until\)/,
  ],
  ['the role has no free connection', login('alone'), 'DB_SERVER_BUSY try_later', /too many connections/, /retries/],
  [
    'the server wants Kerberos',
    login('kerberos'),
    'DB_LOGIN_REFUSED login',
    /requires GSSAPI, which Sluice does not support/,
    /pg_hba\.conf/,
  ],
  [
    'the server compares the user with that of the operating system',
    (at) => at.check({ url: `postgres://peer@/postgres?host=${at.postgres.folder}&port=${at.postgres.port}` }),
    'DB_LOGIN_REFUSED login',
    /Peer authentication failed/,
    /peer or ident.*operating system/,
  ],
  ['pg_hba.conf rejects the user', login('rejected'), 'DB_HOST_REFUSED config', /rejects connection/, /pg_hba\.conf/],
  [
    'pg_hba.conf has no line for the database',
    login('limited', 'other'),
    'DB_HOST_REFUSED config',
    /no pg_hba\.conf entry/,
    /add a line to pg_hba\.conf/,
  ],
  [
    'pg_hba.conf requires TLS',
    login('encrypted'),
    'DB_HOST_REFUSED config',
    /no encryption/,
    /tls: \{ mode: verify \}/,
  ],
  [
    'pg_hba.conf requires a client certificate',
    (at) => at.check({ ...at.pg('certified'), ...verify('ca.pem') }),
    'DB_CLIENT_CERTIFICATE config',
    /valid client certificate/,
    /cert_file and key_file/,
  ],
  [
    'another authority has signed the certificate',
    (at) => at.check({ ...at.pg('sluice'), ...verify('stranger.pem') }),
    'DB_TLS_REFUSED config',
    /trusted TLS connection.*self-signed/s,
    /ca_file/,
  ],
  [
    'the certificate is for another name',
    (at) => at.check({ url: at.pg('sluice').url.replace('127.0.0.1', 'localhost'), ...verify('ca.pem') }),
    'DB_TLS_REFUSED config',
    /Host: localhost/,
    /servername/,
  ],
  [
    'the database does not exist',
    login('sluice', 'nowhere'),
    'DB_NO_DATABASE config',
    /"nowhere" does not exist/,
    /database option/,
  ],
  [
    'the user may not connect to the database',
    login('limited', 'private'),
    'DB_NO_DATABASE config',
    /CONNECT privilege/,
    /permission to connect/,
  ],
  [
    'the database accepts no connections',
    login('limited', 'closed'),
    'DB_NO_DATABASE config',
    /not currently accepting/,
    /database/,
  ],
  [
    'the server refuses a setting',
    (at) => at.check({ ...at.pg('sluice'), session: { work_mem: 'much' } }),
    'DB_SESSION_SETTING config',
    /work_mem.*"much"/,
    /correct or remove it/,
  ],
  [
    'the query has a typo',
    read('selec 1'),
    'DB_QUERY_FAILED job',
    /near "selec".*character 1 of the query/s,
    /fix the query/,
  ],
  [
    'the table does not exist',
    read('select 1 from nowhere'),
    'DB_QUERY_FAILED job',
    /"nowhere" does not exist.*character 15/s,
    /fix the query/,
  ],
  [
    'the user may not read the table',
    (at) => at.read(at.pg('limited'), 'select * from orders'),
    'DB_QUERY_FAILED job',
    /permission denied for table orders/,
    /grant select/,
  ],
  [
    'the query writes',
    read('insert into orders values (2) returning id'),
    'DB_WRITE_REFUSED job',
    /cannot execute INSERT/,
    /only reads/,
  ],
  ['the statement returns no rows', read('set work_mem = 64'), 'DB_NO_RESULT job', /no result set/, /use a select/],
  [
    'there are two statements',
    read('select 1; select 2'),
    'DB_QUERY_FAILED job',
    /multiple commands/,
    /single statement/,
  ],
  [
    'two columns have one name',
    read('select 1 as a, 2 as a'),
    'DB_DUPLICATE_COLUMN job',
    /two columns named "a"/,
    /rename/,
  ],
  [
    'a parameter is missing',
    read({ sql: 'select $1::int as a, $2::int as b', parameters: [1] }),
    'DB_QUERY_FAILED job',
    /supplies 1 parameters/,
    /one parameter for each placeholder/,
  ],
  [
    'the query takes too long',
    (at) => at.read({ ...at.pg('sluice'), statement_timeout_seconds: 0.1 }, 'select 1 from pg_sleep(60)'),
    'DB_STATEMENT_CANCELLED job',
    /statement timeout/,
    /statement_timeout_seconds/,
  ],
  [
    "the query takes longer than the role's limit",
    (at) => at.read(at.pg('slow'), 'select 1 from pg_sleep(60)'),
    'DB_STATEMENT_CANCELLED job',
    /statement timeout/,
    /server's limit for this user/,
  ],
  [
    'the query needs too much temporary space',
    (at) => at.read(at.pg('small'), 'select g from generate_series(1, 1000000) g order by -g'),
    'DB_QUERY_FAILED job',
    /temp_file_limit/,
    /raise the limit/,
  ],
  ['the table is locked', readLocked, 'DB_SERVER_BUSY try_later', /lock timeout/, /retries/],
  [
    'an administrator ends the connection',
    (at) => at.readUntil(at.pg('sluice'), many, () => at.onPostgres(`select pg_terminate_backend(pid) ${ofSluice}`)),
    '(DB_CONNECTION_LOST|DB_SERVER_BUSY) try_later',
    /./,
    /./,
  ],
  [
    'an administrator cancels the query',
    (at) => at.readUntil(at.pg('sluice'), many, () => at.onPostgres(`select pg_cancel_backend(pid) ${ofSluice}`)),
    'DB_STATEMENT_CANCELLED job',
    /user request/,
    /./,
  ],
  [
    'a row cannot be computed',
    read('select 1 / (3 - g) as a from generate_series(1, 5) g'),
    'DB_QUERY_FAILED job',
    /division by zero/,
    /fix the query/,
  ],
  [
    'a text is in another encoding',
    (at) => at.read(at.pg('sluice', 'ascii'), "select E'caf\\351' as name"),
    'DB_BAD_TEXT row',
    /column "name" has a text that is not valid utf-8 caf/,
    /set encoding .* windows-1252/,
  ],
  [
    'a query converts bytes that are not text',
    read("select convert_from('\\xe9', 'UTF8') as a"),
    'DB_QUERY_FAILED job',
    /invalid byte sequence/,
    /correct them in the database/,
  ],
];

async function readLocked(at: Stage): Promise<unknown> {
  const source = { ...at.pg('sluice'), session: { lock_timeout: 50 } };
  const held = at.onPostgres('begin; lock table orders; select pg_sleep(2)');
  try {
    for (;;) {
      await at.read(source, 'select id from orders');
      await sleep(10);
    }
  } finally {
    await held;
  }
}
