import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Clock } from './clock.ts';

interface Sleeper {
  /** Milliseconds since the clock was made. */
  readonly at: number;
  wake(): void;
}

/**
 * What the event loop holds while it waits for the disk or for another process, or puts something off to its next turn: time must
 * not pass meanwhile.
 */
const unfinished: ReadonlySet<string> = new Set([
  'FSReqPromise',
  'FSReqCallback',
  'CloseReq',
  'Immediate',
  'ProcessWrap',
]);
/** So often the next turn is looked at for what is not finished; what takes longer is looked at once a millisecond. */
const quickTurns = 20;
/** As of a machine that has been up for a while: a monotonic clock near zero would look like one that has just started. */
const upMs = 1_000_000;

/**
 * A clock that only advances when the program is idle: it jumps to the earliest wake-up time, wakes that one sleeper, and waits
 * until the program is idle again. Days pass in seconds, and because events happen one at a time, each run is the same.
 */
export class VirtualClock implements Clock {
  readonly #start: number;
  /** In the order in which they fell asleep. */
  readonly #sleepers = new Set<Sleeper>();
  #elapsed = 0;
  #held = 0;
  /** Resolves when no caller holds the clock. */
  #free = Promise.withResolvers<void>();

  /** `start`: the first instant, epoch milliseconds. */
  constructor(start: number) {
    this.#start = start;
  }

  /** Whole milliseconds, as clocks on walls give them. */
  now(): number {
    return this.#start + Math.floor(this.#elapsed);
  }

  monotonic(): number {
    return upMs + this.#elapsed;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (milliseconds <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper: Sleeper = { at: this.#elapsed + milliseconds, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Lets no time pass until the function returned is called: something real is under way that cannot be seen from here. */
  hold(): () => void {
    if (this.#held === 0) this.#free = Promise.withResolvers();
    this.#held += 1;
    let isHolding = true;
    return () => {
      if (isHolding) this.#held -= 1;
      isHolding = false;
      if (this.#held === 0) this.#free.resolve();
    };
  }

  /** Lets time pass until `work` has ended; its outcome. Rejects with the signal's reason when aborted first. */
  async drive<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
    let hasEnded = false;
    const end = (): void => {
      hasEnded = true;
    };
    work.then(end, end);
    for (;;) {
      await this.#rest();
      signal?.throwIfAborted();
      if (hasEnded) return work;
      this.#wakeNext();
    }
  }

  /** To ask again and again costs as much as what is waited for: who holds the clock says when, and the disk is asked seldom. */
  async #rest(): Promise<void> {
    for (let turns = 1; ; turns++) {
      if (this.#held > 0) await this.#free.promise;
      await (turns < quickTurns ? nextTurn() : pause(1));
      if (this.#held === 0 && !isBusy()) return;
    }
  }

  #wakeNext(): void {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (next === undefined || sleeper.at < next.at) next = sleeper;
    if (next === undefined || next.at === Number.POSITIVE_INFINITY) return;
    this.#sleepers.delete(next);
    this.#elapsed = Math.max(this.#elapsed, next.at);
    next.wake();
  }
}

function isBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => unfinished.has(name));
}
