import type { Config, Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { countOf } from '../../lib/count-text.ts';
import type { Store } from '../../state/store.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import { loginText } from '../login-holds/account.ts';
import { LoginBreaker } from '../login-holds/login-breaker.ts';
import { onHold, resumeAdvice, retryText } from '../login-holds/problem.ts';
import type { Condition, Snapshot } from './condition.ts';

/** The holds on logins of a config's sources, by the name of the source. */
export async function readLoginHolds(
  config: Config,
  store: Store,
  clock: Clock,
): Promise<ReadonlyMap<string, LoginHoldRow>> {
  const found = new Map<string, LoginHoldRow>();
  if ((await store.loginHolds.all()).length === 0) return found;
  const gate = new LoginBreaker({ store, clock, emit: () => undefined, ...config });
  for (const source of config.sources.values()) {
    const hold = await gate.find(source);
    if (hold !== undefined) found.set(source.name, hold);
  }
  return found;
}

/** Logins that were refused and are not sent again for now, with the jobs that wait. */
export function findRefusedLogins({ loginHolds, jobs }: Pick<Snapshot, 'loginHolds' | 'jobs'>): Condition[] {
  return [...loginHolds].map(([source, hold]): Condition => {
    const waiting = jobs.filter(({ extract }) => extract?.source.name === source).map(({ name }) => name);
    const wait = waiting.length === 1 ? 'waits' : 'wait';
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

/** Whether what a job failed over is the refused login of its source, which has a condition of its own. */
export function isOfLoginHold(
  { extract }: Job,
  code: string | null,
  { loginHolds }: Pick<Snapshot, 'loginHolds'>,
): boolean {
  const hold = loginHolds.get(extract?.source.name ?? '');
  return hold !== undefined && (code === hold.code || code === onHold);
}
