import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { migrations } from '../../src/state/migrations/index.ts';
import { forSuite } from '../journey/world.ts';
import { handOf, seeds } from './seeds.ts';
import { dieAt, openTheatre, type Stage, setStage, stepsOf, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

function schemaOf({ home }: Stage): { tables: number; check: unknown } {
  const db = new SqliteDatabase(join(home.folder, 'state', 'sluice.db'));
  try {
    const tables = Number(db.prepare("select count(*) from sqlite_schema where type = 'table'").value());
    return { tables, check: db.pragma('integrity_check') };
  } finally {
    db.close();
  }
}

describe('a new state', () => {
  it.for(seeds)('has all its tables or none if the process that creates them is killed (seed %i)', async (seed) => {
    const stage = await setStage(theatre);
    const { home, oracle, upstream } = stage;
    upstream.advance();
    const state = join(home.folder, 'state');
    const commit = `commit insert into migrations #${migrations.length}`;
    const { preload, env } = dieAt(stage, commit);
    const how = (step: string) => ({ preload: preload!, env: { ...env, STEPS_CHANGES: '1', DIE_AT: step } });
    expect((await home.sync(how(commit))).signal).toBe('SIGKILL');
    const steps = (await stepsOf(stage)).filter((step) => step.startsWith('change '));
    expect(steps.length).toBeGreaterThan(10);

    for (const step of handOf(seed, [...steps, commit]).slice(0, 4)) {
      await rm(state, { recursive: true });
      expect(await home.sync(how(step)), step).toMatchObject({ signal: 'SIGKILL' });
      expect(schemaOf(stage)).toEqual({ tables: 0, check: 'ok' });
      const next = await home.sync(dieAt(stage, 'say extract.started #1'));
      expect(next.signal, 'all tables are there').toBe('SIGKILL');
      expect(schemaOf(stage)).toEqual({ tables: expect.toSatisfy((count: number) => count > 10), check: 'ok' });
    }
    await oracle.rest();
    expect(await oracle.look()).toBe(1);
  });
});
