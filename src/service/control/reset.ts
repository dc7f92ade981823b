import { setTimeout as wait } from 'node:timers/promises';
import { createFirstCompany } from '../first-company.ts';
import type { Fixtures } from '../fixtures/fixtures.ts';
import { applyFixtures, hashPasswords, type ReadyFixtures, storedIn } from '../fixtures/load.ts';
import { readFixtures } from '../fixtures/read.ts';
import { hasAccounts } from '../store/accounts.ts';
import { knownBlobs } from '../store/instances.ts';
import { wipe } from '../store/wipe.ts';
import type { ControlContext } from './context.ts';

/** Maximum time that a reset waits for requests in progress. */
const graceMs = 1_000;

export const keepable = ['clock', 'faults', 'requests'] as const;

export interface Reset {
  /** The data after the reset: the same data as after a fresh start, no data, or only these fixtures. */
  readonly to: 'start' | 'empty' | Fixtures;
  readonly keep: readonly (typeof keepable)[number][];
}

/**
 * Resets the service's data and state. First waits for requests in progress, and closes their connections after a
 * second. New requests wait until the reset is done. Returns the first admin's API key if the reset created the admin.
 * If the fixtures have an error, throws and changes nothing.
 */
export async function reset(context: ControlContext, { to, keep }: Reset): Promise<string | undefined> {
  const fixtures = await wanted(context, to);
  const ready = fixtures && { fixtures, passwords: await hashPasswords(fixtures, () => null) };
  context.gate.pause();
  try {
    await quiet(context);
    if (!keep.includes('clock')) context.clock.release();
    const firstKey = context.service.db.durably(() => replace(context, ready, to === 'start'));
    forget(context, keep);
    await context.service.blobs.sweep(knownBlobs(context.service.db));
    return firstKey;
  } finally {
    context.service.refreshes.start();
    context.gate.resume();
  }
}

async function wanted({ fixtures }: ControlContext, to: Reset['to']): Promise<Fixtures | undefined> {
  if (typeof to === 'object') return to;
  return to === 'start' && fixtures !== undefined ? readFixtures(fixtures) : undefined;
}

async function quiet({ app, service }: ControlContext): Promise<void> {
  const refreshes = service.refreshes.stop();
  const settled = app.settled();
  const isQuiet = await Promise.race([settled.then(() => true), wait(graceMs, false, { ref: false })]);
  if (!isQuiet) app.cutOff();
  await Promise.all([settled, refreshes, service.limits.persisted()]);
}

function replace(context: ControlContext, ready: ReadyFixtures | undefined, isStart: boolean): string | undefined {
  const { db, clock } = context.service;
  wipe(db);
  if (ready !== undefined) applyFixtures(db, ready, clock.now());
  return isStart && !hasAccounts(db) ? createFirstCompany(db, clock.now(), context.firstKey) : undefined;
}

function forget({ service, requestLog, faults }: ControlContext, keep: Reset['keep']): void {
  service.limits.resetWindows();
  service.snapshots.forget();
  service.snapshots.rollOver();
  if (!keep.includes('requests')) requestLog.clear();
  if (!keep.includes('faults')) faults.clear();
}

/** Loads fixtures in addition to the existing data. Throws like {@link reset}. */
export async function addFixtures({ service }: ControlContext, fixtures: Fixtures): Promise<void> {
  const passwords = await hashPasswords(fixtures, storedIn(service.db));
  applyFixtures(service.db, { fixtures, passwords }, service.clock.now());
}
