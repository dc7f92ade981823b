import type { SqliteValue } from '../../lib/sqlite.ts';
import type { Listed, Page } from '../http/page.ts';
import type { Database } from './database.ts';

interface Listing {
  readonly columns: string;
  /** The statement's `from … where …` part, with placeholders for `values`. */
  readonly from: string;
  readonly order: string;
}

/** Values for a condition's placeholders; undefined if the list isn't filtered by the condition. */
type Filters = Readonly<Record<string, readonly (SqliteValue | undefined)[]>>;

/** Adds those conditions to a `from … where …` part whose values are all defined. */
export function filtered(
  from: string,
  values: readonly SqliteValue[],
  filters: Filters,
): { from: string; values: SqliteValue[] } {
  const given = Object.entries(filters).filter(([, wanted]) => !wanted.includes(undefined));
  return {
    from: [from, ...given.map(([condition]) => condition)].join(' and '),
    values: [...values, ...given.flatMap(([, wanted]) => wanted as SqliteValue[])],
  };
}

/** Returns one page of a query's rows and the total number of rows. */
export function listRows<T>(
  db: Database,
  { columns, from, order }: Listing,
  values: readonly SqliteValue[],
  { limit, offset }: Page,
): Listed<T> {
  const items = db.all<T>(`select ${columns} ${from} order by ${order} limit ? offset ?`, ...values, limit, offset);
  return { items, total: countRows(db, from, values) };
}

/**
 * Returns how many rows a query has. The count is cached until the next write, because SQLite scans all rows to count
 * them.
 */
export function countRows(db: Database, from: string, values: readonly SqliteValue[]): number {
  const sql = `select count(*) as n ${from}`;
  return db.remember(sql, JSON.stringify(values), () => db.get<{ n: number }>(sql, ...values)!.n);
}
