import { createHash } from 'node:crypto';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SqliteDatabase, type SqliteValue } from '../../src/lib/sqlite.ts';
import { useDatabase } from '../../src/state/database.ts';
import { migrate } from '../../src/state/migrate.ts';
import { migrations } from '../../src/state/migrations/index.ts';
import { forSuite } from '../journey/world.ts';
import { handOf, seeds } from './seeds.ts';
import { dieAt, openTheatre, type Stage, setStage, stepsOf, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

/** The state of the first Sluice: its schema, and a payload that it owes. The source has nothing any more. */
async function makeOld({ home, world, instance, upstream }: Stage): Promise<void> {
  const text = upstream.advance();
  upstream.finished.add(upstream.version);
  upstream.has = false;
  const state = join(home.folder, 'state');
  const sha256 = createHash('sha256').update(text).digest('hex');
  const path = join(state, 'payloads', 'old-run', `${sha256}.csv`);
  await mkdir(dirname(path), { recursive: true });
  const { db, close } = useDatabase(join(state, 'sluice.db'));
  await migrate(db, { now: 1, folder: home.folder, steps: migrations.slice(0, 1) });
  await close();
  await writeFile(path, text);
  const raw = new SqliteDatabase(join(state, 'sluice.db'));
  const insert = (table: string, row: Record<string, SqliteValue>) => {
    const names = Object.keys(row);
    raw.prepare(`insert into ${table} (${names}) values (${names.map(() => '?')})`).run(...Object.values(row));
  };
  const now = Date.now() - 60_000;
  const of = { job: 'rows', row_count: 41, bytes: text.length };
  insert('runs', { ...of, id: 'old-run', origin: 'schedule', state: 'owed', owner: 'x', started_at: now, requests: 0 });
  const to = { destination: 'main', url: world.url, client_id: '', instance, format: 'csv', media_type: 'text/csv' };
  const when = { as_of: now, owed_at: now, always: 0, attempts: 0, state: 'owed' };
  insert('outbox', { ...of, ...to, ...when, run: 'old-run', sha256, path });
  raw.close();
}

function schemaOf({ home }: Stage): { version: unknown; check: unknown } {
  const db = new SqliteDatabase(join(home.folder, 'state', 'sluice.db'));
  try {
    const version = db.prepare('select max(number) from migrations').value();
    return { version, check: db.pragma('integrity_check') };
  } finally {
    db.close();
  }
}

describe('an upgrade of the state from the first schema to the newest', () => {
  it.for(seeds)(
    'that is killed in the middle of its migrations is whole after the next start (seed %i)',
    async (seed) => {
      const stage = await setStage(theatre);
      const { home, oracle } = stage;
      await makeOld(stage);
      const [state, kept] = [join(home.folder, 'state'), join(home.folder, 'kept')];
      await cp(state, kept, { recursive: true });
      const { preload, env } = dieAt(stage, 'commit insert into migrations #1');
      const how = (step: string) => ({ preload: preload!, env: { ...env, STEPS_CHANGES: '1', DIE_AT: step } });
      expect((await home.sync(how('commit insert into migrations #1'))).signal).toBe('SIGKILL');
      const steps = (await stepsOf(stage)).filter((step) => step.startsWith('change '));
      expect(steps.length).toBeGreaterThan(migrations.length);

      for (const step of handOf(seed, [...steps, 'commit insert into migrations #1']).slice(0, 4)) {
        await rm(state, { recursive: true });
        await cp(kept, state, { recursive: true });
        expect(await home.sync(how(step)), step).toMatchObject({ signal: 'SIGKILL' });
        expect(schemaOf(stage)).toEqual({ version: 1, check: 'ok' });
        const next = await home.sync(dieAt(stage, 'say extract.started #1'));
        expect(next.signal, 'all migrations are over').toBe('SIGKILL');
        expect(schemaOf(stage)).toEqual({ version: migrations.at(-1)!.number, check: 'ok' });
        expect(home.state().outbox).toMatchObject([{ state: 'owed', run: 'old-run' }]);
      }
      await oracle.rest();
      expect(await oracle.look()).toBe(1);
    },
  );
});
