import { redact } from '../lib/redact.ts';
import type { ServiceContext } from './context.ts';

/**
 * Polls the clock and runs the work that is due. The clock is read each time, because tests can change it. Returns a
 * function that stops it.
 */
export function startTicking(context: ServiceContext, everyMs: number): () => void {
  const timer = setInterval(() => tick(context), everyMs);
  return () => clearInterval(timer);
}

/** If the work fails (because the disk is full, for example), the next tick retries it. */
function tick(context: ServiceContext): void {
  try {
    runDueWork(context);
  } catch (thrown) {
    context.log.error('scheduled work failed', { error: redact(String(thrown)) });
  }
}

/** Starts a new day and queues refreshes if they are due. Passes on errors from the database. */
export function runDueWork({ snapshots, refreshes }: ServiceContext): void {
  snapshots.rollOver();
  refreshes.requestDue();
}

/**
 * Like {@link runDueWork}, but after the clock was set. If it was set back, nothing waits for a time that it had
 * already reached.
 */
export function applyClockChange(context: ServiceContext): void {
  context.snapshots.rewind();
  context.refreshes.rewind();
  runDueWork(context);
}
