import type { Config, Job } from '../config/config.ts';
import type { Loaded } from '../config/load.ts';
import { commandLine } from '../lib/command-line.ts';
import { forJournal } from '../lib/journal.ts';
import { nearest } from '../lib/nearest.ts';
import { Problem, renderProblem } from '../lib/problem.ts';
import { redact } from '../lib/redact.ts';
import { showTimesIn } from '../lib/time-text.ts';

/** Where the config is looked for when nobody says. */
export const defaultConfig = 'sluice.yaml';

/** The words and default of `--config`, the same for every command. */
export const configFlag = [
  '-c, --config <file>',
  'the config to use',
  process.env.SLUICE_CONFIG ?? defaultConfig,
] as const;

/** What a command that is shown for copying needs behind it to mean this config: ` --config FILE`, or nothing. */
export function configWords(file: string): string {
  if (file === configFlag[2]) return '';
  return ` ${commandLine('--config', file)}`;
}

/** Shows faults (`error`) or remarks (`warn`) of a config. */
export type ShowProblems = (problems: readonly Problem[], level?: 'error' | 'warn') => void | Promise<void>;

/**
 * Loads a config that a command cannot do without, and shows its remarks. Throws if the file as a whole cannot be used: its only
 * fault, or `CONFIG_UNUSABLE` after all its faults have been shown.
 */
export async function openConfig(
  file: string,
  show: ShowProblems = showProblems,
): Promise<Loaded & { config: Config }> {
  const { loadConfig } = await import('../config/load.ts');
  const loaded = await loadConfig(file);
  await show(loaded.warnings, 'warn');
  showTimesIn(loaded.config?.timezone);
  if (loaded.config !== undefined) return { ...loaded, config: loaded.config };
  const [first, ...others] = loaded.problems;
  if (first !== undefined && others.length === 0 && show === showProblems) throw first;
  await show(loaded.problems, 'error');
  throw new Problem({
    code: 'CONFIG_UNUSABLE',
    family: 'config',
    message: `Nothing can be done with ${file} until these are mended`,
    next: 'sluice check',
  });
}

/** Problems for a person, on standard error, secrets out; at the level `warn` they are worth a look and stop nothing. */
export function showProblems(problems: readonly Problem[], level: 'error' | 'warn' = 'error'): void {
  for (const problem of problems) {
    const text = `${level === 'warn' ? 'remark ' : ''}${redact(renderProblem(problem))}`;
    process.stderr.write(`${forJournal(text, { descriptor: process.stderr.fd, level })}\n`);
  }
}

/**
 * The jobs that were named, or all enabled ones. A named job with a fault, or one that is not there, refuses the whole
 * command before anything is done; without names, jobs with faults are left out and returned as `refused`.
 */
export function chooseJobs(
  { config, refused }: Loaded & { config: Config },
  names: readonly string[],
  show: (problems: readonly Problem[]) => unknown = showProblems,
): { jobs: Job[]; refused: ReadonlyMap<string, readonly Problem[]> } {
  if (names.length === 0) return { jobs: [...config.jobs.values()].filter(({ enabled }) => enabled), refused };
  const bad = names.flatMap((name) => refused.get(name) ?? []);
  show([...new Set(bad)]);
  if (bad.length > 0)
    throw new Problem({
      code: 'CONFIG_JOB_REFUSED',
      family: 'config',
      message: 'A job that was named cannot run; nothing was done',
    });
  return {
    jobs: [...new Set(names)].map((name) => config.jobs.get(name) ?? unknownJob(name, config)),
    refused: new Map(),
  };
}

function unknownJob(name: string, { jobs, file }: Config): never {
  const guess = nearest(name, [...jobs.keys()]);
  throw new Problem({
    code: 'CLI_UNKNOWN_JOB',
    family: 'config',
    message: `There is no job "${name}"`,
    where: { file },
    seen: name,
    ...(jobs.size === 0 ? {} : { allowed: [...jobs.keys()].join(', ') }),
    next: guess === undefined ? undefined : `did you mean "${guess}"?`,
  });
}
