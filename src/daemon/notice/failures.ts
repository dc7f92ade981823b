import type { Job } from '../../config/config.ts';
import { countText } from '../../lib/count-text.ts';
import { blockedHolder } from '../../state/blocked-runs.ts';
import type { Streak } from '../../state/runs.ts';
import type { Found, Ground } from './look.ts';
import { limitsOf } from './route.ts';

/** Jobs whose newest runs failed: once at the first, once more when it goes on. What a login is to blame for is told as that. */
export async function failures({ store, alerts, jobs, needy, overview }: Ground): Promise<Found[]> {
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const needing = new Set(needy.map(({ login }) => login));
  return (await store.runs.streaks()).flatMap((streak) => {
    const job = byName.get(streak.job);
    if (job === undefined || isOfLogin(job, streak, needing)) return [];
    const hold = overview.hold(job.name);
    if (hold?.who === blockedHolder)
      return [{ ...foundOf(job, streak, true), what: `the job is on hold: ${hold.why}` }];
    const { firstFailure, afterFailures } = limitsOf(job, alerts);
    const goesOn = afterFailures > 0 && streak.failures >= afterFailures;
    if (!goesOn && !firstFailure) return [];
    return [foundOf(job, streak, goesOn)];
  });
}

function isOfLogin({ extract }: Job, { last }: Streak, needing: ReadonlySet<string>): boolean {
  const login = extract?.source.login?.name;
  return login !== undefined && needing.has(login) && last.code?.startsWith('LOGIN_') === true;
}

function foundOf(job: Job, { failures, since, last }: Streak, goesOn: boolean): Found {
  const why = last.message ?? 'it did not say why';
  return {
    job,
    subject: `job:${job.name}`,
    occasion: 'failed',
    level: goesOn ? 2 : 1,
    cause: `${last.code ?? ''} ${job.extract?.source.name ?? job.destination.name}`,
    since,
    what:
      failures === 1
        ? `run ${last.id} failed: ${why}`
        : `${countText(failures)} runs in a row failed, the last with: ${why}`,
    ...(last.code === null ? {} : { code: last.code }),
  };
}
