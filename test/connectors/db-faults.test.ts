import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { mysqlProblem } from '../../connectors/db/mysql-problems.ts';
import { postgresProblem } from '../../connectors/db/postgres-problems.ts';
import { sqlserverProblem } from '../../connectors/db/sqlserver-problems.ts';

const reading = { place: 'db:1', connectSeconds: 15, isConnected: true, hasTls: true, hasCertificate: false };
const connecting = { ...reading, isConnected: false };
const inTheClear = { ...connecting, hasTls: false };

type Row = [fault: string, code: string, family: string, next?: string];

describe('PostgreSQL error mapping', () => {
  /** An error as a server sends it; poolers omit the routine. */
  const server = (code: string, message = 'words', routine = 'SomeRoutine') =>
    Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code, severity: 'FATAL', routine });

  it.each<[string, string, string]>([
    ['08006', 'DB_SERVER_BUSY', 'try_later'],
    ['53300', 'DB_SERVER_BUSY', 'try_later'],
    ['57P01', 'DB_SERVER_BUSY', 'try_later'],
    ['57P02', 'DB_SERVER_BUSY', 'try_later'],
    ['57P03', 'DB_SERVER_BUSY', 'try_later'],
    ['57P05', 'DB_SERVER_BUSY', 'try_later'],
    ['58030', 'DB_SERVER_BUSY', 'try_later'],
    ['40001', 'DB_SERVER_BUSY', 'try_later'],
    ['40P01', 'DB_SERVER_BUSY', 'try_later'],
    ['55P03', 'DB_SERVER_BUSY', 'try_later'],
    ['57P04', 'DB_NO_DATABASE', 'config'],
    ['58P01', 'DB_QUERY_FAILED', 'job'],
    ['25P04', 'DB_STATEMENT_CANCELLED', 'job'],
    ['42501', 'DB_QUERY_FAILED', 'job'],
    ['XX000', 'DB_QUERY_FAILED', 'job'],
  ])("maps a query's SQLSTATE %s to %s", (sqlstate, code, family) => {
    expect(postgresProblem(server(sqlstate), reading)).toMatchObject({ code, family });
  });

  const reject =
    'kein pg_hba.conf-Eintrag für Host »10.0.0.9«, Benutzer »etl«, Datenbank »shop«, keine Verschlüsselung';
  it.each<[string, object, string, string, RegExp]>([
    ['28P01', server('28P01', 'Passwort', 'auth_failed'), 'DB_LOGIN_REFUSED', 'login', /user and password/],
    ['pg_hba.conf', server('28000', reject, 'ClientAuthentication'), 'DB_HOST_REFUSED', 'config', /pg_hba.*tls: \{/],
    ['a certificate', server('28000', 'cert', 'ClientAuthentication'), 'DB_CLIENT_CERTIFICATE', 'config', /cert_file/],
    [
      'an unknown role',
      server('28000', 'no role', 'InitializeSessionUserId'),
      'DB_LOGIN_REFUSED',
      'login',
      /alter role … login/,
    ],
    ['no connection left', server('53300', 'no', 'InitializeSessionUserId'), 'DB_SERVER_BUSY', 'try_later', /./],
    ['no permission to connect', server('42501', 'no', 'CheckMyDatabase'), 'DB_NO_DATABASE', 'config', /grant/],
    ['no connections', server('55000', 'no', 'CheckMyDatabase'), 'DB_NO_DATABASE', 'config', /database/],
    ['an unknown setting', server('42704', 'what', 'find_option'), 'DB_CONNECT_REFUSED', 'job', /before any query/],
  ])('recognizes that a connection without TLS is refused: %s', (_, thrown, code, family, next) => {
    const problem = postgresProblem(thrown, inTheClear);
    expect(problem).toMatchObject({ code, family, next: expect.stringMatching(next) });
    expect(problem.message).toContain((thrown as Error).message);
  });

  it("doesn't suggest TLS for a connection that already uses it", () => {
    const problem = postgresProblem(server('28000', reject, 'ClientAuthentication'), connecting);
    expect(problem.next).not.toContain('tls');
  });

  it('reports an unsupported SASL mechanism as such, not as a wrong password', () => {
    const thrown = new Error('SASL: Only mechanism(s) SCRAM-SHA-256 are supported');
    expect(postgresProblem(thrown, connecting).message).toContain('does not support');
  });

  const pooler = (code: string, message: string, detail?: string) =>
    Object.assign(new pg.DatabaseError(message, message.length, 'error'), {
      ...{ code, severity: 'FATAL' },
      ...(detail === undefined ? {} : { detail }),
    });
  const noNodes = 'all backend nodes are down, pgpool requires at least one valid node';

  it.each<[string, object, string, string]>([
    [
      'PgBouncer is full',
      pooler('08P01', 'no more connections allowed (max_client_conn)'),
      'DB_SERVER_BUSY',
      'try_later',
    ],
    [
      'PgBouncer is full for the user',
      pooler('08P01', 'client connections exceeded (max_user_client_connections)'),
      'DB_SERVER_BUSY',
      'try_later',
    ],
    ['PgBouncer shuts down', pooler('08P01', 'pooler is shutting down'), 'DB_SERVER_BUSY', 'try_later'],
    [
      'the server behind PgBouncer is unavailable',
      pooler('08P01', 'server login has been failing, cached error: connect failed (server_login_retry)'),
      'DB_SERVER_BUSY',
      'try_later',
    ],
    [
      'the server behind PgBouncer refuses the password',
      pooler('08P01', 'server login has been failing, cached error: password authentication failed for user "etl"'),
      'DB_LOGIN_REFUSED',
      'login',
    ],
    [
      'PgBouncer requires a certificate',
      pooler('08P01', 'certificate authentication failed'),
      'DB_CLIENT_CERTIFICATE',
      'config',
    ],
    ['PgBouncer gets no password', pooler('08P01', 'empty password returned by client'), 'DB_LOGIN_REFUSED', 'login'],
    [
      'Pgpool-II has no server',
      pooler('08S01', 'pgpool is not accepting any new connections', noNodes),
      'DB_SERVER_BUSY',
      'try_later',
    ],
    [
      'Pgpool-II lost its servers',
      pooler('XX000', 'unable to connect to backend', noNodes),
      'DB_SERVER_BUSY',
      'try_later',
    ],
    ['Pgpool-II is full', pooler('53300', 'Sorry, too many clients already'), 'DB_SERVER_BUSY', 'try_later'],
    [
      'Pgpool-II is in recovery',
      pooler('57000', 'connection terminated due to online recovery'),
      'DB_SERVER_BUSY',
      'try_later',
    ],
    [
      'Pgpool-II closes an idle connection',
      pooler(
        '57000',
        'unable to read data',
        'child connection forced to terminate due to client_idle_limit:60 is reached',
      ),
      'DB_CONNECTION_LOST',
      'try_later',
    ],
    [
      'Pgpool-II refuses the host',
      pooler(
        'XX000',
        'client authentication failed',
        'no pool_hba.conf entry for host "10.0.0.9", user "etl", database "shop"',
      ),
      'DB_HOST_REFUSED',
      'config',
    ],
    [
      'Pgpool-II refuses the password',
      pooler('XX000', 'md5 authentication failed', 'password does not match'),
      'DB_LOGIN_REFUSED',
      'login',
    ],
    [
      'Pgpool-II 4.3 refuses the password',
      pooler('XX000', 'authentication failed', 'username "sluice" or password does not exist in backend'),
      'DB_LOGIN_REFUSED',
      'login',
    ],
    [
      'Pgpool-II fails over',
      pooler('XX000', 'failed to create a backend connection', 'executing failover on backend'),
      'DB_SERVER_BUSY',
      'try_later',
    ],
    [
      'Pgpool-II loses the server while rows are read',
      pooler('XX000', 'unable to read data from backend', 'EOF read on socket'),
      'DB_SERVER_BUSY',
      'try_later',
    ],
    ['neither', pooler('XX000', 'cache lookup failed for relation 5'), 'DB_QUERY_FAILED', 'job'],
  ])("recognizes a pooler's error: %s", (_, thrown, code, family) => {
    const problem = postgresProblem(thrown, reading);
    expect(problem).toMatchObject({ code, family });
    expect(problem.message).toContain((thrown as Error).message);
  });
});

describe('MySQL error mapping', () => {
  const server = (errno: number, sqlState = 'HY000') =>
    Object.assign(new Error('words'), { errno, sqlState, sqlMessage: 'words', code: 'ER_SOMETHING' });

  it.each([1020, 1021, 1040, 1053, 1203, 1205, 1213, 1226, 1412, 3032, 9001])(
    'treats error %i as a busy server, so that the run is retried',
    (errno) => {
      expect(mysqlProblem(server(errno), reading)).toMatchObject({ code: 'DB_SERVER_BUSY', family: 'try_later' });
    },
  );

  it("recognizes by the SQLSTATE that a server isn't ready", () => {
    const galera = server(1047, '08S01');
    expect(mysqlProblem(galera, reading)).toMatchObject({ code: 'DB_SERVER_BUSY', family: 'try_later' });
  });

  it.each<[errno: number, ...Row]>([
    [1044, 'a privilege on the database', 'DB_NO_DATABASE', 'config', 'grant'],
    [1045, 'a password', 'DB_LOGIN_REFUSED', 'login', 'tls: {'],
    [1129, 'a blocked host', 'DB_HOST_BLOCKED', 'job', 'flush-hosts'],
    [1130, 'a host', 'DB_HOST_REFUSED', 'config', 'account'],
    [3159, 'TLS', 'DB_TLS_REQUIRED', 'config', 'tls: {'],
    [4242, 'something else', 'DB_CONNECT_REFUSED', 'job', 'before any query'],
  ])('maps error %i of a connection without TLS, for %s', (errno, _, code, family, next) => {
    expect(mysqlProblem(server(errno), inTheClear)).toMatchObject({
      code,
      family,
      next: expect.stringContaining(next!),
    });
  });

  it("doesn't suggest TLS for a connection that already uses it", () => {
    expect(mysqlProblem(server(1045), connecting).next).not.toContain('tls');
  });

  it('names the plugin of an unsupported authentication method', () => {
    const words =
      'Server requests authentication using unknown plugin auth_gssapi_client. See TODO: add plugins doco here.';
    const problem = mysqlProblem(Object.assign(new Error(words), { code: 'AUTH_SWITCH_PLUGIN_ERROR' }), connecting);
    expect(problem).toMatchObject({ code: 'DB_LOGIN_KIND', family: 'config' });
    expect(problem.message).toContain('auth_gssapi_client');
    expect(problem.message).not.toContain('TODO');
  });
});

describe('SQL Server error mapping', () => {
  const server = (number: number) => Object.assign(new Error('words'), { code: 'EREQUEST', number });

  it.each<[number, string, string]>([
    [1205, 'DB_SERVER_BUSY', 'try_later'],
    [18401, 'DB_SERVER_BUSY', 'try_later'],
    [18461, 'DB_SERVER_BUSY', 'try_later'],
    [40613, 'DB_SERVER_BUSY', 'try_later'],
    [983, 'DB_SERVER_BUSY', 'try_later'],
    [40615, 'DB_HOST_REFUSED', 'config'],
    [4060, 'DB_NO_DATABASE', 'config'],
    [18456, 'DB_LOGIN_REFUSED', 'login'],
    [50000, 'DB_CONNECT_REFUSED', 'job'],
  ])('maps error %i of a connection to %s', (number, code, family) => {
    expect(sqlserverProblem(server(number), connecting)).toMatchObject({ code, family });
  });
});
