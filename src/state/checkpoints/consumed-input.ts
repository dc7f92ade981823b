import type { Settings } from '../settings.ts';

const prefix = 'consumed_input:';

type Inputs = Pick<Settings, 'find' | 'addOnce' | 'forget'>;

/** The lease of the process that moves or deletes what a job has read. */
export const actionLease = (job: string): string => `after:${job}`;

/**
 * Records that a job moves or deletes what it has read, so it can't start over without losing rows. Call this before
 * the first change of the source. The record survives changes of the config; only a person's decision removes it.
 */
export async function markInputConsumed(settings: Inputs, job: string, run: string): Promise<void> {
  await settings.addOnce(prefix + job, run);
}

/** The run whose files were the first to be moved or deleted; undefined if the source still has all files. */
export function findInputConsumer(settings: Inputs, job: string): Promise<string | undefined> {
  return settings.find(prefix + job);
}

/** Call this if a person has decided that the job starts over. */
export async function forgetInputConsumed(settings: Inputs, job: string): Promise<void> {
  await settings.forget(prefix + job);
}
