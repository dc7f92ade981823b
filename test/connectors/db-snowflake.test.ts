import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { withDefaults } from '#sdk';
import { addressOf } from '../../connectors/db/address.ts';
import db from '../../connectors/db/index.ts';
import { check, extract, firstOf, type Options, problemOf, read, readOn } from './db-reader.ts';
import { refuse, SnowflakeDouble } from './snowflake-double.ts';

let service: SnowflakeDouble;
let source: Options;

beforeEach(async () => {
  service = new SnowflakeDouble();
  const port = await service.listen();
  source = {
    driver: 'snowflake',
    host: '127.0.0.1',
    port,
    database: 'SHOP/PUBLIC',
    password: 'token-1',
    tls: { mode: 'off' },
  };
  service.database.exec(`
    create table ORDERS (ID "fixed", NAME "text", CHANGED "timestamp_ltz(3)", AMOUNT "fixed(2) text");
    insert into ORDERS values (1, 'one', '1767225600.000000000', '1.50'), (2, 'two', '1767225601.000000000', '2.00'),
      (3, null, '1767225602.000000000', '3.00'), (4, 'four', '1767225603.000000000', null);
    create view information_schema_columns as select 'PUBLIC' as table_schema, 'ORDERS' as table_name,
      name as column_name, upper(type) as data_type, cid + 1 as ordinal_position from pragma_table_info('ORDERS');
    create view information_schema_tables as
      select 'PUBLIC' as table_schema, 'ORDERS' as table_name, 'BASE TABLE' as table_type;`);
});

afterEach(() => service.close());

const all = 'select ID, NAME, CHANGED, AMOUNT from ORDERS order by ID';
const looks = () => service.asked.filter((asked) => asked.startsWith('GET'));

describe('a Snowflake result', () => {
  it('has exact values of all types', async () => {
    const types: [type: string, scale: number | null, value: string, text: string, column: string][] = [
      ['fixed', 0, '99999999999999999999999999999999999999', '99999999999999999999999999999999999999', 'integer'],
      ['fixed', 37, '-1.0000000000000000000000000000000000001', '-1.0000000000000000000000000000000000001', 'decimal'],
      ['decfloat', null, '1.5e-3', '0.0015', 'decimal'],
      ['decfloat', null, '-1.25E+4', '-12500', 'decimal'],
      ['decfloat', null, '12.345e1', '123.45', 'decimal'],
      ['real', null, '0.1', '0.1', 'float'],
      ['real', null, '-inf', '-Infinity', 'float'],
      ['real', null, 'NaN', 'NaN', 'float'],
      ['boolean', null, 'true', 'true', 'boolean'],
      ['text', null, 'ä\u0000😀', 'ä\u0000😀', 'text'],
      ['binary', null, 'FFEF', '/+8=', 'binary'],
      ['date', null, '20454', '2026-01-01', 'date'],
      ['date', null, '-719162', '0001-01-01', 'date'],
      ['time', 9, '86399.999999999', '23:59:59.999999999', 'time'],
      ['time', 0, '82919.000000000', '23:01:59', 'time'],
      ['timestamp_ntz', 9, '1767225600.123456789', '2026-01-01T00:00:00.123456789', 'timestamp'],
      ['timestamp_ntz', 3, '-0.500000000', '1969-12-31T23:59:59.500', 'timestamp'],
      ['timestamp_ltz', 0, '253402300799.000000000', '9999-12-31T23:59:59Z', 'timestamptz'],
      ['timestamp_tz', 3, '1767225600.123000000 1380', '2025-12-31T23:00:00.123-01:00', 'timestamptz'],
      ['timestamp_tz', 0, '1767225600.000000000 1785', '2026-01-01T05:45:00+05:45', 'timestamptz'],
      ['variant', null, '{"a":12345678901234567890}', '{"a":12345678901234567890}', 'json'],
      [
        'array',
        null,
        '[undefined, "undefined NaN \\" -inf", NaN, -inf, 1]',
        '[null, "undefined NaN \\" -inf", "NaN", "-Infinity", 1]',
        'json',
      ],
      ['geography', null, '{"type":"Point"}', '{"type":"Point"}', 'text'],
    ];
    service.canned.set('select types', {
      types: types.map(([type, scale], i) => ({ name: `C${i}`, type, scale })),
      rows: [types.map(([, , value]) => value), types.map(() => null)],
    });
    const { columns, rows } = await read(source, 'select types');
    expect(columns).toEqual(types.map(([, , , , column], i) => `C${i} ${column}`));
    expect(rows).toEqual([types.map(([, , , text]) => text), types.map(() => null)]);
  });

  it('is waited for, and read partition by partition', async () => {
    service.polls = 3;
    expect((await read(source, all)).rows).toEqual([
      ['1', 'one', '2026-01-01T00:00:00.000Z', '1.50'],
      ['2', 'two', '2026-01-01T00:00:01.000Z', '2.00'],
      ['3', null, '2026-01-01T00:00:02.000Z', '3.00'],
      ['4', 'four', '2026-01-01T00:00:03.000Z', null],
    ]);
    expect(looks()).toHaveLength(5);
    expect(await read(source, 'select ID from ORDERS where ID > 4')).toEqual({ columns: ['ID integer'], rows: [] });
  });

  it('is complete only with as many rows as Snowflake announced', async () => {
    service.interfere = (response, asked) => {
      if (!asked.startsWith('GET')) return false;
      const resultSetMetaData = {
        numRows: 2,
        rowType: [{ name: 'A', type: 'text' }],
        partitionInfo: [{ rowCount: 2 }],
      };
      response.end(JSON.stringify({ statementHandle: 'h', resultSetMetaData, data: [['a']] }));
      return true;
    };
    expect(await problemOf(read(source, all))).toMatchObject({ code: 'DB_PROTOCOL', family: 'try_later' });
  });

  it('is read on after a transient error', async () => {
    let failures = 2;
    service.interfere = (response, asked) => {
      if (!asked.startsWith('GET') || failures-- <= 0) return false;
      if (failures === 1) response.destroy();
      else refuse(response, 503, '', 'try again');
      return true;
    };
    expect((await read(source, all)).rows).toHaveLength(4);
    expect(service.bodies).toHaveLength(1);
  });
});

describe('a Snowflake query', () => {
  it('sends its context, its limit and its parameters', async () => {
    const session = { warehouse: 'SMALL', role: 'REPORTING', query_tag: 'dashboards' };
    const parameters = ['two', 2, 2.5, true, null];
    const sql = 'select ? as A, ? as B, ? as C, ? as D, ? as E';
    await read({ ...source, session, statement_timeout_seconds: 1.5 }, { sql, parameters });
    expect(service.bodies).toEqual([
      {
        statement: sql,
        timeout: 2,
        database: 'SHOP',
        schema: 'PUBLIC',
        warehouse: 'SMALL',
        role: 'REPORTING',
        bindings: {
          1: { type: 'TEXT', value: 'two' },
          2: { type: 'FIXED', value: '2' },
          3: { type: 'REAL', value: '2.5' },
          4: { type: 'BOOLEAN', value: 'true' },
          5: { type: 'TEXT', value: null },
        },
        parameters: { QUERY_TAG: 'dashboards', MULTI_STATEMENT_COUNT: '1' },
      },
    ]);
    await read({ ...source, database: undefined }, all);
    expect(service.bodies.at(-1)).toEqual({
      statement: all,
      bindings: {},
      parameters: { MULTI_STATEMENT_COUNT: '1' },
    });
  });

  it.each([
    ['insert into ORDERS select * from ORDERS', 'insert'],
    ['/* select */ delete from ORDERS', 'delete'],
    ['select 1; delete from ORDERS', ';'],
    ["select '->>' ->> delete from ORDERS", '->>'],
    ["call load_orders('select')", 'call'],
    ["execute immediate 'select 1'", 'execute'],
    ['begin delete from ORDERS; end', ';'],
    ['', ''],
  ])('that may write is never sent: %s', async (sql, seen) => {
    expect(await problemOf(read(source, { sql }))).toMatchObject({ code: 'DB_WRITE_REFUSED', seen });
    expect(service.asked).toEqual([]);
  });

  it.each([
    ["select 'a;b ->> \\';' as A -- ; insert"],
    ['-- a comment\n with a as (select 1 as "x;y") select * from a;'],
    ['(select $$;$$ as A)'],
  ])('that only reads is sent: %s', async (sql) => {
    service.canned.set(sql, { types: [{ name: 'A', type: 'text' }], rows: [['a']] });
    expect((await read(source, sql)).rows).toEqual([['a']]);
  });

  it('is canceled if the run is stopped while it runs', async () => {
    service.polls = Number.POSITIVE_INFINITY;
    const stop = new AbortController();
    const reading = read(source, all, { signal: stop.signal });
    await expect.poll(() => looks().length).toBeGreaterThan(1);
    stop.abort(new Error('stopped'));
    await expect(reading).rejects.toThrow('stopped');
    expect(service.asked.at(-1)).toMatch(/^POST \/[\w-]+\/cancel$/);
  });

  it('leaves nothing open if the reader stops after the first rows', async () => {
    const iterator = await firstOf(await extract(source, all));
    await iterator.return?.();
    expect(looks()).toHaveLength(2);
  });

  it('reads a table, also in chunks', async () => {
    const chunks = { rows: 3, column: 'ID' };
    expect((await read(source, { table: 'ORDERS', columns: ['ID'], chunks })).rows).toHaveLength(4);
    const byTwo = { rows: 1, column: ['NAME', 'ID'] };
    expect(await problemOf(read(source, { table: 'PUBLIC.ORDERS', chunks: byTwo }))).toMatchObject({ family: 'job' });
    // Snowflake doesn't enforce keys.
    expect(await problemOf(read(source, { table: 'ORDERS', chunks: { rows: 3 } }))).toMatchObject({
      code: 'DB_NO_KEY',
    });
  });

  it.each([
    ['CHANGED', '2026-01-01T00:00:03'],
    ['ID', '4'],
  ])('reads only new rows by the cursor %s', async (cursor, highest) => {
    const query = { sql: 'select ID, CHANGED from ORDERS', cursor };
    const first = await readOn(source, query);
    expect(first.watermark).toContain(highest);
    service.database.exec("insert into ORDERS values (5, 'five', '1767225604.000000000', null)");
    expect((await readOn(source, query, first.watermark)).rows.map(([id]) => id)).toEqual(['5']);
  });

  it('cannot compare keys, because two queries see different rows', async () => {
    const query = { sql: 'select ID, CHANGED from ORDERS', cursor: 'CHANGED' };
    expect(await problemOf(extract(source, query, { comparedKey: ['ID'] }))).toMatchObject({ code: 'DB_NO_SNAPSHOT' });
  });
});

describe('a Snowflake source', () => {
  it('says who it reads as', async () => {
    expect(await check(source)).toBe('Snowflake 9.30 as READER with the role REPORTING on SHOP');
  });

  it('lists its tables with columns and cursors', async () => {
    const found = await db.discover!({
      source: withDefaults(db.source, source),
      folder: '/nowhere',
      scratch: '/nowhere',
      signal: new AbortController().signal,
      log: { debug() {}, info() {}, warn() {} },
    });
    expect(found).toMatchObject([{ name: 'ORDERS', kind: 'table', cursors: ['CHANGED'] }]);
  });

  it.each([undefined, 'a passphrase'])('logs in with a private key (passphrase: %s)', async (passphrase) => {
    const cipher = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', ...cipher },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const folder = await mkdtemp(join(tmpdir(), 'sluice-snowflake-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'key.pem'), privateKey);
    let claims: { iss: string; sub: string; iat: number; exp: number } | undefined;
    service.accepts = (token, kind) => {
      const [head, body, signature = ''] = token.split('.');
      claims = JSON.parse(String(Buffer.from(body!, 'base64url')));
      const signed = Buffer.from(`${head}.${body}`);
      return kind === 'KEYPAIR_JWT' && verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'));
    };
    const { password: _, ...others } = source;
    const withKey = { ...others, user: 'reader', private_key_file: 'key.pem', passphrase };
    expect((await read(withKey, all, { folder })).rows).toHaveLength(4);
    const spki = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
    expect(claims!.sub).toBe('127.READER');
    expect(claims!.iss).toBe(`127.READER.SHA256:${createHash('sha256').update(spki).digest('base64')}`);
    expect(claims!.exp - claims!.iat).toBeLessThan(3600);
    expect(await problemOf(read({ ...withKey, private_key_file: 'none.pem' }, all, { folder }))).toMatchObject({
      code: 'DB_PRIVATE_KEY',
    });
  });

  it.each([
    [401, '390144', 'JWT token is invalid.', 'DB_LOGIN_REFUSED', 'login'],
    [422, '000904', 'SQL compilation error: invalid identifier', 'DB_CONNECT_REFUSED', 'job'],
    [422, '000606', 'No active warehouse selected', 'DB_NO_DATABASE', 'config'],
    [429, '', 'Too many requests', 'DB_SERVER_BUSY', 'try_later'],
    [503, '', 'unavailable', 'DB_SERVER_BUSY', 'try_later'],
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
    [422, '002003', 'Object does not exist or not authorized', 'DB_QUERY_FAILED', 'job'],
    [422, '000604', 'SQL execution canceled', 'DB_STATEMENT_CANCELLED', 'job'],
    [408, '000630', 'Statement reached its timeout', 'DB_STATEMENT_CANCELLED', 'job'],
  ])('maps %i %s of a running query to a problem', async (status, reason, message, code, family) => {
    service.interfere = (response, asked) => {
      if (asked.startsWith('GET')) refuse(response, status, reason, message);
      return asked.startsWith('GET');
    };
    expect(await problemOf(read(source, all))).toMatchObject({ code, family });
  });
});

describe('the address of a Snowflake source', () => {
  it.each([
    ['snowflake://reader:token@myorg-shop/SHOP/PUBLIC?warehouse=SMALL&role=R', 'myorg-shop.snowflakecomputing.com'],
    ['snowflake://reader:token@xy12345.eu-central-1/SHOP', 'xy12345.eu-central-1.snowflakecomputing.com'],
    ['snowflake://:token@a.privatelink.snowflakecomputing.com/S', 'a.privatelink.snowflakecomputing.com'],
  ])('%s is complete', (url, host) => {
    const given = withDefaults(db.source, { url });
    expect(db.validate!({ source: given })).toEqual([]);
    expect(addressOf(given)).toMatchObject({ tls: { mode: 'verify' }, servers: [{ host, port: 443 }] });
    expect(db.oauth!(given)).toBeUndefined();
  });

  it.each([
    [{ driver: 'snowflake' }, ['host is missing', 'private_key_file is missing']],
    [{ url: 'snowflake://a:b@c/d', private_key_file: 'e' }, ['private_key_file cannot be combined with a password']],
    [{ url: 'snowflake://a/d', private_key_file: 'e' }, ['url has no user, whose key this is']],
    [{ url: 'snowflake://a:b@c/d', passphrase: 'e' }, ['passphrase requires private_key_file']],
    [{ url: 'snowflake://a:b@c/d', session: { timezone: 'UTC' } }, ['session cannot contain timezone']],
    [{ driver: 'postgres', user: 'a', private_key_file: 'e' }, ['private_key_file is only for Snowflake']],
  ])('of %j is refused', (options, messages) => {
    const faults = db.validate!({ source: withDefaults(db.source, options) });
    expect(faults.map(({ option, message }) => `${option} ${message}`)).toEqual(
      messages.map((message) => expect.stringContaining(message)),
    );
  });
});
