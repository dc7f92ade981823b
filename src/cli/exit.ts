import type { Problem } from '../lib/problem.ts';

/** What the process answers to whoever started it. Scripts branch on these; they never change their meaning. */
export const exit = {
  ok: 0,
  /** Some job failed; the others are done. */
  failed: 1,
  /** The config or the command line has a fault; nothing was sent. */
  usage: 2,
  /** The destination refuses our credentials; what is owed stays owed. */
  refused: 3,
  /** The day's allowance is spent; what is owed waits for midnight Eastern, nothing is lost. */
  waiting: 4,
  /** A bug of ours. */
  bug: 70,
  /** The process ended itself so that its service manager starts it again; EX_TEMPFAIL of sysexits.h. */
  restart: 75,
  interrupted: 130,
  terminated: 143,
} as const;

const familyExit: Partial<Record<Problem['family'], number>> = {
  config: exit.usage,
  login: exit.refused,
  quota: exit.waiting,
  bug: exit.bug,
};

/** Whether one of the problems of a command is a part of the installed package that is missing: it outranks the others. */
export function isBrokenInstallation(problems: Iterable<Problem | undefined>): boolean {
  return [...problems].some((problem) => problem?.code === 'INSTALLATION_INCOMPLETE');
}

/** The exit code of a command that a problem ended. */
export function exitCodeAfter({ family }: Problem): number {
  return familyExit[family] ?? exit.failed;
}
