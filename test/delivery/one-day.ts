import { setTimeout as wait } from 'node:timers/promises';
import { dayOf, resumeAfter } from '../../src/delivery/quota.ts';

const minLeftMs = 100_000;

/**
 * If midnight in New York is near, waits for it, so that all requests of a test on the real clock count on the same day.
 */
export async function withinOneDay(): Promise<void> {
  const now = Date.now();
  const leftMs = resumeAfter(dayOf(now)) - now;
  if (leftMs < minLeftMs) await wait(leftMs);
}
