import { uptime } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

/** A clock that is injected, so that code that waits or records times can be tested without waiting. */
export interface Clock {
  /** The wall clock's time in epoch milliseconds. It may jump. */
  now(): number;
  /** Monotonic milliseconds, comparable between processes until the machine reboots. */
  monotonic(): number;
  /**
   * Total time for which the machine has been suspended since boot, in milliseconds. During that time, only the wall
   * clock advanced.
   */
  asleep?(): number;
  /**
   * This machine's clock, if this one shows the time of another machine, which can be set. Use it for durations within a
   * process.
   */
  readonly local?: Clock;
  /** Resolves after `milliseconds`; rejects with the signal's reason if aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Milliseconds since boot, including suspended time. This time can't be set, and is the same in all processes. */
export const tickOf = (clock: Clock): number => clock.monotonic() + (clock.asleep?.() ?? 0);

/** The clock of this machine. */
export const localOf = (clock: Clock): Clock => clock.local ?? clock;

/** setTimeout fires immediately for delays over 2^31-1 ms (24.8 days), so longer waits are split up. */
const maxTimerMs = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  asleep: () => uptime() * 1000 - systemClock.monotonic(),
  async sleep(milliseconds, signal) {
    for (let left = milliseconds; left > 0; left -= maxTimerMs) {
      await wait(Math.min(left, maxTimerMs), undefined, signal ? { signal } : {});
    }
    signal?.throwIfAborted();
  },
};
