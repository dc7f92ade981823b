import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { problemOf } from './db-reader.ts';
import { expectWarningsTold, readWarned } from './mysql-warning-suite.ts';

describeWithServer({ servers: 'MariaDB' }, 'warning handling for MariaDB', (server) =>
  expectWarningsTold(() => server()),
);

describeWithServer({ servers: 'PostgreSQL' }, 'warning handling for PostgreSQL', (server) => {
  beforeAll(async () => {
    const client = new pg.Client(server().url);
    await client.connect();
    await client.query(`create function cut(n int) returns int language plpgsql as $$ begin
      raise notice 'just saying'; raise warning 'value % was cut', n; return n; end $$`);
    await client.end();
  });
  const sql = 'select cut(i) as v from generate_series(1, 2500) i';

  it("include a function's warnings, but not its notices", async () => {
    const { rows, warnings } = await readWarned(server().url, { sql });
    expect(rows).toHaveLength(2500);
    expect(warnings).toEqual([
      {
        code: 'DB_WARNING',
        message: expect.stringContaining('value 1 was cut (and at least 999 more)'),
        seen: '01000',
      },
    ]);
  });

  it('fail the run if they are configured as errors', async () => {
    const problem = await problemOf(readWarned(server().url, { sql, warnings: 'refuse' }));
    expect(problem).toMatchObject({ code: 'DB_WARNING', family: 'job', seen: '01000' });
    expect(problem.next).toContain('warnings: tell');
  });
});
