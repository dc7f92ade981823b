import { describe, expect, it } from 'vitest';
import { withDefaults } from '#sdk';
import db from '../../connectors/db/index.ts';

function faults(source: object, query?: object): string[] {
  const given = { source: withDefaults(db.source, { ...source }) };
  const found = db.validate?.(query ? { ...given, query: withDefaults(db.query, { ...query }) } : given) ?? [];
  return found.map(({ option, message }) => `${option} ${message}`);
}

describe('database options', () => {
  it.each([
    [{ url: 'postgres://reader:pw@db.example.com/shop' }],
    [{ url: 'mariadb://reader@db.example.com' }],
    [{ url: 'mysql://reader@[::1]:3307/shop', driver: 'mariadb' }],
    [{ driver: 'postgres', host: 'db', user: 'reader' }],
    [{ driver: 'sqlite', file: 'a.sqlite' }],
    [{ file: 'a.sqlite' }],
    [{ driver: 'duckdb', file: 'a.duckdb', session: { memory_limit: '4GB', threads: 2 } }],
    [{ parquet: { a: 'a.parquet', b: ['b.parquet', 'c/*.parquet'] } }],
    [{ url: 'mysql://reader@db?socket=/run/mysqld.sock' }],
    [{ url: 'postgres://a@b:1,[::1]:2,c/d', target_session_attrs: 'prefer-standby' }],
    [{ url: 'postgres://a@b?sslmode=prefer', tls: { mode: 'verify' } }],
    [{ url: 'postgres://a@b?sslmode=require', tls: { verify: false } }],
    [{ driver: 'postgres', host: 'a, b:5433', user: 'c', passfile: 'd' }],
    [{ url: 'postgres://a@b?sslmode=verify-full&ssl=false', tls: { mode: 'verify' } }],
    [{ url: 'postgres://b/d?user=etl@server&sslmode=require' }],
    [{ url: 'postgres://a@b?sslmode=verify-full&sslrootcert=c', tls: { mode: 'off' } }],
    [{ url: 'postgres://a@/b?host=/tmp&sslmode=require' }],
    [{ service: 'shop', service_file: 'services', passfile: 'd' }],
    [{ url: 'postgres://a@b?options=endpoint%3Dx%20-c%20search_path%3D%22x%5C%20y%22%20-cwork-mem%3D1MB%20--a.b%3D1' }],
    [{ url: 'postgres://a@b', tls: { mode: 'verify', ca_file: 'ca.pem', cert_file: 'c', key_file: 'k' } }],
  ])('are accepted: %j', (source) => {
    expect(faults(source)).toEqual([]);
  });

  it.each([
    [{}, ['driver is missing']],
    [{ host: 'db' }, ['driver is missing']],
    [{ url: 'http://a@b' }, ['url must be a full URL that starts with']],
    [{ url: 'not a url' }, ['url must be a full URL that starts with']],
    [{ url: 'postgres://a@b', driver: 'mysql' }, ['driver is mysql']],
    [{ url: 'postgres://a@b', host: 'c', password: 'd' }, ['host is also in the URL', 'password is also in the URL']],
    [{ url: 'postgres://a@b?sslmode=prefer' }, ['url has sslmode=prefer, with which the connection is unencrypted if']],
    [{ url: 'postgres://a@b?sslmode=allow' }, ['url has sslmode=allow, with which the connection is unencrypted if']],
    [{ url: 'mysql://a@b?ssl-mode=PREFERRED' }, ['url has ssl-mode=PREFERRED, with which']],
    [
      { url: 'postgres://a@b?sslmode=verify-full&ssl=false' },
      ['url has ssl, which contradicts another parameter for TLS'],
    ],
    [{ url: 'postgres://a@b?sslrootcert=system&sslmode=disable' }, ['url has sslmode, which contradicts another']],
    [
      { url: 'postgres://a@b?sslmode=no-verify' },
      ['url has sslmode=no-verify, with which any certificate is accepted'],
    ],
    [
      { url: 'mysql://a@b?ssl={"rejectUnauthorized":false}' },
      ['url has ssl={"rejectUnauthorized":false}, with which any'],
    ],
    [{ url: 'postgres://a@b?sslmode=constructor' }, ['url has sslmode=constructor, which is not valid']],
    [{ url: 'mysql://a@b?ssl-mode=toString' }, ['url has ssl-mode=toString, which is not valid']],
    [{ url: 'constructor://a@b' }, ['url must be a full URL']],
    [
      { url: 'postgres://a@b?connect_timeout=0' },
      ['url has connect_timeout=0, which is not valid; allowed: numbers gr'],
    ],
    ...[
      ['-c xmlbinary=hex', 'xmlbinary'],
      ['endpoint=x -c work_mem=1MB -cXmlBinary=hex', 'XmlBinary'],
      ['--default-transaction-read-only=off', 'default_transaction_read_only'],
      [String.raw`-c\tx=1 -c zero_damaged\_pages=on`, 'zero_damaged_pages'],
      ['-c\vlc_monetary=C', 'lc_monetary'],
    ].map(([options, name]): [object, string[]] => [
      { url: `postgres://a@b?options=${encodeURIComponent(options!)}` },
      [`url has options=${options}, which is not valid; allowed: settings other than ${name}, which could change val`],
    ]),
    ...['-e', '-ec xmlbinary=hex', '-c', '--', '-P -c work_mem=1MB'].map((options): [object, string[]] => [
      { url: `postgres://a@b?options=${encodeURIComponent(options)}` },
      [`url has options=${options}, which is not valid; allowed: -c name=value, --name=value`],
    ]),
    [{ url: 'postgres://b?user=' }, ['url has no user']],
    [{ url: 'postgres://a:12?secretrest@b/c' }, ['url has an @ after the host; write ?, / and # in the password as']],
    [{ url: 'postgres://a:p?secretrest@b/c' }, ['url has an @ after the host']],
    [{ url: 'postgres://a:12/secretrest@b/c' }, ['url has an @ after the host']],
    [{ url: 'postgres://a:12?secret=rest@b/c' }, ['url has an @ after the host', 'url has no user']],
    [{ url: 'postgres://a:12@34?secret=rest@b/c' }, ['url has an @ after the host']],
    [
      { url: 'postgres://a@b,c,d?port=1,2' },
      ['url has 2 ports for 3 hosts; set one port for all hosts, or one for ea'],
    ],
    [{ driver: 'postgres', user: 'a', host: ' , ' }, ['host has no host between its commas']],
    [{ driver: 'postgres', user: 'a', host: '/a,/b' }, ['host can have only one socket']],
    [{ url: 'postgres://a@b?sslmode=yes' }, ['url has sslmode=yes, which is not valid; allowed: disable, require, ve']],
    [{ url: 'postgres://a@b?sslmode=verify-ca' }, ['tls with mode verify-ca requires ca_file']],
    [{ url: 'postgres://a@b?sslrootcert=c' }, ['tls is off, but other TLS options are set']],
    [{ url: 'postgres://a@b?channel_binding=require' }, ['tls is off, but channel_binding=require requires TLS']],
    [{ url: 'postgres://a@b?hostaddr=1.2.3.4' }, ['url has the unknown parameter "hostaddr"; remove it, or set an op']],
    [{ url: 'postgres://a@b?constructor=1' }, ['url has the unknown parameter "constructor"']],
    [{ url: 'sqlserver://a@b?encrypt=true' }, ['url has the unknown parameter "encrypt"']],
    [{ url: 'postgres://a@b:c/d' }, ['url has an invalid port']],
    [{ url: 'postgres://a:b#c@d' }, ['url contains a #; write # as %23']],
    [{ url: 'sqlite:///a.db' }, ['url is for a local file; set the file option']],
    [{ url: 'jdbc:postgresql://b/c' }, ['url is for JDBC; remove jdbc:']],
    [{ driver: 'postgres', host: 'b:0', user: 'a' }, ['host has an invalid port']],
    [{ url: 'sqlserver://a@b,c' }, ['url can have only one host for SQL Server']],
    [{ url: 'postgres://a@b,c', ssh: { host: 'd', user: 'e', password: 'f' } }, ['ssh can tunnel to only one host']],
    [{ url: 'mysql://a@b', passfile: 'c' }, ['passfile is only for PostgreSQL']],
    [{ url: 'postgres://a:b@c', passfile: 'd' }, ['passfile cannot be combined with a password']],
    [{ url: 'postgres://a@c', service: 'd' }, ['service cannot be combined with url']],
    [{ driver: 'postgres', user: 'a', service_file: 'd' }, ['service_file requires service']],
    [
      { url: 'postgres://a@b?target_session_attrs=any', target_session_attrs: 'any' },
      ['target_session_attrs is also in the URL'],
    ],
    [
      { driver: 'postgres', user: 'a', tls: { mode: 'verify', verify: false } },
      ['tls has verify: false, but mode verify'],
    ],
    [{ url: 'postgres://a:100%@b' }, ['url has a %']],
    [{ url: 'postgres://b' }, ['url has no user']],
    [{ driver: 'mysql', host: 'b' }, ['user is missing']],
    [{ driver: 'postgres', user: 'a', file: 'b' }, ['file is only for SQLite and DuckDB']],
    [{ driver: 'postgres', user: 'a', parquet: { b: 'b.parquet' } }, ['parquet is only for DuckDB']],
    [{ driver: 'sqlite', file: 'a', parquet: { b: 'b.parquet' } }, ['parquet is only for DuckDB']],
    [{ driver: 'duckdb' }, ['file is missing; set it to the DuckDB database file, or set parquet']],
    [{ driver: 'duckdb', file: 'a', user: 'b' }, ['user does not apply to DuckDB']],
    [{ driver: 'duckdb', file: 'a', encoding: 'latin1' }, ['encoding is only for']],
    [
      { driver: 'duckdb', file: 'a', session: { enable_external_access: true } },
      ['session cannot contain enable_external_access'],
    ],
    [{ driver: 'duckdb', file: 'a', session: { timezone: 'CET' } }, ['session cannot contain timezone']],
    [{ driver: 'sqlite' }, ['file is missing']],
    [{ file: 'a', host: 'b', tls: { mode: 'require' } }, ['host does not apply', 'tls does not apply']],
    [{ driver: 'postgres', user: 'a', tls: { mode: 'off', ca_file: 'b' } }, ['tls is off']],
    [{ driver: 'postgres', user: 'a', host: '/b', tls: { mode: 'verify' } }, ['tls does not apply to a Unix socket']],
    [
      { driver: 'postgres', user: 'a', tls: { mode: 'verify', cert_file: 'b' } },
      ['tls needs both cert_file and key_file'],
    ],
  ])('are rejected with a reason: %j', (source, reasons) => {
    const found = faults(source);
    expect(found).toHaveLength(reasons.length);
    found.forEach((fault, i) => void expect(fault).toContain(reasons[i]!));
  });

  it('require a statement', () => {
    expect(faults({ file: 'a' }, { sql: '  ' })).toEqual([
      'sql is empty; set it to the statement that returns the rows',
    ]);
  });
});

describe('options for incremental reads', () => {
  it.each([
    [{ cursor: 'at' }, []],
    [{ cursor: 'at', lag: '10m', null_cursors: 'leave_out' }, []],
    [{ chunks: { column: 'id', rows: 10 } }, []],
    [{ lag: '10m' }, ['lag requires cursor']],
    [{ null_cursors: 'leave_out' }, ['null_cursors requires cursor']],
    [{ cursor: '' }, ['cursor is empty']],
    [{ cursor: 'at', chunks: { column: 'id', rows: 10 } }, ['chunks cannot be combined with cursor']],
  ])('are validated before anything runs: %j', (query, reasons) => {
    const found = faults({ url: 'postgres://a@b' }, { sql: 'select 1', ...query });
    expect(found).toHaveLength(reasons.length);
    found.forEach((fault, i) => void expect(fault).toContain(reasons[i]!));
  });

  it("can't set chunks for SQLite", () => {
    const found = faults({ file: 'a' }, { sql: 'select 1', chunks: { column: 'id', rows: 10 } });
    expect(found).toEqual([expect.stringContaining('chunks does not apply to SQLite')]);
  });
});
