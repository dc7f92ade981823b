import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunWarning, withDefaults } from '#sdk';
import db from '../../connectors/db/index.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { describeWithServer } from '../servers/describe.ts';
import { check, type Options, problemOf, read } from './db-reader.ts';

describe('the options for the encoding of text', () => {
  const faults = (source: Options, query?: Options) =>
    db.validate!({
      source: withDefaults(db.source, source),
      ...(query === undefined ? {} : { query: withDefaults(db.query, query) }),
    });

  it.each<[string, Options, Options | undefined, string, RegExp]>([
    ['a typo', { file: 'a', encoding: 'windows-1225' }, undefined, 'encoding', /unknown encoding/],
    [
      'MySQL',
      { url: 'mysql://a@b', encoding: 'latin1' },
      undefined,
      'encoding',
      /only for PostgreSQL, SQLite and ClickHouse/,
    ],
    ['SQL Server', { url: 'sqlserver://a@b', bad_text: 'base64' }, undefined, 'bad_text', /only for PostgreSQL/],
    [
      'a parameter that would be sent as UTF-8',
      { url: 'postgres://a@b', encoding: 'latin1' },
      { sql: 'select $1', parameters: ['Köln'] },
      'parameters',
      /must be ASCII/,
    ],
  ])('are checked before anything is read: %s', (_, source, query, option, message) => {
    expect(faults(source, query)).toEqual([{ option, message: expect.stringMatching(message) }]);
  });

  it('can be combined with ASCII parameters', () => {
    const source = { url: 'postgres://a@b', encoding: 'latin1' };
    expect(faults(source, { sql: 'select $1', parameters: ['Koeln', 1, null] })).toEqual([]);
  });
});

/** A database whose texts are the bytes of Windows-1252, and one text that is UTF-8. */
interface Shop {
  readonly source: Options;
  readonly folder?: string;
}

const all = 'select id, name, note from shop order by id';

/** The same for each database that doesn't know the encoding of its text. */
function suite(shop: () => Shop): void {
  const given = (options: Options = {}) => [{ ...shop().source, ...options }, shop().folder] as const;
  const rowsOf = async (options: Options, query: Options | string = all) => {
    const warnings: RunWarning[] = [];
    const [source, folder] = given(options);
    const { rows } = await read(source, query, {
      ...(folder === undefined ? {} : { folder }),
      onWarning: (warning) => warnings.push(warning),
    });
    return { rows, warnings };
  };

  it('fails for text that is not UTF-8, and names the row and the column', async () => {
    expect(await problemOf(rowsOf({}))).toMatchObject({
      code: 'DB_BAD_TEXT',
      family: 'row',
      where: { row: 2, column: 'name' },
      message: 'column "name" has a text that is not valid utf-8',
      seen: 'caf\ufffd',
      next: expect.stringContaining('encoding'),
    });
  });

  it('reads text that is UTF-8 as it is, without a warning', async () => {
    expect(await rowsOf({}, 'select id, name from shop where id in (1, 3) order by id')).toEqual({
      rows: [
        ['1', 'plain'],
        ['3', 'naïve \ufffd 漢'],
      ],
      warnings: [],
    });
  });

  it('is read in the encoding that the source names', async () => {
    const { rows, warnings } = await rowsOf({ encoding: 'windows-1252' });
    expect(rows).toEqual([
      ['1', 'plain', null],
      ['2', 'café', '5 €'],
      ['3', 'naÃ¯ve ï¿½ æ¼¢', null],
    ]);
    expect(warnings).toEqual([]);
  });

  it('is read in an encoding that only iconv-lite knows', async () => {
    const { rows } = await rowsOf({ encoding: 'cp437' }, 'select name from shop where id = 2');
    expect(rows).toEqual([['cafΘ']]);
  });

  it('has U+FFFD for invalid bytes if they may be replaced, with a warning', async () => {
    const { rows, warnings } = await rowsOf({ bad_text: 'replace' });
    expect(rows).toEqual([
      ['1', 'plain', null],
      ['2', 'caf\ufffd', '5 \ufffd'],
      ['3', 'naïve \ufffd 漢', null],
    ]);
    expect(warnings).toEqual([
      {
        code: 'CHARACTERS_REPLACED',
        message:
          '2 texts are not valid utf-8, so the invalid characters became U+FFFD; the first one is in column "name"',
        seen: 'caf\ufffd',
        next: expect.any(String),
        replaced: true,
      },
    ]);
  });

  it('is base64 where it is invalid, with a warning', async () => {
    const { rows, warnings } = await rowsOf({ bad_text: 'base64' });
    expect(rows[1]).toEqual(['2', 'Y2Fm6Q==', 'NSCA']);
    expect(rows[2]).toEqual(['3', 'naïve \ufffd 漢', null]);
    expect(warnings).toEqual([expect.objectContaining({ code: 'DB_BAD_TEXT', replaced: true })]);
  });

  it.each([
    ['encoding', { encoding: 'latin1' }],
    ['bad_text', { bad_text: 'base64' }],
  ])('cannot determine the order of rows if %s changes it', async (_, options) => {
    const problem = await problemOf(rowsOf(options, { sql: all, cursor: 'name' }));
    expect(problem).toMatchObject({ code: 'DB_TEXT_ORDER', family: 'config', where: { column: 'name' } });
  });

  it('does not prevent a cursor of numbers', async () => {
    const { rows } = await rowsOf(
      { encoding: 'latin1' },
      { sql: 'select id, name from shop where id < 3', cursor: 'id' },
    );
    expect(rows).toEqual([
      ['1', 'plain'],
      ['2', 'café'],
    ]);
  });
}

describeWithServer({ servers: 'PostgreSQL' }, 'text in a PostgreSQL database with SQL_ASCII', (server) => {
  const at = (database: string) => ({ url: server().url.replace(/\/[^/]*$/, `/${database}`) });
  const run = async (source: { url: string }, sql: string) => {
    const client = new pg.Client(source.url);
    await client.connect();
    await client.query(sql);
    await client.end();
  };

  beforeAll(async () => {
    await run(server(), "create database ascii encoding SQL_ASCII template template0 lc_collate 'C' lc_ctype 'C'");
    await run(
      at('ascii'),
      `create table shop (id int primary key, name text, note varchar(20));
      insert into shop values (1, 'plain', null), (2, E'caf\\351', E'5 \\200'),
        (3, E'na\\303\\257ve \\357\\277\\275 \\346\\274\\242', null);
      create domain label as text;
      create type pair as (a text, b int)`,
    );
  });

  suite(() => ({ source: at('ascii') }));

  it('is decoded in arrays, json, domains and composites too', async () => {
    const sql = `select array[E'caf\\351', 'b,"c"'] as list, E'{"a":"caf\\351"}'::json as doc, E'caf\\351'::label as label,
      row(E'caf\\351', 1)::pair as pair, 1.50 as amount, true as flag, '2026-01-02 03:04:05'::timestamp as at`;
    const { columns, rows } = await read({ ...at('ascii'), encoding: 'latin1' }, sql);
    expect(columns).toEqual([
      ...['list json', 'doc json', 'label text', 'pair text', 'amount decimal', 'flag boolean', 'at timestamp'],
    ]);
    expect(rows).toEqual([
      ['["café","b,\\"c\\""]', '{"a":"café"}', 'café', '(café,1)', '1.50', 'true', '2026-01-02T03:04:05'],
    ]);
  });

  it('cannot be the name of a column', async () => {
    await run(at('ascii'), `do $$ begin execute E'create view named as select 1 as "gr\\366\\337e"'; end $$`);
    expect(await problemOf(read(at('ascii'), 'select * from named'))).toMatchObject({
      code: 'DB_BAD_TEXT',
      message: 'the name of a column is not valid UTF-8',
      next: expect.stringContaining('as other_name'),
    });
  });

  it('is a JSON string in a json column that is base64', async () => {
    const sql = `select E'{"a":"caf\\351"}'::json as doc`;
    const { rows } = await read({ ...at('ascii'), bad_text: 'base64' }, sql);
    expect(rows).toEqual([[JSON.stringify(Buffer.from('{"a":"caf\xe9"}', 'latin1').toString('base64'))]]);
  });

  it('has the bytes of the row whatever its batch is', async () => {
    const sql = `select g, case g when 3000 then E'caf\\351' else 'é' end as name from generate_series(1, 4000) g`;
    expect(await problemOf(read(at('ascii'), sql))).toMatchObject({ where: { row: 3000, column: 'name' } });
  });

  it('cannot be used for chunks', async () => {
    const query = { sql: 'select id, name from shop', chunks: { column: 'name', rows: 1 } };
    const problem = await problemOf(read({ ...at('ascii'), encoding: 'latin1' }, query));
    expect(problem).toMatchObject({
      code: 'DB_TEXT_ORDER',
      message: expect.stringMatching(/^chunks cannot use column/),
    });
  });

  it('is converted by the server if it knows the encoding, so that the option is refused', async () => {
    const source = { url: server().url, encoding: 'latin1' };
    const problem = { code: 'DB_ENCODING_KNOWN', family: 'config', seen: 'UTF8' };
    expect(await problemOf(read(source, "select 'café' as name"))).toMatchObject(problem);
    expect(await problemOf(check(source))).toMatchObject(problem);
    expect((await read({ url: server().url, bad_text: 'replace' }, "select 'café' as name")).rows).toEqual([['café']]);
  });
});

describe('text in a SQLite file', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-texts-'));
    for (const [file, encoding] of [
      ['shop.sqlite', 'UTF-8'],
      ['wide.sqlite', 'UTF-16le'],
    ]) {
      const file_ = new SqliteDatabase(join(folder, file!));
      file_.exec(`pragma encoding = '${encoding}';
        create table shop (id integer primary key, name text, note varchar(20), data blob);
        insert into shop values (1, 'plain', null, x'e9'), (3, 'naïve ' || char(65533) || ' 漢', null, x'');`);
      if (encoding === 'UTF-8')
        file_.exec("insert into shop values (2, cast(x'636166e9' as text), cast(x'352080' as text), null)");
      file_.close();
    }
  });

  afterAll(() => rm(folder, { recursive: true }));

  suite(() => ({ source: { file: 'shop.sqlite' }, folder }));

  it('is told apart from bytes, numbers and null', async () => {
    const sql = 'select data, id, name, name, count(*) over () from shop order by id';
    const problem = await problemOf(read({ file: 'shop.sqlite', encoding: 'latin1' }, sql, { folder }));
    expect(problem.code).toBe('DB_DUPLICATE_COLUMN');
    const { columns, rows } = await read({ file: 'shop.sqlite', encoding: 'latin1' }, sql.replace(', name', ''), {
      folder,
    });
    expect(columns).toEqual(['data binary', 'id integer', 'name text', 'count(*) over () integer']);
    expect(rows.slice(0, 2)).toEqual([
      ['6Q==', '1', 'plain', '3'],
      [null, '2', 'café', '3'],
    ]);
  });

  it('is converted by SQLite if the file is UTF-16', async () => {
    const { rows } = await read({ file: 'wide.sqlite', bad_text: 'replace' }, all, { folder });
    expect(rows).toEqual([
      ['1', 'plain', null],
      ['3', 'naïve \ufffd 漢', null],
    ]);
  });
});
