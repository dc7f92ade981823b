import type { Job } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import { instantText } from '../../lib/time-text.ts';
import { processText } from '../../state/processes/processes.ts';
import { blockedHolder } from '../../state/runs/blocked-runs.ts';
import type { Store } from '../../state/store.ts';
import type { HoldRow } from '../../state/tables.ts';

/** Why a job on hold isn't run: either a rollback put it on hold, or its runs blocked the process. */
export function heldProblem(job: Job, { since, who, why }: HoldRow): Problem {
  return new Problem({
    code: 'JOB_ON_HOLD',
    family: 'job',
    message:
      who === blockedHolder
        ? 'The job is on hold because its runs blocked the process'
        : 'The job is on hold after a rollback: a run would replace the restored payload',
    where: { job: job.name },
    seen: `by ${who} since ${instantText(since)}${why === '' ? '' : `: ${why}`}`,
    next: `sluice resume ${job.name}`,
  });
}

/** Why a job isn't run while another run of the same job is in progress. */
export async function busyProblem(job: Job, { leases }: Pick<Store, 'leases'>): Promise<Problem> {
  const holder = await leases.holder(`job:${job.name}`);
  return new Problem({
    code: 'JOB_BUSY',
    family: 'try_later',
    message: 'Another run of this job is in progress; a job never runs twice at the same time',
    where: { job: job.name },
    seen: holder && `running in ${processText(holder.owner)} since ${instantText(holder.takenAt)}`,
    next: 'wait until that run ends; "sluice status" shows its progress',
  });
}
