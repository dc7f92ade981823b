import type { Job } from '../../config/config.ts';
import { countText } from '../../lib/count-text.ts';
import { blockedHolder } from '../../state/runs/blocked-runs.ts';
import type { Streak } from '../../state/runs/streaks.ts';
import type { RunRow } from '../../state/tables.ts';
import type { NextAttempt } from '../retry/next-attempt.ts';
import type { Condition, Snapshot } from './condition.ts';
import { isOfLoginHold } from './refused-logins.ts';

/** A run that has been retried for longer than this counts as failed. */
const patienceMs = 15 * 60_000;

/**
 * Finds jobs whose newest runs failed or are being retried, and jobs on hold because they blocked the process. If a
 * login caused the failure, it's reported for the login instead of the job.
 *
 * @param stale names of the jobs whose data is too old
 */
export async function findFailures(
  { store, jobs, needy, overview }: Snapshot,
  stale: ReadonlySet<string>,
): Promise<Condition[]> {
  const streaks = new Map((await store.runs.streaks()).map((streak) => [streak.job, streak]));
  const needing = new Set(needy.map(({ login }) => login));
  return jobs.flatMap((job): Condition[] => {
    const hold = overview.hold(job.name);
    if (hold?.who === blockedHolder) {
      const { since, why } = hold;
      const what = `the job is on hold: ${why}`;
      return [{ ...basis(job), kind: 'blocked', since, what, fix: `sluice resume ${job.name}` }];
    }
    const streak = streaks.get(job.name);
    const attempt = overview.nextAttempt(job.name);
    const last = overview.lastRun(job.name);
    if (attempt !== undefined && last !== undefined) {
      const isFailure = stale.has(job.name) || overview.now - attempt.since >= patienceMs;
      return [retryOf(job, { attempt, last, former: streak, isFailure })];
    }
    if (streak === undefined || isOfLogin(job, streak, needing)) return [];
    return isOfLoginHold(job, streak.last.code, overview) ? [] : [failureOf(job, streak)];
  });
}

const basis = ({ name }: Job) => ({ subject: `job:${name}`, level: 'error', jobs: [name] }) as const;

function isOfLogin({ extract }: Job, { last }: Streak, needing: ReadonlySet<string>): boolean {
  const login = extract?.source.login?.name;
  return login !== undefined && needing.has(login) && last.code?.startsWith('LOGIN_') === true;
}

function failureOf(job: Job, { failures, since, last }: Streak): Condition {
  const why = last.message ?? 'no reason given';
  return {
    ...basis(job),
    kind: 'failed',
    since,
    failures,
    what:
      failures === 1
        ? `run ${last.id} failed: ${why}`
        : `${countText(failures)} consecutive runs failed; last error: ${why}`,
    ...(last.code === null ? {} : { code: last.code }),
    fix: fixOf(job, last),
  };
}

/**
 * A run that is being retried. It counts as a failure if it has been retried for long or if previous firings failed. A
 * previous manual run that failed doesn't make it a failure.
 */
function retryOf(
  job: Job,
  {
    attempt,
    last,
    former,
    isFailure,
  }: { attempt: NextAttempt; last: RunRow; former: Streak | undefined; isFailure: boolean },
): Condition {
  const what = `${last.message ?? 'the source is unavailable'}; ${attempt.message}`;
  const code = last.code === null ? {} : { code: last.code };
  if (!isFailure && (former?.firings ?? 0) === 0) {
    return { ...basis(job), kind: 'retrying', level: 'warning', since: attempt.since, what, ...code };
  }
  const failures = (former?.failures ?? 0) + (isFailure ? 1 : 0);
  const before = failures > 1 ? `${countText(failures)} consecutive runs failed; last error: ` : '';
  const since = former?.since ?? attempt.since;
  return { ...basis(job), kind: 'failed', since, what: before + what, ...code, failures, fix: fixOf(job, last) };
}

const fixOf = ({ name }: Job, { next }: RunRow): string =>
  `${next ?? 'sluice check --connect'}; then sluice sync ${name}`;
