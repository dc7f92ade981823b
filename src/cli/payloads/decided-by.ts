import { hostname, userInfo } from 'node:os';
import type { DecidedBy } from '../../state/runs/audit.ts';

/** The name of the current user, for the audit log. */
export function currentDecider(why: string | undefined): DecidedBy {
  return { who: `${nameOf()}@${hostname()}`, why: why ?? '' };
}

/** In a container, the process's UID may have no user name. */
function nameOf(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}

/** The `--why` flag, shared by all commands that record a decision. */
export const whyFlag = ['--why <text>', 'a reason, recorded with your name and the time'] as const;
