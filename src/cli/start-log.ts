import type { Level, Log } from '../lib/log.ts';
import { type ShowProblems, showProblems } from './config-file.ts';
import { logProblems } from './log-problems.ts';

/** A daemon's log on standard output, and how config errors are shown at startup. */
export interface StartLog {
  /** Opens the log on first use. If there are no errors, it's loaded in parallel with the rest of the start. */
  open(): Promise<Log>;
  /** Writes log lines if the output is for machines, otherwise text on standard error. */
  readonly show: ShowProblems;
  readonly isForPeople: boolean;
}

export function startLog(level: Level): StartLog {
  const isForPeople = process.stdout.isTTY === true || level === 'silent';
  let opened: Promise<Log> | undefined;
  const open = (): Promise<Log> => (opened ??= openOnOutput(level));
  const show: ShowProblems = async (problems, at) => {
    if (problems.length > 0) logProblems(await open(), problems, at);
  };
  return { open, isForPeople, show: isForPeople ? showProblems : show };
}

async function openOnOutput(level: Level): Promise<Log> {
  const { openLogOn } = await import('./human-log.ts');
  return openLogOn(process.stdout, level);
}
