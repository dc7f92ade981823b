import type { Settings } from '../settings.ts';

/** The setting that marks a job as a suspect because one of its runs has blocked the process. */
export const settingOf = (job: string): string => `blocked.${job}`;

/** Call this when a run of the job has read its source without blocking the process. */
export async function clearSuspect({ settings }: { readonly settings: Settings }, job: string): Promise<void> {
  await settings.forget(settingOf(job));
}
