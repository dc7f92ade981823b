import type { Job } from '../../config/config.ts';
import { countOf } from '../../lib/count-text.ts';
import { loginText } from '../login-holds/account.ts';
import { onHold, resumeAdvice, retryText } from '../login-holds/problem.ts';
import type { Overview } from '../report/overview.ts';
import type { Condition, Snapshot } from './condition.ts';

/** Finds refused logins that are on hold, with the jobs that wait for them. */
export function findRefusedLogins({ overview, jobs }: Pick<Snapshot, 'overview' | 'jobs'>): Condition[] {
  return [...overview.loginHolds].map(([source, hold]): Condition => {
    const waiting = jobs.filter(({ extract }) => extract?.source.name === source).map(({ name }) => name);
    const wait = waiting.length === 1 ? 'is waiting' : 'are waiting';
    return {
      subject: `source:${source}`,
      kind: 'login_refused',
      level: 'error',
      since: hold.since,
      what: `login refused at ${loginText(hold)}; ${countOf(waiting.length, 'job')} ${wait}; ${retryText(hold)}`,
      jobs: waiting,
      code: hold.code,
      fix: resumeAdvice(source),
      ...(hold.retry_at === null ? {} : { until: hold.retry_at }),
    };
  });
}

/** Whether a job failed because its source's login was refused. A separate condition reports the login. */
export function isOfLoginHold(
  { extract }: Job,
  code: string | null,
  { loginHolds }: Pick<Overview, 'loginHolds'>,
): boolean {
  const hold = loginHolds.get(extract?.source.name ?? '');
  return hold !== undefined && (code === hold.code || code === onHold);
}
