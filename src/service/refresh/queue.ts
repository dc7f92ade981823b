import type { Database } from '../store/database.ts';

/** A queued or running refresh. */
export interface Queued {
  readonly position: number;
  readonly instanceId: string;
  /** ID of the account that owns the instance: a company or a client. Null if the owner has been deleted. */
  readonly accountId: string | null;
  readonly companyId: string | null;
}

/** Accounts and companies whose refreshes must wait for now. */
export interface Busy {
  readonly accounts: Iterable<string>;
  readonly companies: Iterable<string>;
}

/**
 * Adds an instance at the end of the queue, unless the instance is already waiting. One pull then serves all requests
 * for the instance (single-flight).
 */
export function enqueue(db: Database, instanceId: string, now: number): void {
  const sql = 'insert into refresh_queue (instance_id, queued_at) values (?, ?) on conflict do nothing';
  db.run(sql, instanceId, now);
}

/** Takes the oldest waiting entry whose account and company aren't busy, and marks the entry as running. */
export function takeNext(db: Database, busy: Busy): Queued | undefined {
  const oldest = `select q.position, a.id as accountId, coalesce(a.parent_id, a.id) as companyId from refresh_queue q
    left join datasource_instances i on i.id = q.instance_id
    left join datasources d on d.id = i.datasource_id left join accounts a on a.id = d.account_id
    where q.running = 0 and coalesce(a.id, '') not in (select value from json_each(?))
      and coalesce(a.parent_id, a.id, '') not in (select value from json_each(?))
    order by q.position limit 1`;
  const [accounts, companies] = [busy.accounts, busy.companies].map((ids) => JSON.stringify([...ids]));
  const next = db.get<Omit<Queued, 'instanceId'>>(oldest, accounts!, companies!);
  if (next === undefined) return undefined;
  const sql = 'update refresh_queue set running = 1 where position = ? returning instance_id as instanceId';
  return { ...next, ...db.get<Pick<Queued, 'instanceId'>>(sql, next.position)! };
}

/** Removes a finished refresh from the queue, whether the refresh succeeded or failed. */
export function settle(db: Database, position: number): void {
  db.run('delete from refresh_queue where position = ?', position);
}

/** Puts refreshes that were running when the service stopped back into the queue, at their old positions. */
export function resume(db: Database): void {
  db.transaction(() => {
    db.run(`delete from refresh_queue where running = 1 and instance_id in
      (select instance_id from refresh_queue where running = 0)`);
    db.run('update refresh_queue set running = 0 where running = 1');
  });
}
