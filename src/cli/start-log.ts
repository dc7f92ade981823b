import type { Level, Log } from '../lib/log.ts';
import { type ShowProblems, showProblems } from './config-file.ts';
import { logProblems } from './log-problems.ts';

/** The log of a daemon on standard output, and how the problems of its config are shown at the start. */
export interface StartLog {
  /** Opened when it is first needed: a start without faults loads it beside the rest. */
  open(): Promise<Log>;
  /** Lines of the log if it is read by machines, else text on standard error. */
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
