import assert, { fail } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import type { ColumnType } from '../column.ts';
import { canonicalText } from '../records/canonical.ts';
import type { Bench, Table } from './bench.ts';
import type { Promised } from './check.ts';
import { faultsOf } from './declared.ts';
import { hostileNames, hostileValues } from './hostile.ts';
import type { Options } from './world.ts';

/** Checks that every extract returns the source's rows with the declared columns, whatever the rows contain. */
export const readingChecks: readonly Promised[] = [
  { name: 'returns the declared columns and all rows as canonical text', look: givesRows },
  { name: 'returns the same rows again if the data has not changed', look: givesThemAgain },
  { name: 'returns rows for the jobs in its example', needs: 'example', look: runsExample },
  { name: 'returns unusual names and values unchanged', needs: 'hostile', look: carriesHostile },
  { name: 'continues from its watermark without repeating or missing rows', needs: 'resume', look: resumes },
];

async function givesRows(bench: Bench): Promise<void> {
  const { columns, rows, watermark } = await bench.read();
  assert.deepEqual({ columns, rows }, { columns: bench.place.columns, rows: bench.place.rows });
  assert.ok(rows.length > 0, 'the world has no rows, so nothing is checked');
  for (const row of rows) {
    for (const [c, { name, type }] of columns.entries()) assertCanonical(row[c]!, type, name);
  }
  const isSilent = watermark !== undefined && bench.connector.resumes === undefined;
  if (isSilent) fail('the connector returns a watermark, but "resumes" does not describe the watermark');
}

function assertCanonical(text: string | null, type: ColumnType, name: string): void {
  if (text === null || canonicalText(text, type) === text) return;
  fail(`column ${name}: ${JSON.stringify(text)} is not the canonical text of a value of type ${type}`);
}

async function givesThemAgain(bench: Bench): Promise<void> {
  assert.deepEqual(await bench.read(), await bench.read());
}

async function runsExample(bench: Bench): Promise<void> {
  const { connector, place } = bench;
  const { jobs = {} } = parse(connector.example ?? '') as { jobs?: Record<string, { query?: unknown }> };
  if (Object.keys(jobs).length === 0) fail('the example has no job');
  // The options of the world's own query are unset, so that they can't influence the result.
  const none = Object.fromEntries(Object.keys(place.query).map((name) => [name, undefined]));
  for (const [name, { query = {} }] of Object.entries(jobs)) {
    const asked = typeof query === 'string' ? { [connector.shorthand ?? '']: query } : (query as Options);
    const reading = { source: place.example?.source ?? {}, query: { ...none, ...asked, ...place.example?.query } };
    const given = bench.given(reading);
    assert.deepEqual(faultsOf(connector, given.source, given.query), [], `job ${name}: its options are invalid`);
    assert.ok((await bench.read(reading)).rows.length > 0, `job ${name} returns no rows`);
  }
}

async function carriesHostile(bench: Bench): Promise<void> {
  const { names = hostileNames, values = hostileValues } = bench.place.hostile!;
  if (names.length === 0 || values.length === 0) fail('the "hostile" part has no names or no values to check');
  const { columns, rows } = await bench.read(bench.place.hostile);
  const at = names.map((name) => columns.findIndex((column) => column.name === name));
  const lost = names.filter((_, i) => at[i] === -1);
  assert.deepEqual(lost, [], 'these unusual names are missing or changed');
  assert.deepEqual(
    rows.map((row) => at.map((c) => row[c])),
    values.map((value) => names.map(() => value)),
  );
}

async function resumes(bench: Bench): Promise<void> {
  const { resume } = bench.place;
  if (bench.connector.resumes === undefined) return;
  const repeated = resume!.repeated ?? 0;
  const first = await bench.read(resume);
  if (first.watermark === undefined)
    fail('the connector declares "resumes", but the first extract returned no watermark');
  assert.ok(first.rows.length > 0, 'the world has no rows, so nothing is checked');
  const second = await bench.read(resume, { watermark: first.watermark });
  atMost(repeated, second, first, 'nothing has changed');
  const due = await resume!.grow();
  const third = await bench.read(resume, { watermark: second.watermark ?? first.watermark });
  atMost(repeated, third, first, 'only new rows were expected');
  const missing = due.filter((row) => !third.rows.some((given) => isDeepStrictEqual(given, row)));
  assert.deepEqual(missing, [], 'rows after the watermark are missing');
  assert.ok(
    third.rows.length <= due.length + repeated,
    'the extract returned more rows than there are after the watermark',
  );
  const rest = await bench.read(resume, { watermark: third.watermark ?? first.watermark });
  atMost(repeated, rest, third, 'the watermark was expected to advance');
}

function atMost(repeated: number, { rows }: Table, before: Table, why: string): void {
  const again = rows.filter((row) => before.rows.some((old) => isDeepStrictEqual(old, row)));
  assert.ok(again.length <= repeated, `${why}, but ${again.length} rows were repeated; allowed: ${repeated}`);
}
