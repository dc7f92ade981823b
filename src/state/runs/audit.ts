import { redact } from '../../lib/redact.ts';
import { Repository } from '../engine/context.ts';
import type { AuditAction, AuditRow, OutboxRow } from '../tables.ts';

export interface DecidedBy {
  readonly who: string;
  /** Empty if no reason was given. */
  readonly why: string;
}

interface AuditEntry {
  readonly by: DecidedBy;
  readonly action: AuditAction;
  readonly job: string;
  readonly run?: string;
  /** The old value, if the decision changed a value. */
  readonly former?: string | null;
  /** The new value, if the decision changed a value. */
  readonly latter?: string | null;
}

/**
 * The audit log of people's decisions: who decided what, when and why. An entry is written in the transaction that
 * carries out the decision.
 */
export class Audit extends Repository {
  async write({ by, former = null, latter = null, ...decision }: AuditEntry): Promise<void> {
    const at = Math.round(this.context.clock.now());
    const facts = { at, who: by.who, why: redact(by.why) };
    await this.context.db
      .insertInto('audit')
      .values({ run: null, ...facts, ...decision, former: former && redact(former), latter: latter && redact(latter) })
      .execute();
  }

  /** Returns the decisions about one job or all jobs, newest first. */
  async history({ job, limit }: { job?: string; limit: number }): Promise<AuditRow[]> {
    let query = this.context.db.selectFrom('audit').selectAll().orderBy('sequence', 'desc').limit(limit);
    if (job !== undefined) query = query.where('job', '=', job);
    return query.execute();
  }
}

/** The result of a user's decision. `superseded` contains the payloads that the decision superseded. */
export interface Decided {
  readonly row: OutboxRow;
  readonly superseded: readonly OutboxRow[];
}
