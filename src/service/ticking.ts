import { redact } from '../lib/redact.ts';
import type { Parts } from './context.ts';

/**
 * Looks at the clock so often and does what has become due. The clock is asked anew each time, because it can be moved.
 * Answers how to stop.
 */
export function startTicking(parts: Parts, everyMs: number): () => void {
  const timer = setInterval(() => tick(parts), everyMs);
  return () => clearInterval(timer);
}

/** What fails (a full disk) is tried again with the next tick. */
function tick(parts: Parts): void {
  try {
    doWhatIsDue(parts);
  } catch (thrown) {
    parts.log.error('what is due could not be done', { error: redact(String(thrown)) });
  }
}

/** Turns the day and queues refreshes, when it is time for them. Throws what the database throws. */
export function doWhatIsDue({ days, refreshes }: Parts): void {
  days.turn();
  refreshes.requestDue();
}

/** The same after the clock was set, perhaps back: nothing waits for a time that has to come a second time. */
export function followClock(parts: Parts): void {
  parts.days.rewind();
  parts.refreshes.rewind();
  doWhatIsDue(parts);
}
