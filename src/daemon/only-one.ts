import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { Problem } from '../lib/problem.ts';
import type { Lease } from '../state/processes/leases.ts';
import { processText } from '../state/processes/processes.ts';
import { recover } from '../state/recover.ts';
import type { Store } from '../state/store.ts';

/** What a daemon does that finds another one on its state folder. */
export type Second = 'refuse' | 'wait';

const lookMs = 500;

interface Given {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly second: Second;
  /** Told once when it begins to wait in reserve, with who it waits for. */
  readonly inReserve?: (holder: string) => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Two daemons on one state folder would fire everything twice; one-shot commands beside a daemon are fine. Resolves to
 * the lease, to be given back at the end; to undefined where the wait was ended. Throws `DAEMON_RUNNING` where the second
 * one is to be refused. A daemon in another container cannot be looked at: it is waited for until it shows a sign of
 * life, or until it has been silent for so long that it is dead.
 */
export async function beTheOnlyOne(given: Given): Promise<Lease | undefined> {
  const { store, clock, log, second, signal } = given;
  const first = await store.leases.holder('daemon');
  const since = first === undefined ? undefined : await store.heartbeats.lastBeat(first.owner);
  for (let looks = 0; !signal.aborted; looks++) {
    const lease = await store.leases.take('daemon');
    if (lease !== undefined) {
      // What the former one left undone when it died is healed as at any start.
      if (looks > 0) await recover(store);
      return lease;
    }
    const holder = await store.leases.holder('daemon');
    if (holder === undefined) continue;
    const mayBeDead = store.processes.stateOf(holder.owner) === 'unknown' && holder.owner === first?.owner;
    const isAlive = !mayBeDead || (await store.heartbeats.lastBeat(holder.owner)) !== since;
    if (second === 'refuse' && isAlive) throw running(store.folder, holder.owner);
    if (looks === 0) {
      const owner = processText(holder.owner);
      log.warn('daemon.waiting', { for: owner, state: store.folder });
      if (second === 'wait') given.inReserve?.(owner);
    }
    await clock.sleep(lookMs, signal).catch(() => undefined);
  }
  return undefined;
}

function running(folder: string, owner: string): Problem {
  return new Problem({
    code: 'DAEMON_RUNNING',
    family: 'config',
    message: 'Another daemon is running on this state folder',
    seen: `${processText(owner)} on ${folder}`,
    next: 'stop that one first, give this one a state folder of its own, or let it wait in reserve: --second wait',
  });
}
