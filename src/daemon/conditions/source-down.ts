import { instantText } from '../../lib/time-text.ts';
import { sourcesOf } from '../checks/source-checks.ts';
import type { Condition, Snapshot } from './condition.ts';
import { isOfLoginHold } from './refused-logins.ts';

/**
 * Finds sources that didn't respond to their last check, so that users know before a run fails. If a login caused the
 * failure, it's reported for the login instead of the source.
 */
export function findSilentSources({ overview, jobs, needy }: Snapshot): Condition[] {
  const needing = new Set(needy.map(({ login }) => login));
  return [...sourcesOf(jobs)].flatMap(([{ name, login }, readers]): Condition[] => {
    const [first] = readers;
    const trouble = first === undefined ? undefined : overview.silence(first);
    if (first === undefined || trouble === undefined) return [];
    const { since, code, message, next } = trouble;
    if (isOfLoginHold(first, code, overview)) return [];
    if (login !== undefined && needing.has(login.name) && code.startsWith('LOGIN_')) return [];
    return [
      {
        subject: `source:${name}`,
        kind: 'source',
        level: 'warning',
        since,
        what: `${foretell(readers, overview)}: ${message}`,
        jobs: readers.map((job) => job.name),
        code,
        fix: next ?? 'sluice check --connect',
      },
    ];
  });
}

/** Describes the first run that will fail because of the source. */
function foretell(readers: Snapshot['jobs'], { nextRun }: Snapshot['overview']): string {
  const due = readers.flatMap((job) => {
    const at = nextRun(job);
    return at === undefined ? [] : [{ name: job.name, at }];
  });
  const next = due.sort((a, b) => a.at - b.at)[0];
  if (next === undefined) return `the next run of ${readers.map(({ name }) => name).join(', ')} will fail`;
  return `the next run of ${next.name} at ${instantText(next.at)} will fail`;
}
