import { exit } from './exit.ts';

const codes = { SIGINT: exit.interrupted, SIGTERM: exit.terminated } as const;
/** A second signal means it; work that does not end by then is cut off by the kernel. */
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

/** Turns SIGINT and SIGTERM into an aborted signal, so that everything can end well; `code` is what to exit with then. */
export function onStop(): { signal: AbortSignal; code: () => number | undefined; done: () => void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let echoUntil = 0;
  let isDone = false;
  const leave = (): void => void process.off('SIGINT', stop).off('SIGTERM', stop);
  const stop = (name: NodeJS.Signals): void => {
    if (isDone) {
      // The work is over and the process ends by itself: an echo changes nothing, a new signal means what it always does.
      if (performance.now() <= echoUntil) return;
      leave();
      process.kill(process.pid, name);
      return;
    }
    if (controller.signal.aborted) {
      if (performance.now() > echoUntil) process.kill(process.pid, 'SIGKILL');
      return;
    }
    echoUntil = performance.now() + echoMs;
    received = name as keyof typeof codes;
    controller.abort(new Error(`stopped by ${name}`));
    // Promised is an end within ten seconds (invariant 8): what does not end by itself is ended, and healed at the next start.
    timer = setTimeout(() => process.kill(process.pid, 'SIGKILL'), patienceMs).unref();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const done = (): void => {
    clearTimeout(timer);
    isDone = true;
    if (received !== undefined) setTimeout(() => {}, echoUntil - echoMs + lingerMs - performance.now());
  };
  return { signal: controller.signal, code: stopCode, done };
}
