import type { StoreContext } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';

/**
 * Ends the retries of a run that is about to end. If the run succeeded, also ends the retries of the same job's other
 * waiting runs, which then count as failed. Call this in the transaction that ends the run, just before the run ends.
 */
export async function endRetriesOf(context: StoreContext, run: string, isGood: boolean): Promise<void> {
  const { db } = context;
  const ended = isGood ? await deleteOfJob(db, { run }) : await deleteOwn(db, { run });
  for (const { run: other } of ended) if (other !== run) await failWaiting(context, other);
}

/** Ends a run that is waiting for its next attempt. The run fails with the error of its last attempt. */
export async function failWaiting({ db, clock }: StoreContext, run: string): Promise<void> {
  await fail(db, { run, ended_at: Math.round(clock.now()) });
}

interface Run {
  readonly run: string;
}

const deleteOfJob = prepared((db, value: BoundValue<Run>) =>
  db
    .deleteFrom('retries')
    .where('job', 'in', ({ selectFrom }) =>
      selectFrom('runs').select('runs.job').where('id', '=', value('run')).where('state', '=', 'running'),
    )
    .returning('run'),
);

const deleteOwn = prepared((db, value: BoundValue<Run>) =>
  db
    .deleteFrom('retries')
    .where('run', 'in', ({ selectFrom }) =>
      selectFrom('runs').select('runs.id').where('id', '=', value('run')).where('state', '=', 'running'),
    )
    .returning('run'),
);

const fail = prepared((db, value: BoundValue<Run & { ended_at: number }>) =>
  db
    .updateTable('runs')
    .set({ state: 'failed', ended_at: value('ended_at') })
    .where('id', '=', value('run'))
    .where('state', '=', 'retrying'),
);
