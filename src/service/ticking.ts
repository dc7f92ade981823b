import { redact } from '../lib/redact.ts';
import type { ServiceContext } from './context.ts';

/**
 * Polls the clock and runs the work that is due. The clock is read each time, because it can be moved.
 * Returns a function that stops it.
 */
export function startTicking(context: ServiceContext, everyMs: number): () => void {
  const timer = setInterval(() => tick(context), everyMs);
  return () => clearInterval(timer);
}

/** Work that fails (a full disk) is tried again with the next tick. */
function tick(context: ServiceContext): void {
  try {
    runDueWork(context);
  } catch (thrown) {
    context.log.error('scheduled work failed', { error: redact(String(thrown)) });
  }
}

/** Starts a new day and queues refreshes if they are due. Throws what the database throws. */
export function runDueWork({ snapshots, refreshes }: ServiceContext): void {
  snapshots.rollOver();
  refreshes.requestDue();
}

/** Like {@link runDueWork}, for a clock that was set, perhaps back: nothing waits for a time that has passed before. */
export function applyClockChange(context: ServiceContext): void {
  context.snapshots.rewind();
  context.refreshes.rewind();
  runDueWork(context);
}
