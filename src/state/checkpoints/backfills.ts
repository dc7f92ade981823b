import type { StagedRanges } from '../../kept-rows/manifest.ts';
import { Repository } from '../engine/context.ts';
import type { BackfillsTable } from '../tables/checkpoints.ts';
import { assertStored, storeSegments } from './kept-files.ts';

/** A past range of a job's data that is being read again, chunk by chunk. */
export interface Backfill extends Readonly<Omit<BackfillsTable, 'staged' | 'begun_at'>> {
  /** The files that the backfill has written. Absent before the first chunk. */
  readonly staged?: StagedRanges;
  readonly begunAt: number;
}

/** Stores the progress of backfills. A job has at most one backfill. After a crash, at most one chunk is read again. */
export class Backfills extends Repository {
  async find(job: string): Promise<Backfill | undefined> {
    const row = await this.context.db.selectFrom('backfills').selectAll().where('job', '=', job).executeTakeFirst();
    if (row === undefined) return undefined;
    const { begun_at: begunAt, staged, ...rest } = row;
    return { ...rest, begunAt, ...(staged === null ? {} : { staged: JSON.parse(staged) as StagedRanges }) };
  }

  /** Starts a backfill, or updates its progress. */
  async set({ begunAt, staged, ...backfill }: Backfill): Promise<void> {
    if (staged !== undefined) {
      await storeSegments(this.context, staged.segments);
      await assertStored(this.context, staged.segments);
    }
    const files = staged === undefined ? null : JSON.stringify(staged);
    const values = { ...backfill, begun_at: Math.round(begunAt), staged: files };
    await this.context.db
      .insertInto('backfills')
      .values(values)
      .onConflict((conflict) => conflict.column('job').doUpdateSet(values))
      .execute();
  }

  /** Deletes a backfill, because it was merged into the job's rows or is no longer wanted. */
  async end(job: string): Promise<void> {
    await this.context.db.deleteFrom('backfills').where('job', '=', job).execute();
  }
}
