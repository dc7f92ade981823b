import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { withDefaults } from '#sdk';
import { addressOf } from '../../connectors/db/address.ts';
import { format } from '../../connectors/db/clickhouse-rows.ts';
import { clickhouseType } from '../../connectors/db/clickhouse-types.ts';
import db from '../../connectors/db/index.ts';
import { check, extract, firstOf, type Options, problemOf, read } from './db-reader.ts';

const head = '"id"\t"name"\n"UInt64"\t"Nullable(String)"\n';
const rows = '1\t"a\\tb"\n2\tnull\n3\t"é"\n';
const end = '\u0001end\n';
const greeting = `"v"\t"u"\t"d"\n"String"\t"String"\t"String"\n"26.9"\t"reader"\t"shop"\n${end}`;

type Respond = (response: ServerResponse, sql: string, request: IncomingMessage) => void;

let closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers) close();
  closers = [];
});

/** A server that greets, and responds to the query as the test says. */
async function serverThat(
  respond: Respond,
  greet: Respond = (response) => result(response, greeting),
): Promise<Options> {
  const server = createServer(async (request, response) => {
    let sql = '';
    for await (const chunk of request) sql += String(chunk);
    (sql.includes('version()') ? greet : respond)(response, sql, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const { port } = server.address() as AddressInfo;
  return { driver: 'clickhouse', host: '127.0.0.1', port, user: 'reader', password: 'clickhouse-password' };
}

function result(response: ServerResponse, text: string | Buffer, used = format): void {
  response.writeHead(200, { 'X-ClickHouse-Format': used });
  response.end(text);
}

describe('a ClickHouse result', () => {
  const whole = Buffer.from(`${head}${rows}${end}`);

  it('is the same however the response is split', async () => {
    const source = await serverThat(async (response) => {
      response.writeHead(200, { 'X-ClickHouse-Format': format });
      for (const byte of whole) {
        response.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      response.end();
    });
    expect(await read(source, 'select')).toEqual({
      columns: ['id integer', 'name text'],
      rows: [
        ['1', 'a\tb'],
        ['2', null],
        ['3', 'é'],
      ],
    });
  });

  it('is never complete if the response ends early, even at the end of a row', async () => {
    let length = 0;
    const source = await serverThat((response) => result(response, whole.subarray(0, length)));
    for (; length < whole.length; length++) {
      const { family } = await problemOf(read(source, 'select'));
      expect(family, `${length} bytes`).toBe('try_later');
    }
  });

  it('is never complete if the connection ends early', async () => {
    const source = await serverThat((response) => {
      response.writeHead(200, { 'X-ClickHouse-Format': format, 'Content-Length': String(whole.length + 1) });
      response.write(whole.subarray(0, whole.length - end.length), () => response.destroy());
    });
    expect(await problemOf(read(source, 'select'))).toMatchObject({ code: 'DB_CONNECTION_LOST', family: 'try_later' });
  });

  it.each([
    ['too many cells', '4\t"x"\t5\n'],
    ['too few cells', '4\n'],
    ['something after its end', `${end}5\t"y"\n`],
    ['text that is not a value', 'oops\t"x"\n'],
  ])('fails for %s', async (_, line) => {
    const source = await serverThat((response) => result(response, `${head}${rows}${line}${end}`));
    expect(await problemOf(read(source, 'select'))).toMatchObject({ code: 'DB_PROTOCOL' });
  });

  it.each([
    [
      'older servers',
      'Code: 241. DB::Exception: Memory limit (for query) exceeded. (MEMORY_LIMIT_EXCEEDED) (version 23.8)\n',
    ],
    [
      'newer servers',
      '\r\n__exception__\r\nabcdefgh\r\nCode: 241. DB::Exception: Memory limit (for query) exceeded. (MEMORY_LIMIT_EXCEEDED)\n90 abcdefgh\r\n__exception__\r\n',
    ],
  ])('fails with the exception that %s write after rows', async (_, text) => {
    const source = await serverThat((response) => result(response, `${head}${rows}${text}`));
    expect(await problemOf(read(source, 'select'))).toMatchObject({
      code: 'DB_QUERY_FAILED',
      family: 'job',
      message: expect.stringMatching(/returned an error: Memory limit \(for query\) exceeded/),
      seen: 'error 241',
    });
  });
});

it('a ClickHouse query ends on the server if its reader stops early, even before the first row', async () => {
  let ended = 0;
  const source = await serverThat((response) => {
    response.writeHead(200, { 'X-ClickHouse-Format': format }).write(head);
    const send = () => {
      while (response.write('1\t"a"\n'.repeat(10_000)));
    };
    response.on('drain', send).on('close', () => ended++);
    send();
  });
  await (await firstOf(await extract(source, 'select'))).return!();
  await expect.poll(() => ended).toBe(1);
  await (await extract(source, 'select')).batches[Symbol.asyncIterator]().return!();
  await expect.poll(() => ended).toBe(2);
});

describe('a response without a result', () => {
  const status =
    (code: number, text: string): Respond =>
    (response) => {
      response.writeHead(code);
      response.end(text);
    };

  it.each<[string, Respond, string]>([
    ['a gateway', status(502, '<html>Bad gateway'), 'DB_SERVER_BUSY try_later'],
    ['a proxy that wants a login', status(401, 'who are you?'), 'DB_LOGIN_REFUSED login'],
    ['another program', status(200, '<html>'), 'DB_PROTOCOL try_later'],
    ['a redirect', status(307, ''), 'DB_CONNECT_REFUSED job'],
    [
      'too many queries',
      status(500, 'Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY…) (version 24)'),
      'DB_SERVER_BUSY try_later',
    ],
    [
      'memory of all queries',
      status(500, 'Code: 241. DB::Exception: (total) memory limit exceeded'),
      'DB_SERVER_BUSY try_later',
    ],
    [
      'a server that is too old',
      status(400, "Code: 115. DB::Exception: Unknown setting 'x'"),
      'DB_SESSION_SETTING config',
    ],
  ])('is told apart: %s', async (_, greet, expected) => {
    const source = await serverThat(() => undefined, greet);
    const { code, family } = await problemOf(check(source));
    expect(`${code} ${family}`).toBe(expected);
  });
});

describe('a ClickHouse query', () => {
  it('is sent with the login in headers, read-only, and with the settings of the session', async () => {
    let asked: { url: URL; headers: IncomingMessage['headers']; sql: string } | undefined;
    const source = await serverThat((response, sql, { url = '', headers }) => {
      asked = { url: new URL(url, 'http://x'), headers, sql };
      result(response, `${head}${end}`);
    });
    await read({ ...source, database: 'shop', session: { max_threads: 2 }, statement_timeout_seconds: 5 }, 'select 1');
    const settings = Object.fromEntries(asked!.url.searchParams);
    expect(settings).toMatchObject({ database: 'shop', readonly: '2', max_threads: '2', max_execution_time: '5' });
    expect(asked!.headers).toMatchObject({ 'x-clickhouse-user': 'reader', 'x-clickhouse-key': 'clickhouse-password' });
    expect(asked!.url.href).not.toContain('clickhouse-password');
    expect(asked!.sql).toBe('select 1');
  });

  it.each<[Options, string]>([
    [{ session: { readonly: 0 } }, 'readonly'],
    [{ session: { result_overflow_mode: 'break' } }, 'result_overflow_mode'],
    [{ session: { limit: 5 } }, 'limit'],
    [{ session: { output_format_json_quote_decimals: 1 } }, 'output_format_json_quote_decimals'],
  ])('cannot have a setting with which it could write or return less: %j', (options, name) => {
    const source = withDefaults(db.source, { url: 'clickhouse://a@b', ...options });
    expect(db.validate!({ source })).toEqual([{ option: 'session', message: expect.stringContaining(name) }]);
  });

  it.each([
    ['clickhouse://a@b', 8123],
    ['clickhouse://a@b?secure=true', 8443],
    ['clickhousedb://a@b:9/x?secure=true', 9],
  ])('goes to the port of HTTP or HTTPS: %s', (url, port) => {
    expect(addressOf(withDefaults(db.source, { url })).servers[0].port).toBe(port);
  });
});

it.each([
  ['LowCardinality(Nullable(String))', 'text'],
  ['SimpleAggregateFunction(sum, UInt64)', 'integer'],
  ['SimpleAggregateFunction(groupUniqArrayArray, Array(String))', 'json'],
  ['SimpleAggregateFunction(quantile(0.5), Decimal(9, 2))', 'decimal'],
  ["Enum8('a, b' = 1)", 'text'],
  ["DateTime64(3, 'Europe/Berlin')", 'timestamptz'],
  ['Nested(a Int8)', 'json'],
  ['IntervalDay', 'integer'],
  ['Nothing', 'text'],
])('the type of a ClickHouse column %s is %s', (name, type) => {
  expect(clickhouseType(name, 'a').type).toBe(type);
});
