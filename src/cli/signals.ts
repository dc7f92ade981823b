import { killSelf } from '../lib/kill-self.ts';
import { exit } from './exit.ts';

const codes = { SIGINT: exit.interrupted, SIGTERM: exit.terminated } as const;
/**
 * How long the process has to exit by itself after a signal before it's killed. A second signal kills the process
 * immediately.
 */
const patienceMs = 9_000;
/**
 * A signal that arrives this soon after the first one is a duplicate: the terminal sends Ctrl-C to the whole process
 * group, and npm forwards the signal as well.
 */
const echoMs = 1_000;
/**
 * Minimum time between the signal and the exit. During teardown, Node no longer handles signals, so a duplicate would
 * kill the process and hide its exit code.
 */
const lingerMs = 250;

let received: keyof typeof codes | undefined;

/** Returns the exit code for the received signal, or undefined if no signal was received. */
export function stopCode(): number | undefined {
  return received && codes[received];
}

/** A request to shut down the process. */
export interface StopSignal {
  /** Aborted when the process must shut down. */
  readonly signal: AbortSignal;
  /** Returns the exit code for the received signal, or undefined if no signal was received. */
  readonly code: () => number | undefined;
  /** Requests a shutdown from within the process, with the same timeout as for a signal. */
  readonly end: (reason: Error) => void;
  /** The caller must call this function when its work is done. */
  readonly done: () => void;
}

/** Converts SIGINT and SIGTERM to an abort signal, for a graceful shutdown. */
export function onStop(): StopSignal {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let echoUntil = 0;
  let isDone = false;
  const leave = (): void => void process.off('SIGINT', stop).off('SIGTERM', stop);
  const end = (reason: Error): void => {
    if (controller.signal.aborted) return;
    controller.abort(reason);
    // Invariant 8 guarantees that the process exits within ten seconds. If the process doesn't exit by itself, this
    // timer kills it, and the next start recovers.
    timer = setTimeout(killSelf, patienceMs).unref();
  };
  const stop = (name: NodeJS.Signals): void => {
    if (isDone) {
      // The work is done and the process is exiting. Ignore a duplicate of the last signal, but let a new signal kill
      // the process as usual.
      if (performance.now() <= echoUntil) return;
      leave();
      process.kill(process.pid, name);
      return;
    }
    if (controller.signal.aborted && received !== undefined) {
      if (performance.now() > echoUntil) killSelf();
      return;
    }
    echoUntil = performance.now() + echoMs;
    received = name as keyof typeof codes;
    end(new Error(`stopped by ${name}`));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const done = (): void => {
    clearTimeout(timer);
    isDone = true;
    if (received !== undefined) setTimeout(() => {}, Math.max(0, echoUntil - echoMs + lingerMs - performance.now()));
  };
  return { signal: controller.signal, code: stopCode, end, done };
}
