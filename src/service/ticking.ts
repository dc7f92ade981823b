import { redact } from '../lib/redact.ts';
import type { ServiceContext } from './context.ts';

/**
 * Looks at the clock so often and does what has become due. The clock is asked anew each time, because it can be moved.
 * Answers how to stop.
 */
export function startTicking(context: ServiceContext, everyMs: number): () => void {
  const timer = setInterval(() => tick(context), everyMs);
  return () => clearInterval(timer);
}

/** What fails (a full disk) is tried again with the next tick. */
function tick(context: ServiceContext): void {
  try {
    runDueWork(context);
  } catch (thrown) {
    context.log.error('what is due could not be done', { error: redact(String(thrown)) });
  }
}

/** Turns the day and queues refreshes, when it is time for them. Throws what the database throws. */
export function runDueWork({ snapshots, refreshes }: ServiceContext): void {
  snapshots.rollOver();
  refreshes.requestDue();
}

/** The same after the clock was set, perhaps back: nothing waits for a time that has to come a second time. */
export function applyClockChange(context: ServiceContext): void {
  context.snapshots.rewind();
  context.refreshes.rewind();
  runDueWork(context);
}
