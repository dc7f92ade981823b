import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Clock } from './clock.ts';

interface Sleeper {
  /** Wake-up time, in milliseconds since the clock was created. */
  readonly at: number;
  wake(): void;
}

/**
 * Kinds of pending event-loop work that wait for the disk, another process, or the next tick. Time must not pass until
 * they're done.
 */
const unfinished: ReadonlySet<string> = new Set([
  'FSReqPromise',
  'FSReqCallback',
  'CloseReq',
  'Immediate',
  'ProcessWrap',
]);
/** For this many ticks, pending work is polled on each tick; after that, once a millisecond. */
const quickTurns = 20;
/**
 * Simulates a machine that has been up for a while, because a monotonic clock near zero looks like a machine that just
 * started.
 */
const upMs = 1_000_000;

/**
 * A clock that advances only when the program is idle: it jumps to the earliest wake-up time, wakes that one sleeper,
 * and waits until the program is idle again. Days pass in seconds, and every run is the same, because events happen one
 * at a time.
 */
export class VirtualClock implements Clock {
  readonly #start: number;
  /** Sleepers in the order in which they started to sleep. */
  readonly #sleepers = new Set<Sleeper>();
  #elapsed = 0;
  #held = 0;
  /** Resolves when no caller holds the clock. */
  #free = Promise.withResolvers<void>();

  /** `start`: the initial time, epoch milliseconds. */
  constructor(start: number) {
    this.#start = start;
  }

  /** The time in whole milliseconds, like a real wall clock. */
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

  /** Stops time until the returned function is called. Use it for real work that the clock can't detect. */
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

  /** Lets time pass until `work` settles, and returns its result. Rejects with the signal's reason if aborted first. */
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

  /**
   * Waits until the program is idle. Polling costs as much as the work itself, so holders notify the clock, and the
   * disk is polled rarely.
   */
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
