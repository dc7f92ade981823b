import { setTimeout as wait } from 'node:timers/promises';
import { createFirstCompany } from '../first-company.ts';
import type { Fixtures } from '../fixtures/fixtures.ts';
import { applyFixtures, hashPasswords, type ReadyFixtures, storedIn } from '../fixtures/load.ts';
import { readFixtures } from '../fixtures/read.ts';
import { hasAccounts } from '../store/accounts.ts';
import { knownBlobs } from '../store/instances.ts';
import { wipe } from '../store/wipe.ts';
import type { Stage } from './context.ts';

/** How long requests that are being worked on may take to end by themselves. */
const patienceMs = 1_000;

export const keepable = ['clock', 'faults', 'requests'] as const;

export interface Reset {
  /** What is there afterwards: what there is at a start, nothing at all, or these fixtures alone. */
  readonly to: 'start' | 'empty' | Fixtures;
  readonly keep: readonly (typeof keepable)[number][];
}

/**
 * Takes everything away that the service has come to hold, as if it had just been started. Requests under way end
 * first (their connections are cut after a second), new ones wait until it is done. Answers the first admin's key
 * where there are no fixtures to give one. Throws, and changes nothing, when the fixtures have a fault.
 */
export async function reset(stage: Stage, { to, keep }: Reset): Promise<string | undefined> {
  const fixtures = await wanted(stage, to);
  const ready = fixtures && { fixtures, passwords: await hashPasswords(fixtures, () => null) };
  stage.gate.shut();
  try {
    await quiet(stage);
    if (!keep.includes('clock')) stage.clock.release();
    const firstKey = stage.parts.db.durably(() => replace(stage, ready, to === 'start'));
    forget(stage, keep);
    await stage.parts.blobs.sweep(knownBlobs(stage.parts.db));
    return firstKey;
  } finally {
    stage.parts.refreshes.start();
    stage.gate.open();
  }
}

async function wanted({ fixtures }: Stage, to: Reset['to']): Promise<Fixtures | undefined> {
  if (typeof to === 'object') return to;
  return to === 'start' && fixtures !== undefined ? readFixtures(fixtures) : undefined;
}

async function quiet({ app, parts }: Stage): Promise<void> {
  const refreshes = parts.refreshes.stop();
  const settled = app.settled();
  const isQuiet = await Promise.race([settled.then(() => true), wait(patienceMs, false, { ref: false })]);
  if (!isQuiet) app.cutOff();
  await Promise.all([settled, refreshes, parts.limits.kept()]);
}

function replace(stage: Stage, ready: ReadyFixtures | undefined, isStart: boolean): string | undefined {
  const { db, clock } = stage.parts;
  wipe(db);
  if (ready !== undefined) applyFixtures(db, ready, clock.now());
  return isStart && !hasAccounts(db) ? createFirstCompany(db, clock.now(), stage.firstKey) : undefined;
}

function forget({ parts, requestLog, faults }: Stage, keep: Reset['keep']): void {
  parts.limits.forget();
  parts.days.forget();
  parts.days.turn();
  if (!keep.includes('requests')) requestLog.clear();
  if (!keep.includes('faults')) faults.clear();
}

/** Adds fixtures to what is there, as a start with them does. Answers nothing; throws as {@link reset} does. */
export async function addFixtures({ parts }: Stage, fixtures: Fixtures): Promise<void> {
  const passwords = await hashPasswords(fixtures, storedIn(parts.db));
  applyFixtures(parts.db, { fixtures, passwords }, parts.clock.now());
}
