import { uptime } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

/** Time is handed in, so that everything that waits or dates something can be tested without waiting. */
export interface Clock {
  /** Wall clock, milliseconds since 1970 UTC. May jump. */
  now(): number;
  /** Milliseconds that never jump back, comparable between processes of one boot of this machine. */
  monotonic(): number;
  /** Milliseconds of this boot that the machine has slept: the wall clock has gone on meanwhile, the monotonic one has not. */
  asleep?(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Milliseconds of this boot, those included that the machine has slept. No one sets it, and all processes of a boot share it. */
export const tickOf = (clock: Clock): number => clock.monotonic() + (clock.asleep?.() ?? 0);

/** setTimeout fires at once for delays beyond 2^31-1 ms (24.8 days), so longer waits are taken in pieces. */
const longestTimer = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  asleep: () => uptime() * 1000 - systemClock.monotonic(),
  async sleep(milliseconds, signal) {
    for (let left = milliseconds; left > 0; left -= longestTimer) {
      await wait(Math.min(left, longestTimer), undefined, signal ? { signal } : {});
    }
    signal?.throwIfAborted();
  },
};
