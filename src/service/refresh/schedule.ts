import type { Database } from '../store/database.ts';

/** Returns the IDs of the instances that are due, with the most overdue first. */
export function dueInstances(db: Database, now: number): string[] {
  const sql = 'select id from datasource_instances where refresh_due_at <= ? order by refresh_due_at, id';
  return db.all<{ id: string }>(sql, now).map(({ id }) => id);
}

/** Sets each instance's next due time to its first due time after now. Missed intervals are skipped. */
export function planNext(db: Database, instanceIds: readonly string[], now: number): void {
  // The driver binds numbers as REAL, but the number of intervals must be an integer.
  const sql = `update datasource_instances set
    refresh_due_at = refresh_due_at + p.every_ms * (1 + (cast(? as integer) - refresh_due_at) / p.every_ms)
    from refresh_plan p where p.instance_id = datasource_instances.id and datasource_instances.id = ?`;
  for (const id of instanceIds) db.run(sql, now, id);
}

/**
 * Moves due times that are more than one interval in the future, so that no instance waits longer than its interval.
 */
export function planWithinInterval(db: Database, now: number): void {
  const sql = `update datasource_instances set refresh_due_at = cast(? as integer) + p.every_ms
    from refresh_plan p where p.instance_id = datasource_instances.id and refresh_due_at > cast(? as integer) + p.every_ms`;
  db.run(sql, now, now);
}
