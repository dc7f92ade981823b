import type { Problem } from '../lib/problem.ts';

/** Exit codes. Scripts depend on these codes, so their meaning never changes. */
export const exit = {
  ok: 0,
  /** At least one job failed. */
  failed: 1,
  /** The config or the command line has an error. */
  usage: 2,
  /** A destination rejected the credentials. The payloads stay in the outbox. */
  refused: 3,
  /** The daily allowance is used up. The payloads stay in the outbox until midnight Eastern time. */
  waiting: 4,
  /** A bug in Sluice. */
  bug: 70,
  /** The process stopped so that its service manager will restart it (EX_TEMPFAIL in sysexits.h). */
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

/**
 * Whether one of the command's problems is an incomplete installation. That problem's exit code takes precedence over
 * all others.
 */
export function isBrokenInstallation(problems: Iterable<Problem | undefined>): boolean {
  return [...problems].some((problem) => problem?.code === 'INSTALLATION_INCOMPLETE');
}

/** The exit code of a command that ended with a problem. */
export function exitCodeAfter({ family }: Problem): number {
  return familyExit[family] ?? exit.failed;
}
