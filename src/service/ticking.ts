import { redact } from '../lib/redact.ts';
import type { Parts } from './parts.ts';

/**
 * Looks at the clock so often and does what has become due. The clock is asked anew each time, because it can be moved.
 * Answers how to stop.
 */
export function startTicking(parts: Parts, everyMs: number): () => void {
  const timer = setInterval(() => tick(parts), everyMs);
  return () => clearInterval(timer);
}

/** What fails (a full disk) is tried again with the next tick. */
function tick({ days, refreshes, log }: Parts): void {
  try {
    days.turn();
    refreshes.requestDue();
  } catch (thrown) {
    log.error('what is due could not be done', { error: redact(String(thrown)) });
  }
}
