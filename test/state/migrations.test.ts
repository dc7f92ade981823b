import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { useDatabase } from '../../src/state/database.ts';
import { inspectState } from '../../src/state/inspect.ts';
import { migrate } from '../../src/state/migrate.ts';
import { migrations } from '../../src/state/migrations/index.ts';
import { sqliteDialect } from '../../src/state/sqlite.ts';
import { openStore } from '../../src/state/store.ts';
import { cleanUp, newFolder } from './fixtures.ts';

afterEach(cleanUp);

/**
 * What each migration does: the hash of its statements. A migration that has landed is never changed, since states have been
 * through it: add a new one, and its hash here.
 */
const landed: Readonly<Record<string, string>> = {
  '1 the-store': 'eae1ac60829a',
  '2 logins': 'c2e8db786940',
  '3 watermarks': '713b6012a33d',
  '4 guards': '656ef9748d3c',
  '5 schedules': '10fcc76cdfd0',
  '6 budget': '7d1fc5582603',
  '7 sets': '3209efe9e536',
  '8 alerts': '150ce13f77ba',
  '9 instance-index': '3aa1a1443a8a',
  '10 cuts': '53888f0a9537',
  '11 next-steps': '7e6d3fdd3fe3',
  '12 moved-payloads': 'e6e2b4d617f7',
  '13 blames': '430ac7ca96ed',
  '14 audit-values': '1cc668c1628f',
  '15 unanswered': '344799d7d4f4',
  '16 fired-at': 'd8d29bfa09eb',
  '17 warnings': 'a873d6ba011d',
  '18 run-durations': 'e74190b8a11b',
  '19 arrives-by': '11fa43bfa289',
  '20 retries': 'b86c0ec7eee8',
  '21 login-holds': '3be5f0671a7f',
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

/** A state whose table was made by a migration that was edited later, as its number does not tell. */
async function otherState(): Promise<string> {
  const folder = newFolder();
  await (await openStore(folder, { clock: systemClock })).close();
  const database = new SqliteDatabase(join(folder, 'sluice.db'));
  database.exec('alter table sends drop column days');
  database.close();
  return folder;
}

describe('migrations of the state', () => {
  it('do what they did when they landed', async () => {
    expect(await whatTheyDo()).toEqual(landed);
  });

  it('may be taken in another order, and make the same schema', async () => {
    const folder = newFolder();
    const { db, close } = useDatabase(join(folder, 'sluice.db'));
    const steps = migrations.filter(({ name }) => !['sets', 'next-steps'].includes(name));
    await migrate(db, { now: 1, folder, steps });
    await close();
    await (await openStore(folder, { clock: systemClock })).close();
    expect(inspectState(folder)).toMatchObject({ isOther: false });
  });
});

describe('a state whose tables are not those of its number', () => {
  it('is refused in words, and nothing in it is changed', async () => {
    const folder = await otherState();
    await expect(openStore(folder, { clock: systemClock })).rejects.toMatchObject({
      code: 'STATE_OTHER',
      family: 'config',
      seen: expect.stringContaining('table sends lacks "days" text'),
    });
  });

  it('is refused before the steps that it lacks are taken', async () => {
    const folder = await otherState();
    const file = join(folder, 'sluice.db');
    const before = new SqliteDatabase(file);
    before.exec("delete from migrations where name = 'warnings'; alter table runs drop column warnings");
    before.close();
    await expect(openStore(folder, { clock: systemClock })).rejects.toMatchObject({ code: 'STATE_OTHER' });
    const after = new SqliteDatabase(file);
    expect(after.prepare("select count(*) from migrations where name = 'warnings'").value()).toBe(0);
    after.close();
  });

  it('is found by doctor', async () => {
    expect(inspectState(await otherState())).toMatchObject({ integrity: 'ok', isOther: true });
  });
});
