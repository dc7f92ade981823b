import { hostname, userInfo } from 'node:os';
import type { DecidedBy } from '../../state/runs/audit.ts';

/** The current user, for the audit log. */
export function currentDecider(why: string | undefined): DecidedBy {
  return { who: `${nameOf()}@${hostname()}`, why: why ?? '' };
}

/** A container may run with a UID that has no user name. */
function nameOf(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}

/** The `--why` flag, the same for every command that records a decision. */
export const whyFlag = ['--why <text>', 'a reason, recorded with your name and the time'] as const;
