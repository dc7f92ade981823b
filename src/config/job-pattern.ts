/** Whether a pattern in `jobs` of an alert rule matches this job; `*` is a wildcard. */
export function fitsJob(pattern: string, job: string): boolean {
  return new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 'u').test(job);
}
