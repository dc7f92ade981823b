import { Problem } from '#sdk';
import type { QueryValues, SqlParameter } from './options.ts';

/** What a server finds in a statement when it prepares it. */
export interface StatementShape {
  readonly parameters: number;
  /** The names of the columns of its result. */
  readonly names: readonly string[];
}

/** A statement with its values in it. */
export interface BoundStatement {
  readonly sql: string;
  /** The names of its columns before the values stood in it; undefined if they are those of the result. */
  readonly names?: readonly string[];
}

/**
 * Puts the values of a query into its text, as literals that mean the same in every sql_mode and end no quote: numbers as
 * they are, texts in hexadecimal. MySQL takes a number that is bound in any other way for bytes (`select ?`), and bound
 * values of prepared statements come in another protocol.
 *
 * Where the placeholders are is confirmed by the server: it counts as many in the query as there are values, and none
 * when they are replaced. Inside a text or a comment, a literal like these changes nothing but that text, so a question
 * mark that is no placeholder would leave one over.
 */
export async function boundStatement(
  { sql, parameters }: Pick<QueryValues, 'sql' | 'parameters'>,
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

/** Text, a quoted name or a comment, as one piece; or a placeholder. */
const escaped = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!M?!).*?\*\/|\?/gs;
/** With the sql_mode NO_BACKSLASH_ESCAPES. */
const unescaped = /'[^']*'|"[^"]*"|`[^`]*`|--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!M?!).*?\*\/|\?/gs;

/** A statement without texts, quoted names and comments, as each of the two ways to read a backslash has it. */
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
    // No blank where none is needed: `--` and a blank begin a comment.
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
    message: `wrong number of parameters: the query has ${wanted}, the option parameters has ${given}`,
    next: 'give one parameter for each ? of the query',
  });
}

function notFound(): Problem {
  return new Problem({
    code: 'DB_QUERY_FAILED',
    family: 'job',
    message: 'ambiguous placeholders: the server finds another ? in the query than Sluice does',
    next: 'take question marks out of comments, quoted names and texts of the query, or write the values into it',
  });
}
