import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../servers/server.ts';
import { problemOf, read } from './db-reader.ts';
import { aggregates, expressions, statements, views, zoo } from './mysql-expressions.ts';
import { MysqlOracle } from './mysql-oracle.ts';

/** Every value arrives as the server itself would store it, whatever an expression's metadata says. */
export function expectExpressionsExact(server: () => TestServer): void {
  let oracle: MysqlOracle;
  const source = () => ({ url: server().url });

  beforeAll(async () => {
    oracle = await MysqlOracle.connect(server(), [zoo, ...views]);
  });
  afterAll(() => oracle.close());

  /** Statements whose result differs from what the server stores, and the number of statements that it supports. */
  async function wrong(all: readonly string[]) {
    const found: string[] = [];
    let known = 0;
    for (const sql of all) {
      const difference = await oracle.compare(server().url, sql);
      if (difference === 'unknown') continue;
      known++;
      if (difference !== undefined) found.push(`${sql}: ${difference}`);
    }
    return { found, known };
  }

  it.each(Object.entries(expressions))('delivers expressions exactly: %s', async (_, list) => {
    const { found, known } = await wrong(list.map((expression) => `select ${expression} as v from z order by id`));
    expect(found.join('\n')).toBe('');
    expect(known).toBeGreaterThan(list.length / 2);
  });

  it('delivers aggregates of groups exactly, including their totals', async () => {
    const grouped = aggregates.map((expression) => `select ${expression} as v from z group by grp`);
    const { found, known } = await wrong([...grouped, ...grouped.map((sql) => `${sql} with rollup`)]);
    expect(found.join('\n')).toBe('');
    expect(known).toBeGreaterThan(grouped.length);
  });

  it('delivers values exactly through unions, derived tables, views and functions', async () => {
    const { found, known } = await wrong(statements);
    expect(found.join('\n')).toBe('');
    expect(known).toBeGreaterThan(statements.length - 8);
  });

  it('reads BIT columns of any width from a table and from a view', async () => {
    const { rows } = await read(source(), 'select f, g3, g, g8, g64 from z order by id');
    expect(rows).toEqual([
      ['1', '5', '682', '49', '18446744073709551615'],
      ['0', '0', '0', '0', '0'],
      [null, null, null, null, null],
      ['1', '3', '49', '170', '3544385890265608240'],
    ]);
  });

  it.each(['greatest(g, 0)', 'coalesce(g8, g8)', '(select g from z x where x.id = z.id)'])(
    'never guesses the meaning of a computed BIT value with many bits: %s',
    async (expression) => {
      const outcome = await read(source(), `select id, ${expression} as v from z order by id`).catch(
        (thrown) => thrown,
      );
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({ code: 'DB_AMBIGUOUS_BIT', family: 'job', where: { column: 'v' } });
        expect(outcome).toHaveProperty('next', expect.stringContaining('(…) + 0 as v'));
      } else expect(outcome.columns).toEqual(['id integer', 'v decimal']);
      const { rows } = await read(source(), `select (${expression}) + 0 as v from z where id = 4`);
      expect([['49'], ['170']]).toContainEqual(rows[0]);
    },
  );

  it('names the view column whose BIT values are computed', async () => {
    const problem = await problemOf(read(source(), 'select cg from z_view'));
    expect(problem).toMatchObject({ code: 'DB_AMBIGUOUS_BIT', where: { column: 'cg' } });
  });
}
