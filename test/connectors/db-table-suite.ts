import { beforeAll, expect, it } from 'vitest';
import { type Options, problemOf, read, readOn } from './db-reader.ts';

/** A database with tables. */
export interface TablePlace {
  readonly source: () => Options;
  readonly folder?: () => string;
  /** Runs statements, separated by semicolons. */
  run(sql: string): Promise<void>;
  /** Quotes a name. */
  quote(name: string): string;
  /** A schema that the default schema isn't in, if the database has schemas. */
  readonly schema?: string;
}

/** Reads tables and views without SQL. */
export function itReadsTables({ source, folder = () => '/nowhere', run, quote, schema }: TablePlace): void {
  const hostile = 'Net "amount` 100%]';
  const table = (name: string, given: Options = {}) => read(source(), { table: name, ...given }, { folder: folder() });

  beforeAll(async () => {
    const [mixed, net] = [quote('Mixed Case'), quote(hostile)];
    await run(`create table items (shop int, line int, word varchar(20), primary key (shop, line));
      insert into items values (1, 1, 'one'), (1, 2, null);
      create view words as select word from items;
      create table ${mixed} (id int primary key, ${net} int);
      insert into ${mixed} values (7, 8)`);
    if (schema !== undefined) {
      await run(`create schema ${schema}; create table ${schema}.items (id int primary key);
        insert into ${schema}.items values (9)`);
    }
  });

  it('reads all columns of a table', async () => {
    const { columns, rows } = await table('items');
    expect(columns).toEqual(['shop integer', 'line integer', 'word text']);
    expect(rows.sort()).toEqual([
      ['1', '1', 'one'],
      ['1', '2', null],
    ]);
  });

  it('reads the columns that are listed, in this order', async () => {
    expect(await table('items', { columns: ['word', 'shop'] })).toMatchObject({
      columns: ['word text', 'shop integer'],
    });
  });

  it('reads a view', async () => {
    expect((await table('words')).rows).toHaveLength(2);
  });

  it('quotes the names of the table and the columns', async () => {
    const { columns, rows } = await table('Mixed Case', { columns: [hostile] });
    expect({ columns, rows }).toEqual({ columns: [`${hostile} integer`], rows: [['8']] });
  });

  it('reads new rows by a cursor', async () => {
    const { rows, watermark } = await readOnIn({ table: 'items', cursor: 'line' });
    expect(rows).toHaveLength(2);
    expect((await readOnIn({ table: 'items', cursor: 'line' }, watermark)).unchanged).toBe(true);
  });

  it('fails for a table or a column that does not exist', async () => {
    expect(await problemOf(table('nowhere'))).toMatchObject({ code: 'DB_QUERY_FAILED', family: 'job' });
    expect(await problemOf(table('items', { columns: ['nothing'] }))).toMatchObject({ code: 'DB_QUERY_FAILED' });
  });

  it.runIf(schema !== undefined)('reads a table in another schema', async () => {
    expect((await table(`${schema}.items`)).rows).toEqual([['9']]);
  });

  function readOnIn(query: Options, watermark?: string) {
    return readOn(source(), query, watermark, { folder: folder() });
  }
}
