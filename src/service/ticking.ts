import { redact } from '../lib/redact.ts';
import type { ServiceContext } from './context.ts';

/**
 * Polls the clock and runs the work that is due. Polling is necessary because tests can change the clock. Returns a
 * function that stops the polling.
 */
export function startTicking(context: ServiceContext, everyMs: number): () => void {
  const timer = setInterval(() => tick(context), everyMs);
  return () => clearInterval(timer);
}

/** Runs the work that is due. If the work fails, such as because the disk is full, the next tick tries again. */
function tick(context: ServiceContext): void {
  try {
    runDueWork(context);
  } catch (thrown) {
    context.log.error('scheduled work failed', { error: redact(String(thrown)) });
  }
}

/**
 * Starts a new day if the previous one has ended, and queues refreshes that are due. Throws errors from the database.
 */
export function runDueWork({ snapshots, refreshes }: ServiceContext): void {
  snapshots.rollOver();
  refreshes.requestDue();
}

/**
 * Adjusts stored times after the clock was set, then runs the work that is due. If the clock was set back, no work
 * waits for a time that the clock had already reached.
 */
export function applyClockChange(context: ServiceContext): void {
  context.snapshots.rewind();
  context.refreshes.rewind();
  runDueWork(context);
}
