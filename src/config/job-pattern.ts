/** Whether a name in `jobs` of a rule for alerts means this job; `*` stands for any letters. */
export function fitsJob(pattern: string, job: string): boolean {
  return new RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`, 'u').test(job);
}
