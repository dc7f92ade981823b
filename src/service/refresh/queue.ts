import type { Database } from '../store/database.ts';

export interface Queued {
  readonly position: number;
  readonly instanceId: string;
}

/** Puts an instance at the end, unless it waits there already: one pull serves everybody who asked for it. */
export function enqueue(db: Database, instanceId: string, now: number): void {
  const sql = 'insert into refresh_queue (instance_id, queued_at) values (?, ?) on conflict do nothing';
  db.run(sql, instanceId, now);
}

/** The oldest that waits, marked as running. */
export function takeNext(db: Database): Queued | undefined {
  const sql = `update refresh_queue set running = 1 where position =
    (select min(position) from refresh_queue where running = 0) returning position, instance_id as instanceId`;
  return db.get<Queued>(sql);
}

export function settle(db: Database, position: number): void {
  db.run('delete from refresh_queue where position = ?', position);
}

/** What was running when the service last ended waits again, in its old place. */
export function resume(db: Database): void {
  db.transaction(() => {
    db.run(`delete from refresh_queue where running = 1 and instance_id in
      (select instance_id from refresh_queue where running = 0)`);
    db.run('update refresh_queue set running = 0 where running = 1');
  });
}
