import { expect, it } from 'vitest';
import type { RunWarning } from '#sdk';
import type { TestServer } from '../servers/server.ts';
import { problemOf, read } from './db-reader.ts';

/** Reads everything and collects the run's warnings. */
export async function readWarned(url: string, query: Record<string, unknown>) {
  const warnings: RunWarning[] = [];
  const { rows } = await read({ url }, query, { onWarning: (warning) => warnings.push(warning) });
  return { rows, warnings };
}

const numbers = (count: number) =>
  `(with recursive n as (select 1 as i union all select i + 1 from n where i < ${count}) select i from n) x`;
/** This value is truncated at the server's limit, which is one megabyte on MariaDB and one kilobyte on MySQL. */
const cutList = `select length(group_concat(repeat('x', 3000))) > 1 as v from ${numbers(900)}`;

/** Values that the server truncated are reported, or rejected. */
export function expectWarningsTold(server: () => TestServer): void {
  it('reports that a list was truncated at group_concat_max_len', async () => {
    const { rows, warnings } = await readWarned(server().url, { sql: cutList });
    expect(rows).toEqual([['1']]);
    expect(warnings).toEqual([
      {
        code: 'DB_WARNING',
        message: expect.stringMatching(/^the database at 127\.0\.0\.1:\d+ warns: .*group_concat\(\)/i),
        seen: '1260',
        next: expect.stringContaining('group_concat_max_len'),
      },
    ]);
  });

  it('reports that a value was dropped because it exceeds max_allowed_packet', async () => {
    const { rows, warnings } = await readWarned(server().url, { sql: "select repeat('x', 200000000) as v" });
    expect(rows).toEqual([[null]]);
    expect(warnings).toMatchObject([{ code: 'DB_WARNING', seen: '1301' }]);
    expect(warnings[0]!.next).toContain('max_allowed_packet');
  });

  it("fails the run if warnings are configured as errors, with the server's message", async () => {
    const problem = await problemOf(readWarned(server().url, { sql: cutList, warnings: 'refuse' }));
    expect(problem).toMatchObject({ code: 'DB_WARNING', family: 'job', seen: '1260' });
    expect(problem.message).toMatch(/group_concat\(\)/i);
  });

  it('reports warnings of the same kind once, with their count', async () => {
    const sql = `select cast(concat(i, 'x') as signed) as v from ${numbers(5)}`;
    const { rows, warnings } = await readWarned(server().url, { sql });
    expect(rows).toHaveLength(5);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]!.message).toMatch(/Truncated incorrect INTEGER value: '1x' \(and 4 more\)$/);
  });

  it('reports if the server keeps fewer warnings than occurred', async () => {
    const sql = `select cast(concat(i, 'x') as signed) as v from ${numbers(900)} where i > 0`;
    const { warnings } = await readWarned(server().url, { sql });
    // The server keeps 64 or 1024 warnings, depending on the version.
    expect(warnings[0]!.message).toMatch(/ \(and (at least 63|899) more\)$/);
  });

  it('reports nothing about a result without warnings, or about words in a query', async () => {
    const { warnings } = await readWarned(server().url, { sql: 'select 1 as v', warnings: 'refuse' });
    expect(warnings).toEqual([]);
  });
}
