import type { Options } from '../db-reader.ts';
import { notFound, type Situation, verify } from './situation.ts';
import type { Stage } from './stage.ts';

const mariaMany = "select seq, repeat('x', 1000) as fill from seq_1_to_2000000";
const mariaSlow = 'select sum(a.seq * b.seq) as a from seq_1_to_1000000 a, seq_1_to_1000000 b';

const login = (user: string, database?: string) => (at: Stage) => at.check(at.maria(user, database));
const read = (query: Options | string) => (at: Stage) => at.read(at.maria('sluice'), query);

export const mariadbSituations: readonly Situation[] = [
  [
    'nothing listens at the port',
    (at) => at.check({ url: 'mysql://a@127.0.0.1:1/b' }),
    'DB_UNREACHABLE try_later',
    /connection refused/,
    /server is running/,
  ],
  [
    'the host name does not exist',
    (at) => at.check({ url: 'mysql://a@db.invalid/b' }),
    'DB_UNREACHABLE try_later',
    notFound,
    /host and port/,
  ],
  [
    'there is no socket',
    (at) => at.check({ url: 'mysql://a@/b?socket=/nowhere/sock' }),
    'DB_UNREACHABLE try_later',
    /\/nowhere\/sock: the socket does not exist/,
    /check the path/,
  ],
  [
    'a PostgreSQL server listens at the port',
    (at) => at.check({ url: at.pg('a').url.replace('postgres:', 'mysql:'), connect_timeout_seconds: 0.5 }),
    'DB_CONNECT_TIMEOUT try_later',
    /did not respond/,
    /host, the port/,
  ],
  [
    'a web server listens at the port',
    async (at) => at.check(await at.listener('mysql', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))),
    'DB_PROTOCOL try_later',
    /no MySQL or MariaDB greeting/,
    /host and port belong/,
  ],
  [
    'nothing is behind a proxy',
    async (at) => at.check(await at.listener('mysql', (socket) => socket.end())),
    'DB_UNREACHABLE try_later',
    /closed before the login was complete/,
    /server is running/,
  ],
  [
    'the password is wrong',
    (at) => at.check({ url: at.maria('sluice').url.replace('maria-test-password', 'x'), ...verify('ca.pem') }),
    'DB_LOGIN_REFUSED login',
    /Access denied.*YES/,
    /user and password.*client certificate/,
  ],
  [
    'no password is set',
    (at) => at.check({ url: at.maria('sluice').url.replace(':maria-test-password', '') }),
    'DB_LOGIN_REFUSED login',
    /using password: NO/,
    /user and password/,
  ],
  [
    'the account is for another host',
    login('elsewhere'),
    'DB_LOGIN_REFUSED login',
    /'elsewhere'@/,
    /user and password/,
  ],
  [
    'the account requires TLS',
    login('encrypted'),
    'DB_LOGIN_REFUSED login',
    /Access denied/,
    /may require tls: \{ mode: verify \}/,
  ],
  [
    'the account requires a client certificate',
    (at) => at.check({ ...at.maria('certified'), ...verify('ca.pem') }),
    'DB_LOGIN_REFUSED login',
    /Access denied/,
    /cert_file and key_file/,
  ],
  ['the account is locked', login('locked'), 'DB_LOGIN_REFUSED login', /account is locked/, /account unlock/],
  ['the password has expired', login('expired'), 'DB_LOGIN_REFUSED login', /SET PASSWORD/, /password has expired/],
  [
    'the account is for a user of the operating system',
    login('at_socket'),
    'DB_LOGIN_REFUSED login',
    /Access denied/,
    /unix_socket/,
  ],
  [
    'another authority has signed the certificate',
    (at) => at.check({ ...at.maria('sluice'), ...verify('stranger.pem') }),
    'DB_TLS_REFUSED config',
    /self-signed/,
    /ca_file/,
  ],
  [
    'the database does not exist',
    login('sluice', 'nowhere'),
    'DB_NO_DATABASE config',
    /Unknown database 'nowhere'/,
    /database option/,
  ],
  [
    'the user may not use the database',
    login('guest', 'private'),
    'DB_NO_DATABASE config',
    /to database 'private'/,
    /permission to connect/,
  ],
  [
    'the account has no free connection',
    (at) => at.readUntil(at.maria('alone'), mariaMany, () => at.check(at.maria('alone'))),
    'DB_SERVER_BUSY try_later',
    /max_user_connections/,
    /retries/,
  ],
  [
    'the server refuses a setting',
    (at) => at.check({ ...at.maria('sluice'), session: { nothing: 1 } }),
    'DB_SESSION_SETTING config',
    /Unknown system variable 'nothing'/,
    /correct or remove it/,
  ],
  ['the query has a typo', read('select 1 from'), 'DB_QUERY_FAILED job', /error in your SQL syntax/, /fix the query/],
  [
    'the user may not read the table',
    (at) => at.read(at.maria('guest'), 'select * from mysql.global_priv'),
    'DB_QUERY_FAILED job',
    /SELECT command denied/,
    /grant select/,
  ],
  [
    'the query writes',
    read('select * from orders for update'),
    'DB_WRITE_REFUSED job',
    /READ ONLY transaction/,
    /only reads/,
  ],
  [
    'the query writes a file',
    read("select 1 into outfile '/tmp/x'"),
    'DB_WRITE_REFUSED job',
    /writes a file/,
    /use a query/,
  ],
  [
    'a parameter is missing',
    read({ sql: 'select ?, ?', parameters: [1] }),
    'DB_QUERY_FAILED job',
    /the query has 2.*option has 1/,
    /one parameter for each \?/,
  ],
  [
    'the query takes too long',
    (at) => at.read({ ...at.maria('sluice'), statement_timeout_seconds: 0.1 }, mariaSlow),
    'DB_STATEMENT_CANCELLED job',
    /max_statement_time exceeded/,
    /statement_timeout_seconds/,
  ],
  [
    "the query takes longer than the account's limit",
    (at) => at.read(at.maria('slow'), mariaSlow),
    'DB_STATEMENT_CANCELLED job',
    /max_statement_time exceeded/,
    /server's limit for this user/,
  ],
  [
    'a date does not exist',
    read("select cast('0000-00-00' as date) as due"),
    'DB_NO_SUCH_DATE row',
    /0000-00-00/,
    /zero_dates/,
  ],
];
