import type { StagedRanges } from '../../kept-rows/manifest.ts';
import type { StoreContext } from '../engine/context.ts';

/** A past range that is being read again, chunk by chunk. */
export interface Backfill {
  readonly job: string;
  /** Tells what is read: chunks of another query are of no use. */
  readonly reading: string;
  /** As a person wrote it: from `lower` on, up to but without `upper`. */
  readonly lower: string;
  readonly upper: string;
  /** Empty: all at once. */
  readonly chunk: string;
  /** What lies before this has been read. */
  readonly reached: string;
  /** The files of it; absent before the first. */
  readonly staged?: StagedRanges;
  readonly begunAt: number;
}

/** Ranges that are being read again: how far each is, so that a kill costs one chunk at most. One a job. */
export class Backfills {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  async find(job: string): Promise<Backfill | undefined> {
    const row = await this.#context.db.selectFrom('backfills').selectAll().where('job', '=', job).executeTakeFirst();
    if (row === undefined) return undefined;
    const { begun_at: begunAt, staged, ...rest } = row;
    return { ...rest, begunAt, ...(staged === null ? {} : { staged: JSON.parse(staged) as StagedRanges }) };
  }

  /** Begins one, or writes down how far it is. */
  async set({ begunAt, staged, ...backfill }: Backfill): Promise<void> {
    const files = staged === undefined ? null : JSON.stringify(staged);
    const values = { ...backfill, begun_at: Math.round(begunAt), staged: files };
    await this.#context.db
      .insertInto('backfills')
      .values(values)
      .onConflict((conflict) => conflict.column('job').doUpdateSet(values))
      .execute();
  }

  /** Ends a backfill that was merged into the job's rows or is no longer wanted. */
  async end(job: string): Promise<void> {
    await this.#context.db.deleteFrom('backfills').where('job', '=', job).execute();
  }
}
