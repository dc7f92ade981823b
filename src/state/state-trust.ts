import { Generations } from './checkpoints/generations.ts';
import { inTransaction, Repository } from './engine/context.ts';
import { Outbox } from './outbox/outbox.ts';
import { Settings } from './settings.ts';

/** A failover that may have lost transactions. */
export interface LossyFailover {
  /** When it was noticed, in epoch milliseconds. */
  readonly at: number;
  /** Number of owed payloads that won't be sent. */
  readonly parked: number;
}

const settingName = 'database.failover';

/** Whether the state describes what the instances show. It doesn't if it was returned to an earlier time. */
export class StateTrust extends Repository {
  /**
   * Makes an old state safe to use: destinations may have received newer data since. Marks owed payloads dead, with
   * this message. Each job sends all its rows again, whatever its instance showed. Returns the number of payloads.
   */
  async withdraw(message: string): Promise<number> {
    return inTransaction(this.context, async (inside) => {
      const outbox = new Outbox(inside);
      let parked = 0;
      for (const { id } of await outbox.inState('owed')) {
        if (await outbox.markDead(id, { code: 'STATE_RESTORED', message })) parked += 1;
      }
      await inside.db.updateTable('receipts').set({ certain: 0 }).execute();
      // A job's kept rows always match its watermark, so jobs with kept rows keep both. But their instances may have
      // changed in the meantime, so all rows are sent again.
      const keeping = inside.db.selectFrom('current_generations').select('job');
      await inside.db.deleteFrom('watermarks').where('job', 'not in', keeping).execute();
      await new Generations(inside).doubt();
      return parked;
    });
  }

  /** Stores a failover that may have lost transactions, for alerts. */
  async noteFailover(failover: LossyFailover): Promise<void> {
    await new Settings(this.context).set(settingName, JSON.stringify(failover));
  }

  /** Returns the last failover that may have lost transactions. */
  async lastFailover(): Promise<LossyFailover | undefined> {
    const text = await new Settings(this.context).find(settingName);
    return text === undefined ? undefined : (JSON.parse(text) as LossyFailover);
  }
}
