import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import type { Runtime } from '../../daemon/compose.ts';
import type { Log } from '../../lib/log.ts';

/**
 * How long a starting daemon waits for its state, in milliseconds. It's longer than a stopped process can keep a lock,
 * and shorter than systemd waits for a service to start.
 */
const maxWaitMs = 60_000;
const retryMs = 2_000;

interface StartOptions {
  readonly config: Config;
  readonly log: Log;
  /** Aborted when the process must end. */
  readonly stop: AbortSignal;
}

/** A clock that can't be set; tests inject their own. */
const ownClock = {
  now: () => performance.now(),
  pause: (ms: number, signal: AbortSignal): Promise<void> => pause(ms, undefined, { signal }),
};

/** Runs a step of a daemon's start that needs the state. */
export type RunStep = <T>(step: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs the steps of a daemon's start. If the state is on a server, the function repeats a step
 * while the server is unreachable or another process holds a lock, and logs that it waits. If all failed tries and the
 * pauses after them have taken a minute, or if the process must end, the function throws the step's error.
 */
export function untilAvailable({ config, log, stop }: StartOptions, clock = ownClock): RunStep {
  if (config.stateDatabase === undefined) return (step) => step();
  let leftMs = maxWaitMs;
  return async (step) => {
    const { isUnwritable } = await import('../../state/engine/state-problem.ts');
    for (let tries = 0; ; tries++) {
      const begunAt = clock.now();
      try {
        return await step();
      } catch (error) {
        const isPassing = isUnwritable(error) && error.family === 'try_later';
        if (!isPassing || stop.aborted || leftMs <= 0) throw error;
        const { code, message, seen } = error;
        if (tries === 0) log.warn('state.waiting', { code, message, seen });
        await clock.pause(retryMs, stop).catch(() => undefined);
        if (stop.aborted) throw error;
        leftMs -= clock.now() - begunAt;
      }
    }
  };
}

/**
 * Opens a daemon's state, as a step of its start. Resolves to undefined if the process must end meanwhile, which isn't an
 * error.
 */
export async function openRuntime(given: StartOptions, runStep: RunStep): Promise<Runtime | undefined> {
  const { stop } = given;
  if (stop.aborted) return undefined;
  const { composeRuntime } = await import('../../daemon/compose.ts');
  try {
    return await runStep(() => composeRuntime(given));
  } catch (error) {
    const { isUnwritable } = await import('../../state/engine/state-problem.ts');
    if (!stop.aborted || !isUnwritable(error)) throw error;
    return undefined;
  }
}
