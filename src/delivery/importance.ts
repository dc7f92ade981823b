import type { JobPriority } from '../config/config.ts';
import type { OutboxRow } from '../state/tables.ts';

/** Ranks by job priority; the higher goes first. */
const rankOf: Readonly<Record<JobPriority, number>> = { high: 2, normal: 1, low: 0 };
const dayMs = 86_400_000;

/** What a job's requests are worth where not all can go at once. */
export function rankOfPriority(priority: JobPriority = 'normal'): number {
  return rankOf[priority];
}

/**
 * The rank of a payload that waits: that of its job, and one more for each day that its instance has waited, so that
 * nothing waits for ever. A clock that was set back below the beginning of the wait counts as no wait.
 */
export function rankOfPayload(
  { waiting_since }: Pick<OutboxRow, 'waiting_since'>,
  { priority, now }: { priority: JobPriority | undefined; now: number },
): number {
  return rankOfPriority(priority) + Math.max(0, Math.floor((now - waiting_since) / dayMs));
}
