import type { JobPriority } from '../config/config.ts';
import type { OutboxRow } from '../state/tables.ts';

/** The rank for each job priority; a higher rank goes first. */
const rankOf: Readonly<Record<JobPriority, number>> = { high: 2, normal: 1, low: 0 };
const dayMs = 86_400_000;

/** Rank of a job's requests. */
export function rankOfPriority(priority: JobPriority = 'normal'): number {
  return rankOf[priority];
}

/**
 * A waiting payload's rank: its job's rank, plus one for each day that its instance has waited, so that no payload
 * starves. If the clock was set back to before the wait began, the wait counts as zero.
 */
export function rankOfPayload(
  { waiting_since }: Pick<OutboxRow, 'waiting_since'>,
  { priority, now }: { priority: JobPriority | undefined; now: number },
): number {
  return rankOfPriority(priority) + Math.max(0, Math.floor((now - waiting_since) / dayMs));
}
