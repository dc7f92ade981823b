import { type Loaded, type LoadOptions, loadConfig } from './load.ts';

/** The result of `sluice check`, which doesn't need network access. */
export interface Checked extends Omit<Loaded, 'made'> {
  /** The result of the check in one sentence. */
  readonly verdict: string;
}

/** Loads a config to find its errors. `sluice check` exits with code 2 if there are errors, otherwise with 0. */
export async function checkConfig(file: string, options: LoadOptions = {}): Promise<Checked> {
  const loaded = await loadConfig(file, { ...options, everyConnector: true });
  return { ...loaded, verdict: verdictOf(file, loaded) };
}

function verdictOf(file: string, { config, problems, warnings, refused }: Omit<Checked, 'verdict'>): string {
  const jobs = config?.jobs.size ?? 0;
  const remarks = warnings.length === 0 ? '' : `, ${count(warnings.length, 'warning')}`;
  if (problems.length === 0) return `${file}: ${count(jobs, 'job')}, no errors${remarks}`;
  const faults = `${file}: ${count(problems.length, 'error')}${remarks}`;
  if (config === undefined) return `${faults}; no job can run until they are fixed`;
  return refused.size === 0 ? faults : `${faults}; ${count(refused.size, 'job')} cannot run, ${jobs} can`;
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
