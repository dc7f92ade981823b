import { redact } from '../lib/redact.ts';
import type { Ground } from './part.ts';
import type { AuditAction, AuditRow } from './tables.ts';

/** Who decides, and in which words. */
export interface By {
  readonly who: string;
  /** Empty where nothing was said. */
  readonly why: string;
}

/** What people decided, for ever: who, when, why. Written in the transaction of the decision itself. */
export class Audit {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  async write({ by, ...decision }: { by: By; action: AuditAction; job: string; run?: string }): Promise<void> {
    const at = Math.round(this.#ground.clock.now());
    const said = { at, who: by.who, why: redact(by.why) };
    await this.#ground.db
      .insertInto('audit')
      .values({ run: null, ...said, ...decision })
      .execute();
  }

  /** Newest first; of one job, or of all. */
  async history({ job, limit }: { job?: string; limit: number }): Promise<AuditRow[]> {
    let query = this.#ground.db.selectFrom('audit').selectAll().orderBy('sequence', 'desc').limit(limit);
    if (job !== undefined) query = query.where('job', '=', job);
    return query.execute();
  }
}
