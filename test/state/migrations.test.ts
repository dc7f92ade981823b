import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { inspectState } from '../../src/state/backup/inspect.ts';
import { useDatabase } from '../../src/state/engine/database.ts';
import { migrate } from '../../src/state/engine/migrate.ts';
import { sqliteDialect } from '../../src/state/engine/sqlite.ts';
import { type Migration, migrations } from '../../src/state/migrations/index.ts';
import { openStore } from '../../src/state/store.ts';
import { cleanUp, newFolder } from './fixtures.ts';

afterEach(cleanUp);

/**
 * What each migration does, as a hash of its statements. A released migration never changes, because states have
 * already run it. Add a new one, and its hash here.
 */
const landed: Readonly<Record<string, string>> = {
  '1 first-schema': 'd2277642db33',
};

/** The statements of each migration, hashed. */
async function whatTheyDo(): Promise<Record<string, string>> {
  let statements = '';
  const db = new Kysely<unknown>({
    dialect: sqliteDialect('', { durable: false }),
    log: ({ query }) => {
      statements += `${query.sql} ${JSON.stringify(query.parameters)}\n`;
    },
  });
  const hashes: Record<string, string> = {};
  for (const { number, name, up } of migrations) {
    statements = '';
    await up(db);
    hashes[`${number} ${name}`] = createHash('sha256').update(statements).digest('hex').slice(0, 12);
  }
  await db.destroy();
  return hashes;
}

/** Two steps of a later version that don't depend on each other. */
const later: readonly Migration[] = [
  {
    number: 7,
    name: 'novelty',
    up: (db) => db.schema.createTable('novelty').addColumn('colour', 'text').execute(),
  },
  { number: 8, name: 'size', up: (db) => db.schema.alterTable('targets').addColumn('size', 'integer').execute() },
];

/** A state of this version, with some data. */
async function oldState(): Promise<{ folder: string; file: string }> {
  const folder = newFolder();
  const store = await openStore(folder, { clock: systemClock });
  await store.settings.set('colour', 'kept');
  await store.close();
  return { folder, file: join(folder, 'sluice.db') };
}

async function migrateTo(folder: string, steps: readonly Migration[]): Promise<void> {
  const engine = useDatabase(join(folder, 'sluice.db'));
  await migrate(engine, { clock: systemClock, folder, steps }).finally(() => engine.close());
}

/**
 * A state with a table that an earlier form of a migration created. The version number doesn't show that the migration
 * was edited.
 */
async function otherState(): Promise<string> {
  const folder = newFolder();
  await (await openStore(folder, { clock: systemClock })).close();
  const database = new SqliteDatabase(join(folder, 'sluice.db'));
  database.exec('alter table send_slots drop column days');
  database.close();
  return folder;
}

describe("the state's migrations", () => {
  it('are unchanged since they were released', async () => {
    expect(await whatTheyDo()).toEqual(landed);
  });

  it('apply the steps that are missing from a state, at any position', async () => {
    const { folder, file } = await oldState();
    await migrateTo(folder, [...migrations, later[1]!]);
    await migrateTo(folder, [...migrations, ...later]);
    const database = new SqliteDatabase(file);
    expect(database.prepare('select name from migrations order by number').all()).toEqual(
      [...migrations, ...later].map(({ name }) => ({ name })),
    );
    expect(database.prepare('select colour from novelty').all()).toEqual([]);
    expect(database.prepare('select value from settings').all()).toEqual([{ value: 'kept' }]);
    database.close();
  });

  it('leave a state unchanged if one step fails', async () => {
    const { folder, file } = await oldState();
    const broken = { number: 9, name: 'broken', up: () => Promise.reject(new Error('broken step')) };
    await expect(migrateTo(folder, [...migrations, ...later, broken])).rejects.toThrow('broken step');
    const database = new SqliteDatabase(file);
    expect(database.prepare('select max(number) from migrations').value()).toBe(migrations.length);
    expect(database.prepare("select count(*) from sqlite_schema where name = 'novelty'").value()).toBe(0);
    database.close();
    await (await openStore(folder, { clock: systemClock })).close();
  });
});

describe("a state whose tables don't match its version", () => {
  it('is rejected without being changed', async () => {
    const folder = await otherState();
    await expect(openStore(folder, { clock: systemClock })).rejects.toMatchObject({
      code: 'STATE_OTHER',
      family: 'config',
      seen: expect.stringContaining('table send_slots lacks "days" text'),
    });
  });

  it('is found by doctor', async () => {
    expect(inspectState(await otherState())).toMatchObject({ integrity: 'ok', isOther: true });
  });
});
