import { statfsSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import type { Problem } from '../lib/problem.ts';
import { isUnwritable } from '../state/state-problem.ts';
import type { Store } from '../state/store.ts';
import type { RunEvents } from './events.ts';
import { type Firing, placeOfFiring } from './scheduler.ts';

/** The disk is looked at this often while a firing waits for it. */
const lookEveryMs = 10_000;
/** A run that found too little room is repeated when there is so much more: each repetition reads its source again. */
const moreBytes = 1_000_000;

interface DiskRetriesOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<RunEvents>;
  readonly fire: (firing: Firing) => void;
  /** The daemon stops. */
  readonly stop: AbortSignal;
}

interface Deferred {
  readonly firing: Firing;
  /** Free bytes of the disk that have to be there; absent: the state has to take a write. */
  readonly wantedBytes?: number;
}

/**
 * Firings that came to nothing because the disk was full, failed or was read-only. They fire again when it works: without
 * this a full disk at night costs a daily job its day.
 */
export class DiskRetries {
  readonly #given: DiskRetriesOptions;
  readonly #deferred = new Map<string, Deferred>();
  #isLooking = false;

  constructor(given: DiskRetriesOptions) {
    this.#given = given;
  }

  /** Fires it again when the disk lets it. False where the problem is another one. `began`: its run is in the history. */
  defer(firing: Firing, { problem, began }: { problem: unknown; began: boolean }): boolean {
    if (!isOfDisk(problem) || this.#given.stop.aborted) return false;
    const { store, emit } = this.#given;
    const waits = began ? { wantedBytes: freeBytes(store.folder) + moreBytes } : {};
    this.#deferred.set(placeOfFiring(firing), { firing, ...waits });
    const { code, message } = problem;
    emit('firing.deferred', { job: firing.job.name, at: firing.at, code, message });
    void this.#look();
    return true;
  }

  /** A newer firing takes the place of one that waits, unless each of them has a run of its own. */
  replaceBy(firing: Firing): void {
    this.#deferred.delete(placeOfFiring(firing));
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock, fire, stop } = this.#given;
    while (this.#deferred.size > 0 && !stop.aborted) {
      await clock.sleep(lookEveryMs, stop).catch(() => undefined);
      for (const [key, deferred] of this.#deferred) {
        if (stop.aborted || !(await this.#isReady(deferred))) continue;
        if (this.#deferred.delete(key)) fire(deferred.firing);
      }
    }
    this.#isLooking = false;
  }

  async #isReady({ wantedBytes }: Deferred): Promise<boolean> {
    const { store } = this.#given;
    if (wantedBytes !== undefined) return freeBytes(store.folder) >= wantedBytes;
    return (await store.probe()) === undefined;
  }
}

function isOfDisk(problem: unknown): problem is Problem {
  return isUnwritable(problem) || (problem as { code?: unknown } | undefined)?.code === 'DISK_FULL';
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
