import { backtickQuoted, type Dialect, doubleQuoted, hexOf, stringLiteral } from './dialect.ts';

/** Binds the value as text. The server converts the text to the column's type without loss. */
export const postgresDialect: Dialect = {
  quote: doubleQuoted,
  operand: ({ type, text }, before) => ({
    sql: `$${before.length + 1}`,
    parameters: [type === 'binary' ? `\\x${hexOf(text)}` : text],
  }),
  comparesRows: true,
  limit: (rows) => ({ last: ` limit ${rows}` }),
};

/**
 * Numbers become exact literals. Text and times become typed literals in hexadecimal, which can't break out of their
 * quotes.
 */
export const mysqlDialect: Dialect = {
  quote: (name) => `\`${name.replaceAll('`', '``')}\``,
  operand: ({ type, text }) => ({ sql: mysqlLiteral(type, text), parameters: [] }),
  comparesRows: false,
  limit: (rows) => ({ last: ` limit ${rows}` }),
};

function mysqlLiteral(type: string, text: string): string {
  if (type === 'integer' || type === 'decimal') return text;
  if (type === 'binary') return `x'${hexOf(text)}'`;
  const hex = `_utf8mb4 x'${Buffer.from(isTime(type) ? wallClock(text) : text, 'utf8').toString('hex')}'`;
  if (type === 'date') return `cast(${hex} as date)`;
  return isTime(type) ? `cast(${hex} as datetime(6))` : hex;
}

const isTime = (type: string) => type === 'timestamp' || type === 'timestamptz';

/** The session's time zone is UTC, so literals have no zone. */
const wallClock = (text: string) => text.replace('T', ' ').replace(/Z$/, '');

/**
 * SQLite sorts by stored values, which may differ from the text in the rows. For example, `2026-01-31 10:00` has no T.
 */
export const sqliteDialect: Dialect = {
  quote: doubleQuoted,
  operand: ({ type, text }) =>
    type === 'integer' || type === 'decimal' ? { sql: text, parameters: [] } : { sql: '?', parameters: [text] },
  comparesRows: true,
  limit: (rows) => ({ last: ` limit ${rows}` }),
  stored: (column) => `cast(${column} as text)`,
};

/** Values are bound as text, and converted to exact types: a literal with many digits would become a float. */
export const clickhouseDialect: Dialect = {
  quote: backtickQuoted,
  operand: ({ type, text }, before) => ({
    sql: clickhouseValue(type, text, `{p${before.length + 1}:String}`),
    parameters: [text],
  }),
  comparesRows: true,
  limit: (rows) => ({ last: ` limit ${rows}` }),
};

function clickhouseValue(type: string, text: string, parameter: string): string {
  if (type === 'integer') return `toInt256(${parameter})`;
  if (type === 'decimal') return `toDecimal256(${parameter}, ${text.split('.')[1]?.length ?? 0})`;
  if (type === 'uuid') return `toUUID(${parameter})`;
  if (type === 'date') return `toDate32(${parameter})`;
  return isTime(type) ? `parseDateTime64BestEffort(${parameter}, 9, 'UTC')` : parameter;
}

/** Text is bound as a parameter; all other values are literals. */
export const sqlserverDialect: Dialect = {
  quote: (name) => `[${name.replaceAll(']', ']]')}]`,
  operand({ type, text }, before, isUpper = false) {
    if (type === 'text') return { sql: `@p${before.length + 1}`, parameters: [text] };
    // Untyped, so that it's converted to the column's type: a datetime column stores .007 as .00666…, which is less than
    // a datetime2 of .007. The conversion may round, which is correct for lower bounds, but could exclude rows below an
    // upper bound.
    if (type === 'timestamp' && !isUpper) return { sql: stringLiteral(text), parameters: [] };
    return { sql: sqlserverLiteral(type, text), parameters: [] };
  },
  comparesRows: false,
  limit: (rows) => ({ first: `top (${rows}) ` }),
};

function sqlserverLiteral(type: string, text: string): string {
  if (type === 'integer' || type === 'decimal') return text;
  if (type === 'binary') return `0x${hexOf(text)}`;
  const words: Readonly<Record<string, string>> = { timestamp: 'datetime2(7)', timestamptz: 'datetimeoffset(7)' };
  const word = type === 'uuid' ? 'uniqueidentifier' : (words[type] ?? type);
  return `cast(${stringLiteral(text)} as ${word})`;
}
