import type { CursorBound, Extraction } from '#sdk';
import type { SqlParameter, SqlQuery } from './options.ts';

/** A SQL fragment with its bound parameters. */
export interface SqlFragment {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

export type RunQuery = (query: SqlQuery) => Promise<Extraction>;

/** The SQL dialect of one kind of database. */
export interface Dialect {
  quote(name: string): string;
  /** The cursor bound as an operand. `before` contains the parameters that are already bound. */
  operand(bound: CursorBound, before: readonly SqlParameter[]): SqlFragment;
  /** The row limit. Depending on the dialect, it follows `select` or ends the statement. */
  limit(rows: number): { readonly first?: string; readonly last?: string };
  /**
   * The column's stored value, for a column that is sorted by its stored value and whose text may differ from that
   * value. The query returns the stored value as an additional last column.
   */
  stored?(column: string): string;
}

export interface OrderedRange {
  readonly column: string;
  /** Inclusive lower bound. */
  readonly from?: CursorBound;
  /** Exclusive upper bound. */
  readonly to?: CursorBound;
  /** Whether to include rows with null (to report them), exclude them, or return only them. */
  readonly nulls: 'read' | 'leave_out' | 'only';
  readonly rows?: number;
}

/** Wraps a query so that it returns only a range of its rows, in order. */
export function rangeQuery(
  query: SqlQuery,
  { column, from, to, nulls, rows }: OrderedRange,
  dialect: Dialect,
): SqlQuery {
  const name = dialect.quote(column);
  const low = from === undefined ? undefined : dialect.operand(from, query.parameters);
  const bound = [...query.parameters, ...(low?.parameters ?? [])];
  const high = to === undefined ? undefined : dialect.operand(to, bound);
  const { first = '', last = '' } = rows === undefined ? {} : dialect.limit(rows);
  const stored = dialect.stored === undefined ? '' : `, ${dialect.stored(name)}`;
  const condition = conditionOf(name, { low: low?.sql, high: high?.sql }, nulls);
  return {
    ...query,
    // The query is on lines of its own, because it may end in a comment.
    sql: `select ${first}sluice_rows.*${stored} from (\n${bare(query.sql)}\n) sluice_rows${condition} order by ${name}${last}`,
    parameters: [...bound, ...(high?.parameters ?? [])],
  };
}

function conditionOf(
  name: string,
  { low, high }: { low: string | undefined; high: string | undefined },
  nulls: OrderedRange['nulls'],
): string {
  if (nulls === 'only') return ` where ${name} is null`;
  if (low === undefined) return nulls === 'read' ? '' : ` where ${name} is not null`;
  const end = high === undefined ? '' : ` and ${name} < ${high}`;
  return ` where ${name} >= ${low}${end}${nulls === 'read' ? ` or ${name} is null` : ''}`;
}

/** A subquery must not end in a semicolon. */
function bare(sql: string): string {
  return sql.replace(/[\s;]+$/, '');
}
