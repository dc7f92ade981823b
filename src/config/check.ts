import type { Problem } from '../lib/problem.ts';
import type { Config } from './config.ts';
import { type LoadOptions, loadConfig } from './load.ts';

/** What `sluice check` has to say about a file, without having touched a network. */
export interface Checked {
  /** Everything that can be used. Absent when the file as a whole cannot. */
  readonly config?: Config;
  /** Every fault, by line. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly refused: ReadonlyMap<string, readonly Problem[]>;
  /** One sentence for the end. */
  readonly verdict: string;
}

/** Loads a config to find its faults. `verdict` sums up; the exit code is 2 when there is any problem, else 0. */
export async function checkConfig(file: string, options: LoadOptions = {}): Promise<Checked> {
  const loaded = await loadConfig(file, { ...options, everyConnector: true });
  return { ...loaded, verdict: verdictOf(file, loaded) };
}

function verdictOf(file: string, { config, problems, warnings, refused }: Omit<Checked, 'verdict'>): string {
  const jobs = config?.jobs.size ?? 0;
  const remarks = warnings.length === 0 ? '' : `, ${count(warnings.length, 'remark')}`;
  if (problems.length === 0) return `${file}: ${count(jobs, 'job')}, no fault${remarks}`;
  const faults = `${file}: ${count(problems.length, 'fault')}${remarks}`;
  if (config === undefined) return `${faults}; nothing can run until the file is mended`;
  return refused.size === 0 ? faults : `${faults}; ${count(refused.size, 'job')} cannot run, ${jobs} can`;
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
