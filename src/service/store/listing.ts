import type { SqliteValue } from '../../lib/sqlite.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Database } from './database.ts';

interface Listing {
  readonly columns: string;
  /** `from … where …`, with placeholders for `values`. */
  readonly from: string;
  readonly order: string;
}

/** One page of a query's rows, and the total number of rows. */
export function listRows<T>(
  db: Database,
  { columns, from, order }: Listing,
  values: readonly SqliteValue[],
  { limit, offset }: Page,
): Listed<T> {
  const items = db.all<T>(`select ${columns} ${from} order by ${order} limit ? offset ?`, ...values, limit, offset);
  return { items, total: countRows(db, from, values) };
}

/** The number of rows of a query, cached until the next write, because counting scans all rows. */
export function countRows(db: Database, from: string, values: readonly SqliteValue[]): number {
  const sql = `select count(*) as n ${from}`;
  return db.remember(sql, JSON.stringify(values), () => db.get<{ n: number }>(sql, ...values)!.n);
}
