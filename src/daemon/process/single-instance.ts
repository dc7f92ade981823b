import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { Problem } from '../../lib/problem.ts';
import type { Lease } from '../../state/processes/leases.ts';
import { processText } from '../../state/processes/processes.ts';
import { recover } from '../../state/recover.ts';
import type { Store } from '../../state/store.ts';

/** What this process does if another daemon is using the state. */
export type IfRunning = 'refuse' | 'wait';

const lookMs = 500;

interface SingleInstanceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly second: IfRunning;
  /** Called once when this process becomes a standby. The argument is the owner of the active daemon's lease. */
  readonly inReserve?: (holder: string) => void;
  /** Cancels the wait. */
  readonly signal: AbortSignal;
}

/**
 * Ensures that a single daemon uses a state, because two daemons would fire everything twice. One-shot commands
 * may run alongside a daemon. Resolves to the lease, which the caller must release at the end, or to undefined if the
 * wait was canceled. Throws `DAEMON_RUNNING` if a second daemon must not wait. If the other daemon runs in another
 * container, its process isn't visible from here. The function then waits until it sees a heartbeat, or until the
 * daemon has been silent long enough to be considered dead.
 */
export async function acquireSingleInstance(given: SingleInstanceOptions): Promise<Lease | undefined> {
  const { store, clock, log, second, signal } = given;
  const first = await store.leases.holder('daemon');
  const since = first === undefined ? undefined : await store.heartbeats.lastBeat(first.owner);
  for (let looks = 0; !signal.aborted; looks++) {
    const lease = await store.leases.take('daemon');
    if (lease !== undefined) {
      // Recovers whatever the previous daemon left incomplete when it died.
      if (looks > 0) await recover(store);
      return lease;
    }
    const holder = await store.leases.holder('daemon');
    if (holder === undefined) continue;
    const mayBeDead = store.processes.stateOf(holder.owner) === 'unknown' && holder.owner === first?.owner;
    const isAlive = !mayBeDead || (await store.heartbeats.lastBeat(holder.owner)) !== since;
    if (second === 'refuse' && isAlive) throw running(store.label, holder.owner);
    if (looks === 0) {
      const owner = processText(holder.owner);
      log.warn('daemon.waiting', { for: owner, state: store.label });
      if (second === 'wait') given.inReserve?.(owner);
    }
    await clock.sleep(lookMs, signal).catch(() => undefined);
  }
  return undefined;
}

function running(state: string, owner: string): Problem {
  return new Problem({
    code: 'DAEMON_RUNNING',
    family: 'config',
    message: 'Another daemon is running for this state',
    seen: `${processText(owner)} on ${state}`,
    next: 'stop the other daemon first, use a separate state, or run this one as a standby: --second wait',
  });
}
