import type { Config, Job } from '../config/config.ts';
import { defaultConfigIn } from '../config/default-paths.ts';
import type { Loaded, LoadOptions } from '../config/load.ts';
import { commandLine } from '../lib/command-line.ts';
import { forJournal } from '../lib/journal.ts';
import { didYouMean } from '../lib/nearest.ts';
import { Problem, renderProblem } from '../lib/problem.ts';
import { redact } from '../lib/redact.ts';
import { showTimesIn } from '../lib/time-text.ts';

/** The `--config` flag with its description and default, which are the same for every command. */
export const configFlag = ['-c, --config <file>', 'path of the config', defaultConfigIn(process.env)] as const;

/** The `--without-secrets` flag with its description, for commands that don't need secrets. */
export const withoutSecretsFlag = [
  '--without-secrets',
  "for checks in CI: don't read secrets or run commands, and accept variables that are not set",
] as const;

/**
 * The arguments that make a suggested command use this config: ` --config FILE`, or an empty string for the default
 * config.
 */
export function configArguments(file: string): string {
  if (file === configFlag[2]) return '';
  return ` ${commandLine('--config', file)}`;
}

/** Shows the errors or warnings in a config. */
export type ShowProblems = (problems: readonly Problem[], level?: 'error' | 'warn') => void | Promise<void>;

/**
 * Loads a command's config and shows its warnings. If the whole file can't be used, throws the error if there is only
 * one; otherwise, shows all errors and throws `CONFIG_UNUSABLE`. If `signal` was aborted meanwhile, throws its reason.
 */
export async function openConfig(
  file: string,
  show: ShowProblems = showProblems,
  options: Pick<LoadOptions, 'withoutSecrets' | 'signal'> = {},
): Promise<Loaded & { config: Config }> {
  const { loadConfig } = await import('../config/load.ts');
  const loaded = await loadConfig(file, options);
  options.signal?.throwIfAborted();
  await show(loaded.warnings, 'warn');
  showTimesIn(loaded.config?.timezone);
  if (loaded.config !== undefined) return { ...loaded, config: loaded.config };
  const [first, ...others] = loaded.problems;
  if (first !== undefined && others.length === 0 && show === showProblems) throw first;
  await show(loaded.problems, 'error');
  throw new Problem({
    code: 'CONFIG_UNUSABLE',
    family: 'config',
    message: `Cannot use ${file}: fix these errors first`,
    next: 'sluice check',
  });
}

/** Prints problems to stderr, with secrets redacted. Problems with level `warn` don't stop the command. */
export function showProblems(problems: readonly Problem[], level: 'error' | 'warn' = 'error'): void {
  for (const problem of problems) {
    const text = `${level === 'warn' ? 'warning ' : ''}${redact(renderProblem(problem))}`;
    process.stderr.write(`${forJournal(text, { descriptor: process.stderr.fd, level })}\n`);
  }
}

/**
 * The named jobs, or all enabled jobs if none is named. Throws before any job runs if a named job is unknown or has an
 * error. If no job is named, jobs with errors are left out and returned as `refused`.
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
      message: 'Nothing was done: a requested job has errors',
    });
  return {
    jobs: [...new Set(names)].map((name) => config.jobs.get(name) ?? unknownJob(name, config)),
    refused: new Map(),
  };
}

function unknownJob(name: string, { jobs, file }: Config): never {
  throw new Problem({
    code: 'CLI_UNKNOWN_JOB',
    family: 'config',
    message: `Unknown job "${name}"`,
    where: { file },
    seen: name,
    ...(jobs.size === 0 ? {} : { allowed: [...jobs.keys()].join(', ') }),
    next: didYouMean(name, [...jobs.keys()]),
  });
}
