import { statfsSync } from 'node:fs';
import type { Emit } from '../../lib/events.ts';
import type { Problem } from '../../lib/problem.ts';
import { isUnwritable } from '../../state/engine/state-problem.ts';
import type { Store } from '../../state/store.ts';
import type { RunEvents } from '../events.ts';
import type { Firing } from './firing.ts';
import type { WaitingFirings } from './waiting-firings.ts';

/**
 * Additional free space in bytes that is required before a run that failed for lack of disk space is repeated. Each
 * repetition reads the run's source again.
 */
const moreBytes = 1_000_000;

export interface DiskRetriesOptions {
  readonly store: Store;
  /** The firings that are waiting for the disk. */
  readonly waiting: WaitingFirings;
  readonly emit: Emit<RunEvents>;
  /** Repeats a firing that failed because of a disk problem. */
  readonly fire: (firing: Firing) => void;
  /** Aborted when the daemon stops. */
  readonly stop: AbortSignal;
}

/**
 * Firings that failed because the disk was full, failing or read-only. They fire again once the disk works. Otherwise,
 * a disk that is full for one night would cost a daily job its run.
 */
export class DiskRetries {
  readonly #options: DiskRetriesOptions;

  constructor(options: DiskRetriesOptions) {
    this.#options = options;
  }

  /**
   * Repeats the firing once the disk works. Returns false if the problem wasn't caused by the disk. `began` is true if
   * the run is in the history.
   */
  defer(firing: Firing, { problem, began }: { problem: unknown; began: boolean }): boolean {
    const { store, waiting, emit, fire, stop } = this.#options;
    if (!isOfDisk(problem) || stop.aborted) return false;
    const wantedBytes = began && isOfSpace(problem, store) ? freeBytes(store.folder) + moreBytes : undefined;
    waiting.add(firing, async () => ((await this.#isReady(wantedBytes)) ? () => fire(firing) : undefined));
    const { code, message } = problem;
    emit('firing.deferred', { job: firing.job.name, at: firing.at, code, message });
    return true;
  }

  /** `wantedBytes` is the space that must be free. If it's undefined, the state only has to be writable. */
  async #isReady(wantedBytes: number | undefined): Promise<boolean> {
    const { store } = this.#options;
    return wantedBytes === undefined ? (await store.probe()) === undefined : freeBytes(store.folder) >= wantedBytes;
  }
}

/** Whether a firing that failed with this problem must wait for the disk. */
export function isOfDisk(problem: unknown): problem is Problem {
  return isUnwritable(problem) || (problem as { code?: unknown } | undefined)?.code === 'DISK_FULL';
}

/** Whether the folder's disk has no space. Otherwise, the state only has to be writable again. */
const isOfSpace = ({ code }: Problem, { folder, label }: Store): boolean =>
  code === 'DISK_FULL' || (code === 'STATE_FULL' && label === folder);

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
