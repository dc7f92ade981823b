import { instantText } from '../../lib/time-text.ts';
import { sourcesOf } from '../checks/source-checks.ts';
import type { Found, Ground } from './look.ts';

/** Sources that did not answer when they were looked at, before a run has failed over it. What a login is to blame for is told as that. */
export function silences({ overview, jobs, needy }: Ground): Found[] {
  const needing = new Set(needy.map(({ login }) => login));
  return [...sourcesOf(jobs)].flatMap(([{ name, login }, readers]): Found[] => {
    const [first] = readers;
    const trouble = first === undefined ? undefined : overview.silence(first);
    if (trouble === undefined) return [];
    const { since, code, message } = trouble;
    if (login !== undefined && needing.has(login.name) && code.startsWith('LOGIN_')) return [];
    const what = `${foretell(readers, overview)}: ${message}`;
    const job = readers.length === 1 ? { job: readers[0]! } : {};
    return [{ ...job, subject: `source:${name}`, occasion: 'source', level: 1, cause: '', since, what, code }];
  });
}

/** Which run will be the first to fail. */
function foretell(readers: Ground['jobs'], { nextAt }: Ground['overview']): string {
  const due = readers.flatMap((job) => {
    const at = nextAt(job);
    return at === undefined ? [] : [{ name: job.name, at }];
  });
  const next = due.sort((a, b) => a.at - b.at)[0];
  if (next === undefined) return `the next run of ${readers.map(({ name }) => name).join(', ')} will fail`;
  return `the next run of ${next.name} at ${instantText(next.at)} will fail`;
}
