import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withDefaults } from '#sdk';
import { addressOf } from '../../connectors/db/address.ts';
import db from '../../connectors/db/index.ts';
import { BigqueryDouble, refuse } from './bigquery-double.ts';
import { check, extract, firstOf, type Options, problemOf, read, readOn } from './db-reader.ts';

let service: BigqueryDouble;
let source: Options;

beforeEach(async () => {
  service = new BigqueryDouble();
  const port = await service.listen();
  source = {
    driver: 'bigquery',
    host: '127.0.0.1',
    port,
    project: 'my-project',
    database: 'shop',
    password: 'token-1',
    tls: { mode: 'off' },
  };
  service.database.exec(`
    create table orders (id INT64, name STRING, changed TIMESTAMP, amount BIGNUMERIC);
    insert into orders values (1, 'one', 1767225600000000, '1.5'), (2, 'two', 1767225601000001, '2'),
      (3, null, 1767225602000000, '3'), (4, 'four', 1767225603000000, null);
    create view INFORMATION_SCHEMA_COLUMNS as select 'orders' as table_name, name as column_name, type as data_type,
      cid + 1 as ordinal_position, 'NO' as is_hidden from pragma_table_info('orders');
    create view INFORMATION_SCHEMA_TABLES as select 'orders' as table_name, 'BASE TABLE' as table_type;`);
});

afterEach(() => service.close());

const all = 'select id, name, changed, amount from orders order by id';

describe('a BigQuery result', () => {
  it('has exact values of all types', async () => {
    const types: [name: string, type: string, value: string, text: string, column: string][] = [
      ['i', 'INTEGER', '-9223372036854775808', '-9223372036854775808', 'integer'],
      ['f', 'FLOAT', '1.0E10', '10000000000', 'float'],
      ['f2', 'FLOAT', '0.1', '0.1', 'float'],
      ['f3', 'FLOAT', 'NaN', 'NaN', 'float'],
      ['f4', 'FLOAT', '-Infinity', '-Infinity', 'float'],
      ['f5', 'FLOAT', '-inf', '-Infinity', 'float'],
      ['n', 'NUMERIC', '99999999999999999999999999999.999999999', '99999999999999999999999999999.999999999', 'decimal'],
      [
        'b',
        'BIGNUMERIC',
        '0.00000000000000000000000000000000000001',
        '0.00000000000000000000000000000000000001',
        'decimal',
      ],
      ['o', 'BOOLEAN', 'true', 'true', 'boolean'],
      ['s', 'STRING', 'ä\u0000😀', 'ä\u0000😀', 'text'],
      ['y', 'BYTES', '/+8=', '/+8=', 'binary'],
      ['d', 'DATE', '0001-01-01', '0001-01-01', 'date'],
      ['t', 'TIME', '23:59:59.999999', '23:59:59.999999', 'time'],
      ['dt', 'DATETIME', '9999-12-31T23:59:59.999999', '9999-12-31T23:59:59.999999', 'timestamp'],
      ['ts', 'TIMESTAMP', '253402300799999999', '9999-12-31T23:59:59.999999Z', 'timestamptz'],
      ['ts0', 'TIMESTAMP', '-62135596800000000', '0001-01-01T00:00:00Z', 'timestamptz'],
      ['ts1', 'TIMESTAMP', '-1', '1969-12-31T23:59:59.999999Z', 'timestamptz'],
      ['j', 'JSON', '{"a":12345678901234567890}', '{"a":12345678901234567890}', 'json'],
      ['g', 'GEOGRAPHY', 'POINT(1 2)', 'POINT(1 2)', 'text'],
      ['v', 'INTERVAL', '1-2 3 4:5:6.7', '1-2 3 4:5:6.7', 'text'],
    ];
    service.canned.set('select types', {
      fields: types.map(([name, type]) => ({ name, type, mode: 'NULLABLE' })),
      rows: [{ f: types.map(([, , v]) => ({ v })) }, { f: types.map(() => ({ v: null })) }],
    });
    const { columns, rows } = await read(source, 'select types');
    expect(columns).toEqual(types.map(([name, , , , column]) => `${name} ${column}`));
    expect(rows).toEqual([types.map(([, , , text]) => text), types.map(() => null)]);
  });

  it('has instants with picoseconds', async () => {
    const text = '2026-01-01T00:00:00.123456789012Z';
    service.canned.set('select picoseconds', {
      fields: [{ name: 'at', type: 'TIMESTAMP', timestampPrecision: '12' }],
      rows: [{ f: [{ v: text }] }],
    });
    expect((await read(source, 'select picoseconds')).rows).toEqual([[text]]);
    service.canned.set('select rounded', {
      fields: [{ name: 'at', type: 'TIMESTAMP' }],
      rows: [{ f: [{ v: '1.7E9' }] }],
    });
    expect(await problemOf(read(source, 'select rounded'))).toMatchObject({ code: 'DB_PROTOCOL' });
  });

  it('has arrays and structs as JSON with all digits', async () => {
    const inner = [
      { name: 'n', type: 'NUMERIC' },
      { name: 'at', type: 'TIMESTAMP' },
      { name: 'f', type: 'FLOAT', mode: 'REPEATED' },
      { name: 'j', type: 'JSON' },
      { name: 'o', type: 'BOOLEAN' },
    ];
    const struct = {
      f: [
        { v: '12345678901234567890.10' },
        { v: '1000000' },
        { v: [{ v: 'NaN' }, { v: '1.0' }] },
        { v: '{"k":[1]}' },
        { v: null },
      ],
    };
    service.canned.set('select nested', {
      fields: [
        { name: 'list', type: 'INTEGER', mode: 'REPEATED' },
        { name: 'empty', type: 'STRING', mode: 'REPEATED' },
        { name: 'one', type: 'RECORD', mode: 'NULLABLE', fields: inner },
        { name: 'many', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'a"b', type: 'STRING' }] },
      ],
      rows: [
        { f: [{ v: [{ v: '9007199254740993' }] }, { v: [] }, { v: struct }, { v: [{ v: { f: [{ v: 'x"' }] } }] }] },
      ],
    });
    const { columns, rows } = await read(source, 'select nested');
    expect(columns).toEqual(['list json', 'empty json', 'one json', 'many json']);
    expect(rows).toEqual([
      [
        '[9007199254740993]',
        '[]',
        '{"n":12345678901234567890.10,"at":"1970-01-01T00:00:01Z","f":["NaN",1],"j":{"k":[1]},"o":null}',
        '[{"a\\"b":"x\\""}]',
      ],
    ]);
  });

  it('is read page by page, and is complete only with as many rows as the service announced', async () => {
    expect((await read(source, all)).rows).toEqual([
      ['1', 'one', '2026-01-01T00:00:00Z', '1.5'],
      ['2', 'two', '2026-01-01T00:00:01.000001Z', '2'],
      ['3', null, '2026-01-01T00:00:02Z', '3'],
      ['4', 'four', '2026-01-01T00:00:03Z', null],
    ]);
    const pages = service.asked.filter((asked) => asked.startsWith('GET'));
    expect(pages).toHaveLength(2);
    service.interfere = (response, asked) => {
      if (!asked.startsWith('GET')) return false;
      response.end(
        JSON.stringify({ jobReference: { jobId: 'a' }, jobComplete: true, totalRows: '2', rows: [{ f: [] }] }),
      );
      return true;
    };
    expect(await problemOf(read(source, 'select 1 as a where false'))).toMatchObject({ family: 'try_later' });
  });

  it('is waited for, and without rows it is empty', async () => {
    service.polls = 3;
    expect(await read(source, 'select id from orders where id > 4')).toEqual({ columns: ['id integer'], rows: [] });
  });

  it('is read on after a transient error', async () => {
    let failures = 2;
    service.interfere = (response, asked) => {
      if (!asked.startsWith('GET') || failures-- <= 0) return false;
      if (failures === 1) response.destroy();
      else refuse(response, 503, 'backendError', 'try again');
      return true;
    };
    expect((await read(source, all)).rows).toHaveLength(4);
    expect(service.asked.filter((asked) => asked === 'POST jobs')).toHaveLength(2);
  });
});

describe('a BigQuery query', () => {
  it('binds parameters with their types', async () => {
    const parameters = ['two', 2, 2.5, true, null];
    await read(source, { sql: 'select @p1 as a, @p2 as b, @p3 as c, @p4 as d, @p5 as e', parameters });
    const { queryParameters } = service.jobs.at(-1)!.configuration.query;
    expect(queryParameters).toEqual([
      { name: 'p1', parameterType: { type: 'STRING' }, parameterValue: { value: 'two' } },
      { name: 'p2', parameterType: { type: 'INT64' }, parameterValue: { value: '2' } },
      { name: 'p3', parameterType: { type: 'FLOAT64' }, parameterValue: { value: '2.5' } },
      { name: 'p4', parameterType: { type: 'BOOL' }, parameterValue: { value: 'true' } },
      { name: 'p5', parameterType: { type: 'STRING' }, parameterValue: {} },
    ]);
  });

  it('is never sent if the service does not call it a SELECT', async () => {
    const problem = await problemOf(read(source, 'insert into orders values (5)'));
    expect(problem).toMatchObject({ code: 'DB_WRITE_REFUSED', seen: 'INSERT' });
    expect(service.jobs.map(({ configuration }) => configuration.dryRun)).toEqual([true]);
  });

  it('sends limits and the location', async () => {
    const limited = {
      ...source,
      session: { location: 'EU', maximum_bytes_billed: 1e9 },
      statement_timeout_seconds: 1.5,
    };
    await read(limited, all);
    const { jobReference, configuration } = service.jobs.at(-1)!;
    expect(jobReference.location).toBe('EU');
    expect(configuration.query.maximumBytesBilled).toBe('1000000000');
    expect(configuration.jobTimeoutMs).toBe('1500');
  });

  it('is canceled if the run is stopped while it runs', async () => {
    service.polls = Number.POSITIVE_INFINITY;
    const stop = new AbortController();
    const reading = read(source, all, { signal: stop.signal });
    await expect.poll(() => service.asked.filter((asked) => asked.startsWith('GET')).length).toBeGreaterThan(2);
    stop.abort(new Error('stopped'));
    await expect(reading).rejects.toThrow('stopped');
    expect(service.asked.at(-1)).toMatch(/^POST jobs\/sluice_[\w-]+\/cancel$/);
  });

  it('leaves nothing open if the reader stops after the first rows', async () => {
    const iterator = await firstOf(await extract(source, all));
    await iterator.return?.();
    expect(service.asked.filter((asked) => asked.startsWith('GET'))).toHaveLength(1);
  });

  it('reads a table, also in chunks', async () => {
    const { rows } = await read(source, { table: 'orders', columns: ['id'], chunks: { rows: 3, column: 'id' } });
    expect(rows).toEqual([['1'], ['2'], ['3'], ['4']]);
    const byTwo = { rows: 1, column: ['changed', 'id'] };
    expect((await read(source, { table: 'orders', columns: ['id', 'changed'], chunks: byTwo })).rows).toHaveLength(4);
    expect((await read(source, { table: 'shop.orders', columns: ['name'] })).rows).toHaveLength(4);
    // BigQuery doesn't enforce keys.
    expect(await problemOf(read(source, { table: 'orders', chunks: { rows: 3 } }))).toMatchObject({
      code: 'DB_NO_KEY',
    });
  });

  it.each([
    ['changed', '2026-01-01T00:00:03Z'],
    ['id', '4'],
  ])('reads only new rows by the cursor %s', async (cursor, highest) => {
    const query = { sql: 'select id, changed from orders', cursor };
    const first = await readOn(source, query);
    expect(first.rows).toHaveLength(4);
    expect(first.watermark).toContain(highest);
    service.database.exec("insert into orders values (5, 'five', 1767225603000001, null)");
    expect((await readOn(source, query, first.watermark)).rows.map(([id]) => id)).toEqual(['5']);
  });

  it('cannot compare keys, because two queries see different rows', async () => {
    const query = { sql: 'select id, changed from orders', cursor: 'changed' };
    expect(await problemOf(extract(source, query, { comparedKey: ['id'] }))).toMatchObject({ code: 'DB_NO_SNAPSHOT' });
  });
});

describe('a BigQuery source', () => {
  it('says who it reads as', async () => {
    expect(await check(source)).toBe('BigQuery as reader@example.com on my-project.shop');
  });

  it('lists its tables with columns and cursors', async () => {
    const found = await db.discover!({
      source: withDefaults(db.source, source),
      folder: '/nowhere',
      scratch: '/nowhere',
      signal: new AbortController().signal,
      log: { debug() {}, info() {}, warn() {} },
    });
    expect(found).toMatchObject([{ name: 'orders', kind: 'table', cursors: ['changed'] }]);
    expect(found[0]!.columns).toContainEqual({ name: 'amount', type: 'BIGNUMERIC' });
  });

  it('gets a new token once if the API refuses one', async () => {
    const given = ['old', 'token-1', 'token-1'];
    const refused: string[] = [];
    const login = {
      token: async () => ({ access_token: given[0]!, kept: {} }),
      refused: async () => void refused.push(given.shift()!),
    };
    const { password: _, ...withoutPassword } = source;
    expect((await read(withoutPassword, all, { login })).rows).toHaveLength(4);
    expect(refused).toEqual(['old']);
    service.tokens.clear();
    expect(await problemOf(read(withoutPassword, all, { login }))).toMatchObject({ code: 'DB_LOGIN_REFUSED' });
  });

  it('is never asked without a login', async () => {
    expect(await problemOf(check({ ...source, password: undefined }))).toMatchObject({ code: 'DB_LOGIN_REFUSED' });
    expect(service.asked).toEqual([]);
  });

  it.each([
    [401, 'authError', 'no', 'DB_LOGIN_REFUSED', 'login'],
    [403, 'accessDenied', 'Access Denied: Table my-project:shop.orders', 'DB_QUERY_FAILED', 'job'],
    [403, 'accessDenied', 'User does not have bigquery.jobs.create permission', 'DB_NO_DATABASE', 'config'],
    [403, 'accessNotConfigured', 'BigQuery API has not been used', 'DB_CONNECT_REFUSED', 'config'],
    [403, 'quotaExceeded', 'Quota exceeded', 'DB_SERVER_BUSY', 'try_later'],
    [403, 'rateLimitExceeded', 'Exceeded rate limits', 'DB_SERVER_BUSY', 'try_later'],
    [404, 'notFound', 'Not found: Dataset my-project:other', 'DB_NO_DATABASE', 'config'],
    [400, 'bytesBilledLimitExceeded', 'Query exceeded limit for bytes billed', 'DB_QUERY_FAILED', 'job'],
    [500, 'internalError', 'An internal error occurred', 'DB_SERVER_BUSY', 'try_later'],
    [502, '', '<html>bad gateway</html>', 'DB_SERVER_BUSY', 'try_later'],
  ])('maps %i %s to a problem', async (status, reason, message, code, family) => {
    service.interfere = (response) => {
      refuse(response, status, reason, message);
      return true;
    };
    const problem = await problemOf(read(source, all));
    expect(problem).toMatchObject({ code, family });
    expect(problem.message).toContain(message);
  });

  it.each([
    [400, 'invalidQuery', 'Unrecognized name: x at [1:8]', 'DB_QUERY_FAILED', 'job'],
    [404, 'notFound', 'Not found: Table my-project:shop.missing', 'DB_QUERY_FAILED', 'job'],
    [400, 'stopped', 'Job execution was cancelled', 'DB_STATEMENT_CANCELLED', 'job'],
    [400, 'timeout', 'Job timed out after 1 sec', 'DB_STATEMENT_CANCELLED', 'job'],
  ])('maps %i %s of a running query to a problem', async (status, reason, message, code, family) => {
    service.interfere = (response, asked) => {
      if (asked.startsWith('GET')) refuse(response, status, reason, message);
      return asked.startsWith('GET');
    };
    expect(await problemOf(read(source, all))).toMatchObject({ code, family });
  });

  it('says that nothing is listening, or that something else is', async () => {
    expect(await problemOf(check({ ...source, port: 1 }))).toMatchObject({ code: 'DB_UNREACHABLE' });
    service.interfere = (response) => {
      response.end('<html>');
      return true;
    };
    expect(await problemOf(check(source))).toMatchObject({ code: 'DB_PROTOCOL' });
  });
});

describe('the address of a BigQuery source', () => {
  it.each([
    [{ url: 'bigquery://my-project/shop?location=EU' }, 'my-project', 'shop', 'bigquery.googleapis.com', 443],
    [{ driver: 'bigquery', project: 'p', database: 'd' }, 'p', 'd', 'bigquery.googleapis.com', 443],
    [
      { url: 'bigquery://p/d', host: 'bigquery-mine.p.googleapis.com' },
      'p',
      'd',
      'bigquery-mine.p.googleapis.com',
      443,
    ],
  ])('of %j is complete', (options, project, database, host, port) => {
    const given = withDefaults(db.source, options);
    expect(db.validate!({ source: given })).toEqual([]);
    expect(addressOf(given)).toMatchObject({ project, database, tls: { mode: 'verify' }, servers: [{ host, port }] });
    expect(db.oauth!(given)?.scopes).toEqual(['https://www.googleapis.com/auth/bigquery']);
    expect(db.account!(given)).toBeUndefined();
  });

  it.each([
    [{ driver: 'bigquery' }, ['project is missing', 'database is missing']],
    [{ url: 'bigquery://p' }, ['database is missing in the URL: bigquery://PROJECT/DATASET']],
    [{ url: 'bigquery://me@p/d' }, ['user does not apply to BigQuery; remove it']],
    [{ url: 'bigquery://p/d', project: 'q' }, ['project is also in the URL; remove one of the two']],
    [{ url: 'bigquery://p/d?project=q' }, ['url has the unknown parameter "project"']],
    [{ url: 'bigquery://p/d', session: { priority: 'BATCH' } }, ['session cannot contain priority']],
    [{ driver: 'postgres', user: 'a', project: 'p' }, ['project is only for BigQuery']],
  ])('of %j is refused', (options, messages) => {
    const faults = db.validate!({ source: withDefaults(db.source, options) });
    expect(faults.map(({ option, message }) => `${option} ${message}`)).toEqual(
      messages.map((message) => expect.stringContaining(message)),
    );
  });
});
