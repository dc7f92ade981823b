import type { Job } from '../../config/config.ts';
import { countText } from '../../lib/count-text.ts';
import { blockedHolder } from '../../state/blocked-runs.ts';
import type { Streak } from '../../state/runs.ts';
import type { Condition, Snapshot } from './condition.ts';
import { isOfLoginHold } from './refused-logins.ts';

/** Jobs whose newest runs failed, and jobs on hold because they blocked the process. Failures that a login causes belong to the login. */
export async function findFailures({ store, jobs, needy, loginHolds, overview }: Snapshot): Promise<Condition[]> {
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
    if (streak === undefined || isOfLogin(job, streak, needing)) return [];
    return isOfLoginHold(job, streak.last.code, { loginHolds }) ? [] : [failureOf(job, streak)];
  });
}

const basis = ({ name }: Job) => ({ subject: `job:${name}`, level: 'error', jobs: [name] }) as const;

function isOfLogin({ extract }: Job, { last }: Streak, needing: ReadonlySet<string>): boolean {
  const login = extract?.source.login?.name;
  return login !== undefined && needing.has(login) && last.code?.startsWith('LOGIN_') === true;
}

function failureOf(job: Job, { failures, since, last }: Streak): Condition {
  const why = last.message ?? 'it did not say why';
  return {
    ...basis(job),
    kind: 'failed',
    since,
    failures,
    what:
      failures === 1
        ? `run ${last.id} failed: ${why}`
        : `${countText(failures)} runs in a row failed, the last with: ${why}`,
    ...(last.code === null ? {} : { code: last.code }),
    fix: `${last.next ?? 'sluice check --connect'}; then sluice sync ${job.name}`,
  };
}
