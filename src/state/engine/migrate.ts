import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { type Migration, migrations } from '../migrations/index.ts';
import type { Tables } from '../tables.ts';
import type { Engine } from './engine.ts';
import { emptied } from './state-problem.ts';

/**
 * Migrates the database to the newest schema. All steps run in one transaction, which takes the write lock at its
 * start. If two processes start at the same time, one migrates the database and the other finds nothing left to do.
 * Before anything is written, rejects a database from a newer version of Sluice (`STATE_NEWER`), an empty database in a
 * folder with payloads (`STATE_DAMAGED`), and a database whose tables don't match its steps (`STATE_OTHER`).
 */
export async function migrate(
  engine: Engine,
  options: { clock: Pick<Clock, 'now'>; folder: string; steps?: readonly Migration[] },
): Promise<void> {
  const { steps = migrations, folder, clock } = options;
  if ((await stepsTaken(engine, engine.db, steps)).size >= steps.length) return assertShape(engine, engine.db);
  await engine.db.transaction().execute(async (transaction) => {
    await prepareSchema(engine, transaction);
    const taken = await stepsTaken(engine, transaction, steps);
    if (taken.size === 0 && hasPayloads(folder)) throw emptied(folder);
    const missing = steps.filter(({ number }) => !taken.has(number));
    await takeSteps(transaction, missing, clock);
    if (steps === migrations) await assertShape(engine, transaction);
  });
}

/** Creates the tables of a new state in a transaction. */
export async function createTables(engine: Engine, transaction: Kysely<Tables>): Promise<void> {
  await prepareSchema(engine, transaction);
  await takeSteps(transaction, migrations, engine.clock);
}

async function prepareSchema(engine: Engine, transaction: Kysely<Tables>): Promise<void> {
  await engine.createSchema?.(transaction);
  await makeMigrationsTable(transaction);
}

async function takeSteps(db: Kysely<Tables>, steps: readonly Migration[], clock: Pick<Clock, 'now'>): Promise<void> {
  for (const { number, name, up } of steps) {
    await up(db as unknown as Kysely<unknown>);
    const at = Math.round(clock.now());
    await db.insertInto('migrations').values({ number, name, at }).execute();
  }
}

/** Throws `STATE_NEWER` if a newer version of Sluice has migrated the database. */
export async function checkVersion(engine: Engine): Promise<void> {
  await stepsTaken(engine, engine.db, migrations);
}

/** Throws if the tables differ from the newest schema. Later statements wouldn't work with such tables. */
async function assertShape(engine: Engine, db: Kysely<Tables>): Promise<void> {
  const differences = await engine.schemaDifferences(db);
  if (differences.length > 0) throw otherState(engine, differences);
}

/** Creates the table of applied migrations if it doesn't exist. */
export function makeMigrationsTable(db: Kysely<Tables>): Promise<void> {
  return db.schema
    .createTable('migrations')
    .ifNotExists()
    .addColumn('number', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .execute();
}

/**
 * Returns the numbers of the steps that have been applied. Numbers may be missing: steps are written in parallel, so a
 * release may have contained only the later of two steps.
 */
async function stepsTaken(
  engine: Engine,
  db: Kysely<Tables>,
  steps: readonly Migration[],
): Promise<ReadonlySet<number>> {
  if (!(await engine.hasMigrations(db))) return new Set();
  const rows = await db.selectFrom('migrations').select('number').execute();
  const taken = new Set(rows.map(({ number }) => number));
  const version = Math.max(0, ...taken);
  if (version > newest(steps)) throw newerState(engine, version, newest(steps));
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

const isOnServer = ({ unlockedDb }: Engine): boolean => unlockedDb !== undefined;

function otherState(engine: Engine, differences: readonly string[]): Problem {
  const empty = isOnServer(engine) ? "set another schema in the config's state option" : 'move the folder away';
  return new Problem({
    code: 'STATE_OTHER',
    family: 'config',
    message: `The state in ${engine.label} was created by another build of Sluice with an incompatible schema; nothing was changed`,
    seen: differences.join(', '),
    next: `run the build that created it ("sluice --version") until all payloads are sent; then ${empty} and start again`,
  });
}

function newerState(engine: Engine, seen: number, known: number): Problem {
  const other = isOnServer(engine) ? 'schema' : 'state folder';
  return new Problem({
    code: 'STATE_NEWER',
    family: 'config',
    message: `The state in ${engine.label} was written by a newer version of Sluice; nothing was changed`,
    seen: `schema ${seen}`,
    allowed: `schema ${known} or older`,
    next: `run the newer version, or set another ${other} in the config`,
  });
}
