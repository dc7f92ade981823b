import type { Job } from '../../config/config.ts';
import { commandLine } from '../../lib/command-line.ts';
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

interface ConsumedInput {
  /** The job that moved or deleted files: this job, or the one whose rows the instance shows. */
  readonly consumer: string;
  /** The first run whose files were moved or deleted. */
  readonly run: string;
}

/** Why a job doesn't start over although its watermark or its kept rows can't be used. */
export function historyLostProblem(job: Job, { consumer, run }: ConsumedInput): Problem {
  const isOther = consumer !== job.name;
  return new Problem({
    code: 'JOB_HISTORY_LOST',
    family: 'job',
    message: `The job would start over, but files that ${isOther ? `job "${consumer}"` : 'it'} has read were moved or deleted, so the dashboard would lose their rows`,
    where: { job: job.name },
    seen: `${isOther ? 'the name or the target' : 'the query, the source, `write` or the state'} has changed; the first such files were read by run ${run}`,
    next: `undo the change; or put the files back and start over, or start over without their rows: ${commandLine('sluice', 'state', 'clear', consumer)}`,
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
