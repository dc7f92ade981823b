import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { Problem } from '../../lib/problem.ts';
import { type SchemaEntry, schemaDifferences, schemaHash, schemaQuery } from '../../lib/sqlite-shape.ts';
import { type Migration, migrations } from '../migrations/index.ts';
import { newestHash } from '../migrations/newest-hash.ts';
import type { Tables } from '../tables.ts';
import { sqliteDialect } from './sqlite.ts';
import { emptied } from './state-problem.ts';

/**
 * Migrates the database to the newest schema. All steps run in one transaction, which takes the write lock at its
 * start. If two processes start at the same time, one migrates the database and the other finds nothing left to do.
 * Before anything is written, rejects a database from a newer version of Sluice (`STATE_NEWER`), an empty database in a
 * folder with payloads (`STATE_DAMAGED`), and a database whose tables don't match its steps (`STATE_OTHER`).
 */
export async function migrate(
  db: Kysely<Tables>,
  options: { now: number; folder: string; steps?: readonly Migration[] },
): Promise<void> {
  const steps = options.steps ?? migrations;
  const check = (at: Kysely<Tables>): Promise<void> => assertShape(at, options.folder);
  if ((await stepsTaken(db, options.folder, steps)).size >= steps.length) return check(db);
  await db.transaction().execute(async (transaction) => {
    await makeOwnTable(transaction);
    const taken = await stepsTaken(transaction, options.folder, steps);
    if (taken.size === 0 && hasPayloads(options.folder)) throw emptied(options.folder);
    for (const step of steps.filter(({ number }) => !taken.has(number))) {
      await step.up(transaction as unknown as Kysely<unknown>);
      await transaction
        .insertInto('migrations')
        .values({ number: step.number, name: step.name, at: options.now })
        .execute();
    }
    if (steps === migrations) await check(transaction);
  });
}

/**
 * Throws if the tables differ from the newest schema, such as because a step was edited after this database had applied
 * it. Later statements wouldn't work with such tables.
 */
async function assertShape(db: Kysely<Tables>, folder: string): Promise<void> {
  const found = await entriesOf(db);
  if (schemaHash(found) === newestHash) return;
  throw otherState(folder, schemaDifferences(found, await newestSchema()));
}

/** Returns the schema of a state database to which all steps have been applied. */
export async function newestSchema(): Promise<readonly SchemaEntry[]> {
  const fresh = new Kysely<Tables>({ dialect: sqliteDialect('', { durable: false }) });
  await makeOwnTable(fresh);
  for (const { up } of migrations) await up(fresh as unknown as Kysely<unknown>);
  const entries = await entriesOf(fresh);
  await fresh.destroy();
  return entries;
}

function makeOwnTable(db: Kysely<Tables>): Promise<void> {
  return db.schema
    .createTable('migrations')
    .ifNotExists()
    .addColumn('number', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .execute();
}

async function entriesOf(db: Kysely<Tables>): Promise<readonly SchemaEntry[]> {
  return (await sql.raw<SchemaEntry>(schemaQuery).execute(db)).rows;
}

/**
 * Returns the numbers of the steps that have been applied. Numbers may be missing: steps are written in parallel, so a
 * release may have contained only the later of two steps.
 */
async function stepsTaken(
  db: Kysely<Tables>,
  folder: string,
  steps: readonly Migration[],
): Promise<ReadonlySet<number>> {
  const known = await sql`select 1 from sqlite_schema where type = 'table' and name = 'migrations'`.execute(db);
  if (known.rows.length === 0) return new Set();
  const rows = await db.selectFrom('migrations').select('number').execute();
  const taken = new Set(rows.map(({ number }) => number));
  const version = Math.max(0, ...taken);
  if (version > newest(steps)) throw newerState(folder, version, newest(steps));
  return taken;
}

function hasPayloads(folder: string): boolean {
  try {
    return readdirSync(join(folder, 'payloads')).length > 0;
  } catch {
    return false;
  }
}

const newest = (steps: readonly Migration[]) => Math.max(0, ...steps.map(({ number }) => number));

function otherState(folder: string, differences: readonly string[]): Problem {
  return new Problem({
    code: 'STATE_OTHER',
    family: 'config',
    message: `The state in ${folder} was created by another build of Sluice with an incompatible schema; nothing was changed`,
    seen: differences.join(', '),
    next: 'run the build that created it ("sluice --version") until all payloads are sent; then move the folder away and start again',
  });
}

function newerState(folder: string, seen: number, known: number): Problem {
  return new Problem({
    code: 'STATE_NEWER',
    family: 'config',
    message: `The state in ${folder} was written by a newer version of Sluice; nothing was changed`,
    seen: `schema ${seen}`,
    allowed: `schema ${known} or older`,
    next: 'run the newer version, or set another state folder in the config',
  });
}
