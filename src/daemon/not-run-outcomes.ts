import type { Job } from '../config/config.ts';
import { Problem } from '../lib/problem.ts';
import { instantText } from '../lib/time-text.ts';
import { processText } from '../state/processes/processes.ts';
import { blockedHolder } from '../state/runs/blocked-runs.ts';
import type { Store } from '../state/store.ts';
import type { HoldRow, LoginHoldRow } from '../state/tables.ts';
import { holdProblem } from './login-holds/problem.ts';
import type { RunOutcome } from './run-outcome.ts';

/** The counts of a job that was not run. */
export const noWork = { rows: 0, bytes: 0, requests: 0, milliseconds: 0 } as const;

/** The job is on hold: by a person, or because it blocked the process. */
export function heldOutcome(job: Job, { since, who, why }: HoldRow): RunOutcome {
  const problem = new Problem({
    code: 'JOB_ON_HOLD',
    family: 'job',
    message:
      who === blockedHolder
        ? 'The job is on hold: its runs blocked the process'
        : 'The job is on hold after a rollback: a run would replace the restored payload',
    where: { job: job.name },
    seen: `by ${who} since ${instantText(since)}${why === '' ? '' : `: ${why}`}`,
    next: `sluice resume ${job.name}`,
  });
  return { state: 'on_hold', job: job.name, ...noWork, problem };
}

/** The login of the job's source was refused, and is on hold. */
export function loginHeldOutcome({ name, extract }: Job, hold: LoginHoldRow): RunOutcome {
  const problem = holdProblem(extract!.source.name, hold).at({ job: name });
  return { state: 'on_hold', job: name, ...noWork, problem };
}

/** Another run of the job is in progress. */
export async function busyOutcome(job: Job, { leases }: Pick<Store, 'leases'>): Promise<RunOutcome> {
  const holder = await leases.holder(`job:${job.name}`);
  const problem = new Problem({
    code: 'JOB_BUSY',
    family: 'try_later',
    message: 'Another run of this job is in progress; a job never overlaps itself',
    where: { job: job.name },
    ...(holder === undefined
      ? {}
      : { seen: `held by ${processText(holder.owner)} since ${instantText(holder.takenAt)}` }),
    next: 'wait for it to end; "sluice status" shows it',
  });
  return { state: 'busy', job: job.name, ...noWork, problem };
}
