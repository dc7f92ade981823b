/** Whether a pattern from an alert rule's `jobs` matches this job. `*` is a wildcard. */
export function fitsJob(pattern: string, job: string): boolean {
  return new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 'u').test(job);
}
