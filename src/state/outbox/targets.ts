import { Repository } from '../engine/context.ts';
import type { TargetRow } from '../tables.ts';

/** Identifies a data source that a config declares. */
export interface TargetKey {
  /** The destination's base URL. Data sources with the same name on different services are different data sources. */
  readonly url: string;
  readonly clientId?: string;
  /** Name of the data source in the config. */
  readonly name: string;
}

/** Stores the IDs of declared data sources. The service returned the IDs when the data sources were applied. */
export class Targets extends Repository {
  async remember(key: TargetKey, ids: { datasource: string; instance: string; format: string }): Promise<void> {
    const rest = { ...ids, remembered_at: Math.round(this.context.clock.now()) };
    await this.context.db
      .insertInto('targets')
      .values({ url: key.url, client_id: key.clientId ?? '', name: key.name, ...rest })
      .onConflict((conflict) => conflict.columns(['url', 'client_id', 'name']).doUpdateSet(rest))
      .execute();
  }

  async find(key: TargetKey): Promise<TargetRow | undefined> {
    return this.context.db
      .selectFrom('targets')
      .selectAll()
      .where('url', '=', key.url)
      .where('client_id', '=', key.clientId ?? '')
      .where('name', '=', key.name)
      .executeTakeFirst();
  }

  async all(): Promise<TargetRow[]> {
    return this.context.db.selectFrom('targets').selectAll().orderBy('name').execute();
  }
}
