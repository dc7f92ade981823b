import { StateBlobs } from '../blobs/blobs.ts';
import { restoreCheckpoint } from '../checkpoints/checkpoint.ts';
import { inTransaction, Repository } from '../engine/context.ts';
import { storedPath } from '../engine/stored-paths.ts';
import { Audit, type Decided, type DecidedBy } from '../runs/audit.ts';
import { Holds } from '../runs/holds.ts';
import { Runs } from '../runs/runs.ts';
import type { OutboxRow } from '../tables.ts';
import { type InstanceKey, keyOf } from './instance-key.ts';
import { newestOfJobs } from './newest-of-jobs.ts';
import { Outbox } from './outbox.ts';
import { pendingPayloads } from './pending-payloads.ts';
import { Receipts } from './receipts.ts';

/** A payload that its instance shows, has shown or will show. */
export type GoodPayload = OutboxRow;

/** A job's payload, and when its rows were read, in epoch milliseconds. */
export interface JobPayload {
  readonly row: GoodPayload;
  readonly asOf: number;
}

/**
 * Finds payloads that have passed the guards. New payloads are compared with them, and a rollback restores one of them.
 */
export class GoodPayloads extends Repository {
  /** Returns the newest payload that the instance shows or that is owed to the instance. */
  async last(key: InstanceKey): Promise<GoodPayload | undefined> {
    return this.#of(key).where('state', 'in', ['owed', 'delivered']).orderBy('id', 'desc').limit(1).executeTakeFirst();
  }

  /**
   * Returns a job's newest payload that an instance shows or that is owed, and when its rows were read, in epoch
   * milliseconds. A run that found the same rows, or no changes, counts as reading them. If the job has had several
   * targets, returns the payload with the newest rows.
   */
  async ofJob(job: string): Promise<JobPayload | undefined> {
    const dated = (await newestOfJobs(this.context, [job], ['owed', 'delivered'])).map(async (row) => {
      const receipt = await new Receipts(this.context).find(keyOf(row));
      const isShown = receipt?.certain === 1 && receipt.sha256 === row.sha256 && receipt.format === row.format;
      return { row, asOf: Math.max(row.as_of, isShown ? receipt.as_of : 0) };
    });
    return (await Promise.all(dated)).toSorted((a, b) => b.asOf - a.asOf || b.row.id - a.row.id)[0];
  }

  /**
   * Whether other jobs read this job's rows, but there's no payload that they can read: it was never recorded under
   * this name, or its file is gone.
   */
  async lacksRows(job: string): Promise<boolean> {
    if (this.context.readJobs?.has(job) !== true) return false;
    const path = (await this.ofJob(job))?.row.path;
    return path === undefined || !(await new StateBlobs(this.context).sizes([path])).has(path);
  }

  /**
   * Returns the payloads that a rollback can restore, newest data first. They're older than the payload that the
   * instance shows, and their files still exist.
   */
  async former(key: InstanceKey): Promise<GoodPayload[]> {
    const present = await this.last(key);
    if (present === undefined) return [];
    const rows = await this.#of(key)
      .where('state', '=', 'delivered')
      .where('as_of', '<', present.as_of)
      .orderBy('as_of', 'desc')
      .orderBy('id', 'desc')
      .execute();
    const paths = await new StateBlobs(this.context).sizes(rows.map(({ path }) => path));
    return rows.filter(({ path }) => paths.delete(path));
  }

  /**
   * Rolls an instance back to a former payload. Enqueues the payload as part of a new run and puts the job on hold, so
   * that no later run undoes the rollback. Supersedes the instance's other pending payloads. `job` is the job that now
   * writes to the instance; it may have been renamed since the payload was created. The job continues from the former
   * payload's checkpoint: from its kept rows or, if it has none, from the beginning. Callers must hold the job's lease.
   */
  putBack(former: GoodPayload, { job, by }: { job: string; by: DecidedBy }): Promise<Decided> {
    return inTransaction(this.context, async (inside) => {
      const others = await pendingPayloads(inside, keyOf(former));
      for (const other of others) await new Outbox(inside).supersede(other);
      const runs = new Runs(inside);
      const run = await runs.begin({ job, origin: 'person' });
      const { id: _, ...facts } = former;
      const unsent = { attempts: 0, crashes: 0, faults: 0, settled_at: null, code: null, message: null };
      const fresh = { state: 'owed' as const, always: 1, ...unsent };
      const now = Math.round(inside.clock.now());
      const times = {
        owed_at: now,
        waiting_since: now,
        last_attempt_at: null,
        next_attempt_at: null,
        unanswered_at: null,
      };
      const row = await inside.db
        .insertInto('outbox')
        .values({ ...facts, ...fresh, ...times, path: storedPath(inside.folder, former.path), job, run })
        .returningAll()
        .executeTakeFirstOrThrow();
      await runs.owed(run, { rows: row.row_count, bytes: row.bytes });
      await restoreCheckpoint(inside, { job, former: former.run, run });
      await new Holds(inside).set(job, by);
      await new Audit(inside).write({ by, action: 'rollback', job, run: former.run });
      return { row, superseded: others };
    });
  }

  #of({ url, clientId = '', instance }: InstanceKey) {
    return this.context.db
      .selectFrom('outbox')
      .selectAll()
      .where('url', '=', url)
      .where('client_id', '=', clientId)
      .where('instance', '=', instance);
  }
}
