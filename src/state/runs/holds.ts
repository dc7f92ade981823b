import { redact } from '../../lib/redact.ts';
import { inTransaction, Repository } from '../engine/context.ts';
import { Settings } from '../settings.ts';
import type { HoldRow } from '../tables.ts';
import { Audit, type DecidedBy } from './audit.ts';
import { Retries } from './retries.ts';
import { clearSuspect } from './suspects.ts';

/**
 * Stores which jobs are on hold, because a user decided so or because they blocked the process. A job on hold doesn't
 * run until a user resumes it.
 */
export class Holds extends Repository {
  async find(job: string): Promise<HoldRow | undefined> {
    return this.context.db.selectFrom('holds').selectAll().where('job', '=', job).executeTakeFirst();
  }

  async all(): Promise<HoldRow[]> {
    return this.context.db.selectFrom('holds').selectAll().execute();
  }

  async set(job: string, { who, why }: DecidedBy): Promise<void> {
    const hold = { since: Math.round(this.context.clock.now()), who, why: redact(why) };
    await inTransaction(this.context, async (inside) => {
      // End pending attempts and firings, because their data would replace the payload of a rollback.
      await new Retries(inside).drop(job);
      await inside.db.deleteFrom('deferred_firings').where('job', '=', job).execute();
      await inside.db
        .insertInto('holds')
        .values({ job, ...hold })
        .onConflict((conflict) => conflict.column('job').doUpdateSet(hold))
        .execute();
    });
  }

  /** Resumes a job and records which user decided this. Returns false if the job wasn't on hold. */
  release(job: string, by: DecidedBy): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
      const held = await inside.db.deleteFrom('holds').where('job', '=', job).returning('job').executeTakeFirst();
      if (held === undefined) return false;
      await clearSuspect({ settings: new Settings(inside) }, job);
      await new Audit(inside).write({ by, action: 'resume', job });
      return true;
    });
  }
}
