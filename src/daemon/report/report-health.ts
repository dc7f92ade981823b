import type { Clock } from '../../lib/clock.ts';
import type { Problem } from '../../lib/problem.ts';
import { instantText } from '../../lib/time-text.ts';
import { processText } from '../../state/processes/processes.ts';
import type { Store } from '../../state/store.ts';
import { readHeartbeat } from '../process/heartbeat.ts';

/** The health of the daemon that uses a state folder, as other processes see it. */
export interface Health {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly message: string }[];
}

/**
 * Reads from the store whether there is a daemon, whether it's alive, and whether its schedules are running. Read-only.
 */
export async function reportHealth(store: Store, clock: Clock): Promise<Health> {
  const holder = await store.leases.holder('daemon');
  const state = stateCheck(await store.probe());
  if (holder === undefined) {
    return {
      ok: false,
      checks: [state, { name: 'daemon', ok: false, message: 'no daemon is running for this state' }],
    };
  }
  const beat = await readHeartbeat(store, { owner: holder.owner, clock });
  const since = instantText(holder.takenAt);
  const alive = { name: 'daemon', ok: true, message: `${processText(holder.owner)} since ${since}` };
  const scheduler = { name: 'scheduler', ok: beat.ticking, message: beat.message };
  return { ok: beat.ticking && state.ok, checks: [state, alive, scheduler] };
}

function stateCheck(problem: Problem | undefined): Health['checks'][number] {
  if (problem === undefined) return { name: 'state', ok: true, message: 'the state can be read and written' };
  return { name: 'state', ok: false, message: `the state is not writable: ${problem.code}, ${problem.message}` };
}
