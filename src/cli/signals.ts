import { killSelf } from '../lib/kill-self.ts';
import { exit } from './exit.ts';

const codes = { SIGINT: exit.interrupted, SIGTERM: exit.terminated } as const;
/** A second signal means it; work that does not end by then is killed. */
const patienceMs = 9_000;
/** Ctrl-C reaches everybody in the terminal's group, and npm passes it on as well: what comes so soon is the same one. */
const echoMs = 1_000;
/**
 * Work that ends at once stays this long after the signal: while a process is being taken down Node hears no signals any
 * more, and an echo that comes then would kill it and hide its exit code.
 */
const lingerMs = 250;

let received: keyof typeof codes | undefined;

/** What this process is to exit with because a signal told it to end; undefined when none did. */
export function stopCode(): number | undefined {
  return received && codes[received];
}

/** How a process is told to end. */
export interface StopSignal {
  /** Aborted when it is to end. */
  readonly signal: AbortSignal;
  /** What to exit with because of a signal; undefined when none came. */
  readonly code: () => number | undefined;
  /** Ends it from within, with the same patience as a signal does. */
  readonly end: (reason: Error) => void;
  /** Its work is over. */
  readonly done: () => void;
}

/** Turns SIGINT and SIGTERM into an aborted signal, so that everything can end well. */
export function onStop(): StopSignal {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let echoUntil = 0;
  let isDone = false;
  const leave = (): void => void process.off('SIGINT', stop).off('SIGTERM', stop);
  const end = (reason: Error): void => {
    if (controller.signal.aborted) return;
    controller.abort(reason);
    // Promised is an end within ten seconds (invariant 8): what does not end by itself is ended, and healed at the next start.
    timer = setTimeout(killSelf, patienceMs).unref();
  };
  const stop = (name: NodeJS.Signals): void => {
    if (isDone) {
      // The work is over and the process ends by itself: an echo changes nothing, a new signal means what it always does.
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
