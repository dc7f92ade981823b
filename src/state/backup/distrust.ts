import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { useDatabase, useServer } from '../engine/database.ts';
import type { Engine } from '../engine/engine.ts';
import { type StateLocation, stateText } from '../engine/state-database.ts';
import { openExistingStore } from '../open-existing-store.ts';
import { processText } from '../processes/processes.ts';
import type { Store } from '../store.ts';
import { databaseName, nothingThere } from './backup-files.ts';

/**
 * Makes a state safe to use that was returned to an earlier time by other means, such as a database server's
 * point-in-time recovery or a snapshot of a disk. Returns the number of payloads that were set aside.
 */
export async function distrustState(location: StateLocation, clock?: Clock): Promise<number> {
  const store = await openExistingStore(location, clock && { clock });
  if (store === undefined) throw nothingThere(location);
  try {
    await refuseLiving(store, location);
    return await store.trust.withdraw(
      'The state was returned to an earlier time; newer data may have been sent since then',
    );
  } finally {
    await store.close();
  }
}

/** Releases what the processes that used a state had, because none of them uses its copy. */
export async function forgetProcesses(location: StateLocation): Promise<void> {
  const { db, close } = await engineOf(location);
  try {
    await db.deleteFrom('leases').execute();
    await db.deleteFrom('heartbeats').execute();
    // Their clock isn't the copy's.
    await db.updateTable('runs').set({ started_tick: null }).where('state', '=', 'running').execute();
  } finally {
    await close();
  }
}

/** Throws if a live process is using the state. */
export async function refuseLiving({ leases, runs, processSettings }: Store, location: StateLocation): Promise<void> {
  const daemon = await leases.holder('daemon');
  const [run] = await runs.underway();
  // Each process that runs jobs records its config, even if another one plans them.
  const [other] = await processSettings.all('config');
  const owner = daemon?.owner ?? run?.owner ?? other?.owner;
  if (owner !== undefined) throw inUse(location, processText(owner));
}

/** Opens the database of a state. An open store of this state shares it. */
function engineOf({ state, stateDatabase }: StateLocation): Engine | Promise<Engine> {
  return stateDatabase === undefined ? useDatabase(join(state, databaseName)) : useServer(stateDatabase, state);
}

function inUse(location: StateLocation, who: string): Problem {
  return new Problem({
    code: 'STATE_IN_USE',
    family: 'config',
    message: 'The state is in use by another process; nothing was changed',
    seen: `${who} on ${stateText(location)}`,
    next: 'stop the daemon, and wait for runs to end',
  });
}
