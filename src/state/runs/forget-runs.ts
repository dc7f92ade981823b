import { inTransaction, type StoreContext } from '../engine/context.ts';
import { rankedPayloads } from '../outbox/ranked-payloads.ts';

/** Number of each job's newest runs that are always kept, however many other runs there are. */
const ofEachJob = 5;

/**
 * Deletes all runs except the newest `keep` runs, together with their settled payloads. Also keeps the newest runs of
 * each job, and runs whose payloads a rollback can restore or a guard compares with. A job that runs monthly thus keeps
 * its history even if other jobs run every minute.
 */
export async function forgetRuns(context: StoreContext, keep: number): Promise<void> {
  await inTransaction(context, async ({ db, keep: kept }) => {
    const oldest = await db
      .selectFrom('runs')
      .select('sequence')
      .orderBy('sequence', 'desc')
      .offset(keep)
      .limit(1)
      .executeTakeFirst();
    if (oldest === undefined) return;
    await db
      .deleteFrom('runs')
      .where('sequence', '<=', oldest.sequence)
      .where('state', 'not in', ['running', 'retrying', 'owed', 'dead'])
      .where('id', 'not in', ({ selectFrom }) =>
        selectFrom('outbox').select('outbox.run').where('outbox.state', '=', 'quarantined'),
      )
      .where('id', 'not in', ({ selectFrom }) =>
        selectFrom(rankedPayloads({ db }).as('good'))
          .select('good.run')
          .where('good.rank', '<=', Math.max(1, kept?.payloads ?? 0)),
      )
      .where('id', 'not in', ({ selectFrom }) =>
        selectFrom(rankedRuns(db).as('newest')).select('newest.id').where('newest.rank', '<=', ofEachJob),
      )
      .execute();
    await db
      .deleteFrom('outbox')
      .where('state', 'in', ['delivered', 'superseded', 'discarded'])
      .where('run', 'not in', ({ selectFrom }) => selectFrom('runs').select('runs.id'))
      .execute();
    await db
      .deleteFrom('quarantine')
      .where('id', 'not in', ({ selectFrom }) => selectFrom('outbox').select('outbox.id'))
      .execute();
  });
}

/** SQL query that ranks the runs of each job; the newest run has `rank` 1. */
const rankedRuns = (db: StoreContext['db']) =>
  db.selectFrom('runs').select(({ fn }) => [
    'id',
    fn
      .agg<number>('row_number')
      .over((over) => over.partitionBy('job').orderBy('sequence', 'desc'))
      .as('rank'),
  ]);
