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

interface UntilAvailableOptions {
  readonly log: Log;
  /** Aborted when the process must end. */
  readonly stop: AbortSignal;
}

/**
 * Runs a step of a daemon's start. Repeats it for up to a minute while the state's server is unreachable or another
 * process holds a lock, and logs that it waits. After that, or if the process must end, throws the step's error.
 */
export async function untilAvailable<T>(step: () => Promise<T>, { log, stop }: UntilAvailableOptions): Promise<T> {
  const { isUnwritable } = await import('../../state/engine/state-problem.ts');
  const end = performance.now() + maxWaitMs;
  for (let tries = 0; ; tries++) {
    try {
      return await step();
    } catch (error) {
      const isPassing = isUnwritable(error) && error.family === 'try_later';
      if (!isPassing || stop.aborted || performance.now() >= end) throw error;
      const { code, message, seen } = error;
      if (tries === 0) log.warn('state.waiting', { code, message, seen });
      await pause(retryMs, undefined, { signal: stop }).catch(() => undefined);
      if (stop.aborted) throw error;
    }
  }
}

/**
 * Opens a daemon's state. Waits for a state on a server. Resolves to undefined if the process must end meanwhile, which
 * isn't an error.
 */
export async function openRuntime(
  given: UntilAvailableOptions & { readonly config: Config },
): Promise<Runtime | undefined> {
  const { composeRuntime } = await import('../../daemon/compose.ts');
  const open = (): Promise<Runtime> => composeRuntime(given);
  if (given.config.stateDatabase === undefined) return open();
  try {
    return await untilAvailable(open, given);
  } catch (error) {
    const { isUnwritable } = await import('../../state/engine/state-problem.ts');
    if (!given.stop.aborted || !isUnwritable(error)) throw error;
    return undefined;
  }
}
