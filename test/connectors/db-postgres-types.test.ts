import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { problemOf, read } from './db-reader.ts';

describeWithServer({ servers: 'PostgreSQL' }, 'PostgreSQL type mapping', (server) => {
  const one = async (expression: string) => {
    const { columns, rows } = await read({ url: server().url }, `select ${expression} as v`);
    return [columns[0]!.slice(2), rows[0]![0]];
  };

  beforeAll(async () => {
    const client = new pg.Client(server().url);
    await client.connect();
    await client.query(`
      create extension if not exists citext;
      create type mood as enum ('sad', 'very "happy"');
      create type point3 as (x int, y text);
      create domain euro as numeric(12, 2);
      create domain euros as euro[];
      create domain small as smallint;`);
    await client.end();
  });

  it.each([
    ["'-9223372036854775808'::bigint", 'integer', '-9223372036854775808'],
    ["'9223372036854775807'::bigint", 'integer', '9223372036854775807'],
    ["'-32768'::smallint", 'integer', '-32768'],
    ["'4294967295'::oid", 'integer', '4294967295'],
    ["'12345678901234567890123456789012345678.50'::numeric", 'decimal', '12345678901234567890123456789012345678.50'],
    ["'NaN'::numeric", 'decimal', 'NaN'],
    ["'-Infinity'::numeric", 'decimal', '-Infinity'],
    ["'1.50'::numeric(12,2)", 'decimal', '1.50'],
    ["'0.1'::float8 + '0.2'::float8", 'float', '0.30000000000000004'],
    ["'1e300'::float8", 'float', '1e+300'],
    ["'-0'::float8", 'float', '-0'],
    ["'NaN'::float4", 'float', 'NaN'],
    ["'0.1'::float4", 'float', '0.1'],
    ['true', 'boolean', 'true'],
    ['false', 'boolean', 'false'],
    ["''::text", 'text', ''],
    ['null::text', 'text', null],
    ['null::boolean', 'boolean', null],
    ['null::bytea', 'binary', null],
    ['null::timestamptz', 'timestamptz', null],
    ['null::int[]', 'json', null],
    [`e'a"b\\\\c,d;e\\n\\t<&>é漢😀'`, 'text', 'a"b\\c,d;e\n\t<&>é漢😀'],
    ["'ab'::char(4)", 'text', 'ab  '],
    ['\'x\'::"char"', 'text', 'x'],
    ["'ABCDEF01-2345-6789-abcd-ef0123456789'::uuid", 'uuid', 'abcdef01-2345-6789-abcd-ef0123456789'],
    ["date '2024-02-29'", 'date', '2024-02-29'],
    ["date '0044-03-15 BC'", 'date', '0044-03-15 BC'],
    ["date 'infinity'", 'date', 'infinity'],
    ["time '23:59:59.999999'", 'time', '23:59:59.999999'],
    ["time '24:00'", 'time', '24:00:00'],
    ["timetz '04:05:06+02'", 'time', '04:05:06+02:00'],
    ["timetz '04:05:06.7-05:30'", 'time', '04:05:06.7-05:30'],
    ["timestamp '2024-02-29 12:34:56.123456'", 'timestamp', '2024-02-29T12:34:56.123456'],
    ["timestamp '12024-02-29 12:34:56'", 'timestamp', '12024-02-29T12:34:56'],
    ["timestamp '-infinity'", 'timestamp', '-infinity'],
    ["timestamp '0044-03-15 00:00:00 BC'", 'timestamp', '0044-03-15 00:00:00 BC'],
    ["timestamptz '2024-02-29 12:34:56.123456+02'", 'timestamptz', '2024-02-29T10:34:56.123456Z'],
    ["timestamptz '12024-01-01 00:00:00+00'", 'timestamptz', '12024-01-01T00:00:00Z'],
    ["timestamptz 'infinity'", 'timestamptz', 'infinity'],
    ["timestamptz '0044-03-15 00:00:00+00 BC'", 'timestamptz', '0044-03-15 00:00:00+00 BC'],
    ["interval '1 year 2 months 3 days 04:05:06.7'", 'text', 'P1Y2M3DT4H5M6.7S'],
    ["'12.34'::money", 'text', '$12.34'],
    ["'101'::bit(3)", 'text', '101'],
    [
      '\'{"b": 12345678901234567890.123456789012345678901, "a": [1]}\'::json',
      'json',
      '{"b": 12345678901234567890.123456789012345678901, "a": [1]}',
    ],
    ['\'{"b": 12345678901234567890123}\'::jsonb', 'json', '{"b": 12345678901234567890123}'],
    ["'null'::jsonb", 'json', 'null'],
    ["'192.168.0.0/24'::cidr", 'text', '192.168.0.0/24'],
    ["'<a>1</a>'::xml", 'text', '<a>1</a>'],
    ['point(1,2)', 'text', '(1,2)'],
    ['int4range(1,5)', 'text', '[1,5)'],
    ["row(1, 'a b')", 'text', '(1,"a b")'],
    ["row(1, 'a')::point3", 'text', '(1,a)'],
    [`'very "happy"'::mood`, 'text', 'very "happy"'],
    ["'Mixed'::citext", 'text', 'Mixed'],
    ["'1.5'::euro", 'decimal', '1.50'],
    ["'7'::small", 'integer', '7'],
    ["'1 2 3'::int2vector", 'text', '1 2 3'],
  ])('reads %s as %s', async (expression, type, text) => {
    expect(await one(expression)).toEqual([type, text]);
  });

  it.each([
    ["'{}'::int[]", '[]'],
    ["'{1,-2,NULL,9223372036854775807}'::bigint[]", '[1,-2,null,9223372036854775807]'],
    ["'{{1,2},{3,4}}'::int[]", '[[1,2],[3,4]]'],
    ["'[0:1]={1,2}'::int[]", '[1,2]'],
    ["'{12345678901234567890.10,NaN}'::numeric[]", '[12345678901234567890.10,"NaN"]'],
    ["'{1e300,Infinity,-0}'::float8[]", '[1e+300,"Infinity",-0]'],
    ["'{t,f,NULL}'::bool[]", '[true,false,null]'],
    [
      `array['a"b', 'c\\d', 'e,f', '{g}', '', 'NULL', null, ' h ', e'i\\nj', '漢😀']`,
      String.raw`["a\"b","c\\d","e,f","{g}","","NULL",null," h ","i\nj","漢😀"]`,
    ],
    [`array['{"k":[1,2.50]}', 'null']::jsonb[]`, '[{"k": [1, 2.50]},null]'],
    ["array[timestamptz '2024-01-01 02:00+02']", '["2024-01-01T00:00:00Z"]'],
    ["array[timestamp '2024-01-01 02:00']", '["2024-01-01T02:00:00"]'],
    ["array[date '2024-01-01']", '["2024-01-01"]'],
    [`array['\\x6869'::bytea]`, '["aGk="]'],
    ['array[box(point(1,1),point(0,0)), box(point(3,3),point(2,2))]', '["(1,1),(0,0)","(3,3),(2,2)"]'],
    [`array['sad', 'very "happy"']::mood[]`, String.raw`["sad","very \"happy\""]`],
    [`array[row(1, 'a b')::point3]`, String.raw`["(1,\"a b\")"]`],
    ["array['1.5']::euro[]", '[1.50]'],
    ["array['{1.5,2}'::euros]", '[[1.50,2.00]]'],
    ["array['abcdef01-2345-6789-abcd-ef0123456789']::uuid[]", '["abcdef01-2345-6789-abcd-ef0123456789"]'],
  ])('reads the array %s as JSON', async (expression, json) => {
    expect(await one(expression)).toEqual(['json', json]);
    expect(() => JSON.parse(json)).not.toThrow();
  });

  it('encodes bytea of every length and every byte as base64', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    for (const length of [0, 1, 2, 3, 4, 5, 256]) {
      const part = bytes.subarray(256 - length);
      expect(await one(`'\\x${part.toString('hex')}'::bytea`)).toEqual(['binary', part.toString('base64')]);
    }
  });

  it('distinguishes nulls, empty strings and values in a row with many types', async () => {
    const sql = `select * from (values
      (1::bigint, 'a', true, '\\x00'::bytea, now() = now(), '{}'::int[], timestamptz '2024-01-01'),
      (null, '', null, '\\x'::bytea, null, null, null),
      (2, null, false, null, false, '{2}', null)) v(a, b, c, d, e, f, g)`;
    expect((await read({ url: server().url }, sql)).rows).toEqual([
      ['1', 'a', 'true', 'AA==', 'true', '[]', '2024-01-01T00:00:00Z'],
      [null, '', null, '', null, null, null],
      ['2', null, 'false', null, 'false', '[2]', null],
    ]);
  });

  it('supports any column names', async () => {
    const names = ['', ' ', '1', 'a"b', "a'b", '<row>', 'ü漢😀', 'a,b', 'a\nb', '__proto__', 'constructor'].slice(1);
    const list = names.map((name, i) => `${i} as "${name.replaceAll('"', '""')}"`).join(', ');
    const { columns } = await read({ url: server().url }, `select ${list}`);
    expect(columns).toEqual(names.map((name) => `${name} integer`));
  });

  it('rejects two columns with the same name, and says how to fix the query', async () => {
    const problem = await problemOf(read({ url: server().url }, 'select 1 as a, 2 as b, 3 as a'));
    expect(problem).toMatchObject({ code: 'DB_DUPLICATE_COLUMN', family: 'job', where: { column: 'a' } });
    expect(problem.next).toContain(' as ');
  });

  it("returns the same text regardless of the database's, role's and server's settings", async () => {
    const client = new pg.Client(server().url);
    await client.connect();
    await client.query(`alter role sluice set timezone = 'Asia/Kolkata'; alter role sluice set datestyle = 'German';
      alter role sluice set bytea_output = 'escape'; alter role sluice set extra_float_digits = -5;
      alter role sluice set intervalstyle = 'sql_standard'; alter role sluice set client_encoding = 'LATIN1'`);
    try {
      const sql = `select timestamptz '2024-01-01 00:00+00' a, date '2024-02-01' b, '\\x01'::bytea c, 0.1::float8 + 0.2 d,
        interval '1 day' e, '漢' f`;
      expect((await read({ url: server().url }, sql)).rows).toEqual([
        ['2024-01-01T00:00:00Z', '2024-02-01', 'AQ==', '0.30000000000000004', 'P1D', '漢'],
      ]);
    } finally {
      await client.query('alter role sluice reset all');
      await client.end();
    }
  });
});
