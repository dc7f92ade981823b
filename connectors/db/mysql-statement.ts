import { Problem } from '#sdk';
import type { SqlParameter, SqlQuery } from './options.ts';

/** What the server returns when it prepares a statement. */
export interface StatementShape {
  readonly parameters: number;
  /** The result's column names. */
  readonly names: readonly string[];
}

/** The column names from before the values were inserted; undefined if the insertion didn't change them. */
export interface BoundStatement {
  readonly sql: string;
  /** The column names before the values were inserted; undefined if insertion didn't change them. */
  readonly names?: readonly string[];
}

/**
 * Inserts a query's values into its text as literals: numbers unchanged, text in hexadecimal. These literals mean the
 * same in every sql_mode and can't break out of a quote. The alternatives don't work: MySQL interprets a bound number
 * as bytes (`select ?`), and prepared statements return their results in a different protocol.
 *
 * The server confirms the positions of the placeholders: it must count as many placeholders in the query as there are
 * values, and none after the replacement. A question mark in a string or comment isn't a placeholder. Replacing one
 * would leave a real placeholder behind.
 */
export async function boundStatement(
  { sql, parameters }: Pick<SqlQuery, 'sql' | 'parameters'>,
  prepare: (sql: string) => Promise<StatementShape>,
): Promise<BoundStatement> {
  if (parameters.length === 0) return { sql };
  const { parameters: wanted, names } = await prepare(sql);
  if (wanted !== parameters.length) throw otherCount(wanted, parameters.length);
  for (const escapes of [true, false]) {
    const places = placeholders(sql, escapes);
    if (places.length !== wanted) continue;
    const bound = withLiterals(sql, places, parameters);
    if ((await prepare(bound)).parameters === 0) return { sql: bound, names };
  }
  throw notFound();
}

/** Matches a string, a quoted name, a comment or a placeholder. */
const escaped = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!M?!).*?\*\/|\?/gs;
/** Matches the same tokens as `escaped`, but for the sql_mode NO_BACKSLASH_ESCAPES. */
const unescaped = /'[^']*'|"[^"]*"|`[^`]*`|--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!M?!).*?\*\/|\?/gs;

/**
 * The statement without strings, quoted names and comments. There are two versions, because the meaning of a backslash
 * depends on the sql_mode.
 */
export function withoutQuoted(sql: string): readonly string[] {
  return [escaped, unescaped].map((quoted) => sql.replaceAll(quoted, (piece) => (piece === '?' ? piece : ' ')));
}

function placeholders(sql: string, escapes: boolean): readonly number[] {
  return [...sql.matchAll(escapes ? escaped : unescaped)].flatMap(({ 0: piece, index }) =>
    piece === '?' ? [index] : [],
  );
}

function withLiterals(sql: string, places: readonly number[], parameters: readonly SqlParameter[]): string {
  let bound = '';
  let from = 0;
  for (const [i, place] of places.entries()) {
    // Adds a space only where necessary, because `--` followed by a space starts a comment.
    const gap = /[\w$\u0080-\uffff]/.test(sql[place - 1] ?? '') ? ' ' : '';
    bound += `${sql.slice(from, place)}${gap}${literal(parameters[i]!)} `;
    from = place + 1;
  }
  return bound + sql.slice(from);
}

function literal(value: SqlParameter): string {
  if (typeof value !== 'string') return String(value);
  return value === '' ? "_utf8mb4 x''" : `_utf8mb4 0x${Buffer.from(value, 'utf8').toString('hex')}`;
}

function otherCount(wanted: number, given: number): Problem {
  return new Problem({
    code: 'DB_QUERY_FAILED',
    family: 'job',
    message: `wrong number of parameters: the query has ${wanted}, but the parameters option has ${given}`,
    next: 'set one parameter for each ? in the query',
  });
}

function notFound(): Problem {
  return new Problem({
    code: 'DB_QUERY_FAILED',
    family: 'job',
    message: 'ambiguous placeholders: the server and Sluice find different placeholders (?) in the query',
    next: "remove question marks from the query's comments, quoted names and strings, or write the values into the query",
  });
}
