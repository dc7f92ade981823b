import { exit } from './exit.ts';

const codes = { SIGINT: exit.interrupted, SIGTERM: exit.terminated } as const;
/** A second signal means it; work that does not end by then is cut off by the kernel. */
const patienceMs = 9_000;

/** Turns SIGINT and SIGTERM into an aborted signal, so that everything can end well; `code` is what to exit with then. */
export function onStop(): { signal: AbortSignal; code: () => number | undefined; done: () => void } {
  const controller = new AbortController();
  let received: keyof typeof codes | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = (name: NodeJS.Signals): void => {
    if (received !== undefined) process.kill(process.pid, 'SIGKILL');
    received = name as keyof typeof codes;
    controller.abort(new Error(`stopped by ${name}`));
    // Promised is an end within ten seconds (invariant 8): what does not end by itself is ended, and healed at the next start.
    timer = setTimeout(() => process.kill(process.pid, 'SIGKILL'), patienceMs).unref();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const done = (): void => {
    clearTimeout(timer);
    process.off('SIGINT', stop).off('SIGTERM', stop);
  };
  return { signal: controller.signal, code: () => received && codes[received], done };
}
