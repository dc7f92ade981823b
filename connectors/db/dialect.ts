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
  /**
   * The cursor bound as an operand. `before` contains the parameters that are already bound. An upper bound (`isUpper`)
   * needn't be a value that the column can have; other bounds usually were read from it.
   */
  operand(bound: CursorBound, before: readonly SqlParameter[], isUpper?: boolean): SqlFragment;
  /**
   * Whether the database compares several values at once, as in `(a, b) >= (1, 2)`, and uses an index for that. If not,
   * an operand can be repeated in a statement.
   */
  readonly comparesRows: boolean;
  /** False if texts differ from those in the database, so that it can't compare the two. */
  readonly comparesTexts?: false;
  /** The row limit. Depending on the dialect, it follows `select` or ends the statement. */
  limit(rows: number): { readonly first?: string; readonly last?: string };
  /**
   * The column's stored value, for a column that is sorted by its stored value and whose text may differ from that
   * value. The query returns the stored value as an additional last column.
   */
  stored?(column: string): string;
}

export interface OrderedRange {
  /** The columns that determine the order. If there are several, none of them may be null. */
  readonly columns: readonly [string, ...string[]];
  /** Inclusive lower bound: values of the first columns, or of all of them. */
  readonly from?: readonly CursorBound[] | undefined;
  /** Exclusive upper bound of the first column. */
  readonly to?: CursorBound | undefined;
  /** Whether to include rows with null (to report them), exclude them, or return only them. */
  readonly nulls: 'read' | 'leave_out' | 'only';
  readonly rows?: number;
}

/** Wraps a query so that it returns only a range of its rows, in order. */
export function rangeQuery(
  query: SqlQuery,
  { columns, from, to, nulls, rows }: OrderedRange,
  dialect: Dialect,
): SqlQuery {
  const names = columns.map((column) => dialect.quote(column));
  const parameters = [...query.parameters];
  const bind = (bound: CursorBound, isUpper: boolean): string => {
    const operand = dialect.operand(bound, parameters, isUpper);
    parameters.push(...operand.parameters);
    return operand.sql;
  };
  const low = from?.map((bound) => bind(bound, false));
  const high = to === undefined ? undefined : bind(to, true);
  const { first = '', last = '' } = rows === undefined ? {} : dialect.limit(rows);
  const stored = dialect.stored === undefined ? '' : `, ${dialect.stored(names[0]!)}`;
  const bounds = [
    ...(low === undefined ? [] : [atLeast(names, low, dialect)]),
    ...(high === undefined ? [] : [`${names[0]} < ${high}`]),
  ];
  return {
    ...query,
    // The query is on lines of its own, because it may end in a comment.
    sql: `select ${first}sluice_rows.*${stored} from (\n${bare(query.sql)}\n) sluice_rows${conditionOf(names, bounds, nulls)} order by ${names.join(', ')}${last}`,
    parameters,
  };
}

/** The condition that the first columns are at least these values, compared from the first to the last column. */
function atLeast(names: readonly string[], values: readonly string[], dialect: Dialect): string {
  const [name] = names;
  const [value, ...others] = values;
  if (others.length === 0) return `${name} >= ${value}`;
  if (dialect.comparesRows) return `(${names.slice(0, values.length).join(', ')}) >= (${values.join(', ')})`;
  return `(${name} > ${value} or (${name} = ${value} and ${atLeast(names.slice(1), others, dialect)}))`;
}

function conditionOf(names: readonly string[], bounds: readonly string[], nulls: OrderedRange['nulls']): string {
  if (nulls === 'only') return ` where ${names.map((name) => `${name} is null`).join(' or ')}`;
  // A bound already excludes rows in which the first column is null.
  const filled = nulls === 'leave_out' ? names.slice(bounds.length === 0 ? 0 : 1) : [];
  const terms = [...bounds, ...filled.map((name) => `${name} is not null`)];
  if (terms.length === 0) return '';
  return ` where ${terms.join(' and ')}${nulls === 'read' ? ` or ${names[0]} is null` : ''}`;
}

/** A name in standard SQL. */
export const doubleQuoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A name in backticks, in which a backslash escapes. */
export const backtickQuoted = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

/** The bytes of a binary value, whose text is base64, in hexadecimal. */
export const hexOf = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

/** A text in standard SQL. */
export const stringLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A subquery must not end in a semicolon. */
export function bare(sql: string): string {
  return sql.replace(/[\s;]+$/, '');
}
