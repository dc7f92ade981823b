import { expect, it } from 'vitest';
import type { TestServer } from '../servers/server.ts';
import { problemOf, read } from './db-reader.ts';

type Value = string | number | boolean | null;

/** Values in `parameters` arrive unchanged, wherever the query uses them. */
export function expectParametersExact(server: () => TestServer): void {
  const source = () => ({ url: server().url });

  it.each<[string, Value[], string, string | null]>([
    ['select ? as v', [5], 'v integer', '5'],
    ['select ? as v', [-5], 'v integer', '-5'],
    ['select ? as v', [9007199254740991], 'v integer', '9007199254740991'],
    ['select ? as v', [1.5], 'v decimal', '1.5'],
    ['select ? as v', [1e-7], 'v float', '0.0000001'],
    ['select ? as v', [1e300], 'v float', '1e300'],
    ['select ? as v', [true], 'v integer', '1'],
    ['select ? as v', [false], 'v integer', '0'],
    ['select ? as v', [null], 'v text', null],
    ['select ? as v', ['5'], 'v text', '5'],
    ['select ? as v', [''], 'v text', ''],
    ["select concat('x', ?) as v", [5], 'v text', 'x5'],
    ['select concat(?, ?) as v', ['ü', 1.5], 'v text', 'ü1.5'],
    ['select coalesce(null, ?) as v', [1.5], 'v decimal', '1.5'],
    ['select coalesce(?, ?) as v', [null, 7], 'v integer', '7'],
    ['select if(1, ?, 2) as v', [5], 'v integer', '5'],
    ['select greatest(?, 1) as v', [5], 'v integer', '5'],
    ['select max(?) as v', [5], 'v integer', '5'],
    ['select max(?) over () as v', [5], 'v integer', '5'],
    ['select 7 as v union select ? limit 1, 1', [5], 'v integer', '5'],
    ['select v from (select ? as v) x', [5], 'v integer', '5'],
    ['select round(?, ?) as v', [1.239, 2], 'v decimal', '1.24'],
    ['select ? / 4 as v', [1], 'v decimal', '0.2500'],
    ['select ? + 0 as v', [0.1], 'v decimal', '0.1'],
    ["select date '2024-01-01' + interval ? day as v", [5], 'v date', '2024-01-06'],
    ['select 3 as v limit ?', [1], 'v integer', '3'],
    ['select 3 as v where ? = 5', [5], 'v integer', '3'],
  ])('binds values with their type: %s with %j', async (sql, parameters, column, value) => {
    expect(await read(source(), { sql, parameters })).toEqual({ columns: [column], rows: [[value]] });
  });

  it.each([
    ['select 8--? as v', 5, '13'],
    ['select 8-? as v', -5, '13'],
    ['select 8--? as v', -5, '3'],
    ['select 8 - ? as v', -5, '13'],
    ['select/**/?+8 as v', -5, '3'],
    ['select?+8 as v', -5, '3'],
    ['select 1+(?) as v', 5, '6'],
    ["select ? as v -- what's this?\n", 5, '5'],
    ["select ? as v # it's ?\n, '?' as w", 5, '5'],
    ["select /* don't ? */ ? as v", 5, '5'],
    ['select /*! ? + */ 1 as v', 5, '6'],
    ["select ? as v, 'it''s ?' as w, `?` as y from (select 1 as `?`) z", 5, '5'],
    ["select ? as v, '\\'?' as w, '\\\\' as x", 5, '5'],
    ["select ? as v, '/*' as w, '? */' as x, '--' as y, '#?' as z", 5, '5'],
  ])('distinguishes a placeholder from any other question mark: %s', async (sql, parameter, value) => {
    const { columns, rows } = await read(source(), { sql, parameters: [parameter] });
    expect(rows[0]![columns.findIndex((column) => column.startsWith('v '))]).toBe(value);
  });

  it('keeps the names of columns without an alias, no matter what the value is', async () => {
    const sql = "select ?, concat('x', ?), 7";
    const { columns, rows } = await read(source(), { sql, parameters: ['secret', 5] });
    expect(columns).toEqual(['? text', "concat('x', ?) text", '7 integer']);
    expect(rows).toEqual([['secret', 'x5', '7']]);
  });

  it('never lets a string value close its own quotes', async () => {
    const hostile = `'; drop table shop; -- \\' " \` ? */ # 漢😀`;
    const sql = "select ? as a, '\\\\' as b, ? as c";
    const { rows } = await read(source(), { sql, parameters: [hostile, `\\' or ? or '`] });
    expect(rows).toEqual([[hostile, '\\', `\\' or ? or '`]]);
  });

  it('reports how many parameters the query has', async () => {
    const problem = await problemOf(read(source(), { sql: "select ?, '?', ?", parameters: [1] }));
    expect(problem).toMatchObject({ code: 'DB_QUERY_FAILED', family: 'job' });
    expect(problem.message).toContain('the query has 2, but the parameters option has 1');
  });
}
