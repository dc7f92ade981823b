import type { Payload } from '../../pipeline/payload.ts';
import { Repository } from '../engine/context.ts';
import { type BoundValue, prepared } from '../engine/prepared.ts';
import type { Receipt } from '../tables.ts';
import type { InstanceKey } from './instance-key.ts';
import { lateArrivals, lateMs } from './late-arrivals.ts';
import { pendingPayloads } from './pending-payloads.ts';

export type Contents = Pick<Payload, 'sha256' | 'bytes' | 'format' | 'asOf'>;

type Facts = Omit<Receipt, 'url' | 'client_id' | 'instance'>;

/** Stores the last known contents of each instance. */
export class Receipts extends Repository {
  async find(key: InstanceKey): Promise<Receipt | undefined> {
    const { url, clientId = '', instance } = key;
    return (await byKey(this.context.db, { url, clientId, instance }))[0];
  }

  /**
   * Returns whether the instance is known to have these bytes. If an upload with different bytes was abandoned, the
   * service may still process it after it has accepted these bytes. As soon as that's no longer possible, this method
   * returns false, so that the bytes are sent again (by `Resends` or by the next run that produces them).
   */
  async holds(key: InstanceKey, { sha256, format }: Pick<Contents, 'sha256' | 'format'>): Promise<boolean> {
    const known = await this.find(key);
    if (known?.sha256 !== sha256 || known.format !== format || known.certain !== 1) return false;
    const { url, clientId: client_id = '', instance } = key;
    const [doubt] = await lateArrivals(this.context.db, { url, client_id, instance });
    return doubt === undefined || this.context.clock.now() < doubt.since + lateMs;
  }

  /**
   * Returns whether the last request to the instance got no response. The instance may then have different contents
   * than the last known ones.
   */
  async isDoubtful(key: InstanceKey): Promise<boolean> {
    const known = await this.find(key);
    return known !== undefined && known.certain !== 1;
  }

  async all(): Promise<Receipt[]> {
    return this.context.db.selectFrom('receipts').selectAll().execute();
  }

  /**
   * Returns whether the service has accepted a payload for one of these destinations after `since`, in epoch
   * milliseconds. Ignores times in the future, which were recorded while the clock was wrong.
   */
  async tookAfter(destinations: readonly string[], since: number): Promise<boolean> {
    const { db, clock } = this.context;
    const newer = await db
      .selectFrom('receipts')
      .innerJoin('outbox', (join) =>
        join
          .onRef('outbox.url', '=', 'receipts.url')
          .onRef('outbox.client_id', '=', 'receipts.client_id')
          .onRef('outbox.instance', '=', 'receipts.instance')
          .onRef('outbox.sha256', '=', 'receipts.sha256')
          .on('outbox.state', '=', 'delivered'),
      )
      .select('receipts.at')
      .where('receipts.at', '>', since)
      .where('receipts.at', '<=', Math.round(clock.now()) + futureMs)
      .where('outbox.destination', 'in', destinations)
      .limit(1)
      .executeTakeFirst();
    return newer !== undefined;
  }

  /**
   * Records that a job's source reported no changes, so the data that the instance shows, or will show after the owed
   * payload is sent, is as recent as this check. Does nothing if other payloads are waiting for the instance or if the
   * instance's contents are unknown.
   */
  async recheck(key: InstanceKey, { job, asOf }: { readonly job: string; readonly asOf: number }): Promise<void> {
    const waiting = await pendingPayloads(this.context, key);
    const last = waiting.at(-1);
    if (last?.state === 'owed' && last.job === job && last.as_of < asOf) {
      await this.context.db.updateTable('outbox').set({ as_of: asOf }).where('id', '=', last.id).execute();
    }
    const known = await this.find(key);
    if (waiting.length > 0 || known?.certain !== 1 || known.as_of >= asOf) return;
    await this.renew(key, asOf);
  }

  /**
   * Records that the instance's contents are unknown. Call this immediately before a request that sends these contents.
   * Returns whether the instance's contents were known before.
   */
  async doubt(key: InstanceKey, contents: Contents): Promise<boolean> {
    const known = await this.find(key);
    const tried = newest(this.context.clock.now(), [contents.asOf, known?.tried_as_of]);
    await this.#put(key, { ...(known ?? asRow(contents, 0)), certain: 0, tried_as_of: tried });
    return known?.certain === 1;
  }

  /** Records that the service rejected the request, so the instance still has the last known contents. */
  async trust(key: InstanceKey): Promise<void> {
    await this.#change(key, { certain: 1 });
  }

  /**
   * Records that the instance may not show the last payload. The next run that produces the same bytes therefore sends
   * them.
   */
  async distrust(key: InstanceKey): Promise<void> {
    await this.#change(key, { certain: 0 });
  }

  /** Records that the service accepted the instance's last payload again. */
  async repeated(key: InstanceKey): Promise<void> {
    await this.#change(key, { at: Math.round(this.context.clock.now()) });
  }

  /** Records that the service accepted these contents. */
  async confirm(key: InstanceKey, contents: Contents): Promise<void> {
    const now = Math.round(this.context.clock.now());
    const known = await this.find(key);
    const tried = newest(now, [contents.asOf, known?.tried_as_of]);
    await this.#put(key, { ...asRow(contents, now), certain: 1, tried_as_of: tried });
  }

  /**
   * Records that a newer extract produced the same bytes that the instance has. The instance's data is therefore as
   * recent as this extract.
   */
  async renew(key: InstanceKey, asOf: number): Promise<void> {
    const known = await this.find(key);
    if (known === undefined) return;
    const tried = newest(this.context.clock.now(), [asOf, known.tried_as_of]);
    await this.#put(key, { ...known, as_of: asOf, tried_as_of: tried });
  }

  /** Changes a receipt in one statement, so that nothing that another process writes is lost. */
  async #change({ url, clientId = '', instance }: InstanceKey, change: Partial<Facts>): Promise<void> {
    await this.context.db
      .updateTable('receipts')
      .set(change)
      .where('url', '=', url)
      .where('client_id', '=', clientId)
      .where('instance', '=', instance)
      .execute();
  }

  async #put({ url, clientId: client_id = '', instance }: InstanceKey, facts: Facts): Promise<void> {
    await write(this.context.db, { ...facts, url, client_id, instance });
  }
}

/** Tolerance for clock skew. */
const futureMs = 1_000;

/**
 * Returns the latest of several times at which data was read. Ignores times in the future: they were recorded while the
 * clock was wrong, and newer data must not have to wait until then.
 */
export function newest(now: number, ages: readonly (number | undefined)[]): number {
  return Math.max(0, ...ages.filter((age) => age !== undefined && age <= now + futureMs).map(Number));
}

function asRow(contents: Contents, at: number) {
  const { sha256, bytes, format, asOf } = contents;
  return { sha256, bytes, format, as_of: asOf, at };
}

const byKey = prepared((db, value: BoundValue<Required<InstanceKey>>) =>
  db
    .selectFrom('receipts')
    .selectAll()
    .where('url', '=', value('url'))
    .where('client_id', '=', value('clientId'))
    .where('instance', '=', value('instance')),
);

const write = prepared((db, value: BoundValue<Receipt>) => {
  const rest = {
    sha256: value('sha256'),
    bytes: value('bytes'),
    format: value('format'),
    as_of: value('as_of'),
    at: value('at'),
    certain: value('certain'),
    tried_as_of: value('tried_as_of'),
  };
  return db
    .insertInto('receipts')
    .values({ url: value('url'), client_id: value('client_id'), instance: value('instance'), ...rest })
    .onConflict((conflict) => conflict.columns(['url', 'client_id', 'instance']).doUpdateSet(rest));
});
