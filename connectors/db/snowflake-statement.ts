import { Problem } from '#sdk';

/** Strings, quoted names and comments, in which Snowflake looks for no keywords. */
const quoted = /'(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|\$\$.*?\$\$|--[^\n]*|\/\/[^\n]*|\/\*.*?\*\//gs;

/** The first words of statements that only read. Snowflake has no common table expression in front of a write. */
const reading = /^[\s(]*(?:select|with|values|show|describe|desc)\b/i;

/**
 * Throws `DB_WRITE_REFUSED` unless a statement only reads. Snowflake has no read-only transactions, and no way to ask
 * what kind of statement it is. `->>` chains statements, of which the last may write.
 */
export function refuseWrites(sql: string): void {
  const bare = sql.replaceAll(quoted, ' ').replace(/[\s;]+$/, '');
  if (reading.test(bare) && !bare.includes(';') && !bare.includes('->>')) return;
  const [word = ''] = /[a-z_]+/i.exec(bare) ?? [];
  throw new Problem({
    code: 'DB_WRITE_REFUSED',
    family: 'job',
    message: 'the query is not one statement that only reads',
    seen: bare.includes('->>') ? '->>' : bare.includes(';') ? ';' : word,
    allowed: 'select, with, values, show, describe',
    next: 'use one query that only reads data, because sources are read-only',
  });
}
