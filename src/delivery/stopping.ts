import type { Clock } from '../lib/clock.ts';

/** Grace period for requests in progress when delivery stops. */
const graceMs = 3_000;

/** A signal that follows `signal` after a grace period. Call `dispose` when it's no longer needed. */
export function afterGrace(signal: AbortSignal, clock: Clock): { cut: AbortSignal; dispose(): void } {
  const cut = new AbortController();
  const ended = new AbortController();
  const onAbort = () => {
    clock.sleep(graceMs, ended.signal).then(
      () => cut.abort(signal.reason),
      () => undefined,
    );
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const dispose = () => {
    signal.removeEventListener('abort', onAbort);
    ended.abort();
  };
  return { cut: cut.signal, dispose };
}
