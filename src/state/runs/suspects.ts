import type { Settings } from '../settings.ts';

/**
 * Returns the name of a job's setting. If the setting exists, the job is a suspect, because one of its runs has blocked
 * the process.
 */
export const settingOf = (job: string): string => `blocked.${job}`;

/**
 * Records that a job is no longer a suspect. Call this when a run of the job has read its source without blocking the
 * process.
 */
export async function clearSuspect({ settings }: { readonly settings: Settings }, job: string): Promise<void> {
  await settings.forget(settingOf(job));
}
