import type { Listed, Page } from '../http/page.ts';
import type { Cell, Database } from './database.ts';

interface Listing {
  readonly columns: string;
  /** `from … where …`, with the placeholders that `values` fill. */
  readonly from: string;
  readonly order: string;
}

/** One page of what a query finds, and how many rows it finds in all. */
export function listRows<T>(
  db: Database,
  { columns, from, order }: Listing,
  values: readonly Cell[],
  { limit, offset }: Page,
): Listed<T> {
  const items = db.all<T>(`select ${columns} ${from} order by ${order} limit ? offset ?`, ...values, limit, offset);
  return { items, total: db.get<{ n: number }>(`select count(*) as n ${from}`, ...values)!.n };
}
