/** A column type of a server, and the literals to insert, in the server's syntax. */
export interface Species {
  readonly type: string;
  /** The value in JSON; numbers that JSON can't represent are strings. */
  readonly json: 'number' | 'text' | 'bare' | 'json';
  /**
   * An expression with `{c}` that makes the server itself write the value as text. Each server has one for most types.
   */
  readonly told?: string;
  /** Converts the server's text to Sluice's format; null for a value that becomes null. */
  readonly canonical?: (text: string) => string | null;
  /** Empty for a generated column. */
  readonly values: readonly string[];
}

/** Values of one type per column, and a row of nulls. */
export function zooStatements(species: readonly Species[]): string[] {
  const most = Math.max(...species.map(({ values }) => values.length));
  const rows = Array.from({ length: most + 1 }, (_, at) =>
    species.flatMap(({ values }) => (values.length === 0 ? [] : [values[at] ?? 'null'])),
  );
  const columns = species.map(({ type }, c) => `c${c} ${type}`);
  const filled = species.flatMap(({ values }, c) => (values.length === 0 ? [] : [`c${c}`]));
  return [
    `create table zoo (id int primary key, ${columns.join(', ')})`,
    ...rows.map((row, at) => `insert into zoo (id, ${filled.join(', ')}) values (${[at, ...row].join(', ')})`),
  ];
}

/** The query that returns the server's own text. */
export function toldQuery(species: readonly Species[], usual: string): string {
  const list = species.map(({ told = usual }, c) => told.replaceAll('{c}', `c${c}`));
  return `select ${list.join(', ')} from zoo order by id`;
}

const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');

/** Converts a server's text to the formats that README and docs/connectors/db.md promise. */
export const canonical = {
  hex: base64,
  bytea: (text: string) => base64(text.slice(2)),
  timestamp: (text: string) => (/\d$/.test(text) ? text.replace(' ', 'T') : text),
  timestamptz: (text: string) => (/\+00$/.test(text) ? text.replace(' ', 'T').replace(/\+00$/, 'Z') : text),
  timetz: (text: string) => (/[+-]\d\d$/.test(text) ? `${text}:00` : text),
  /** For MySQL. */
  date: (text: string) => (/-00/.test(text) ? null : text),
  datetime: (text: string) => (/-00/.test(text) ? null : text.replace(' ', 'T')),
  instant: (text: string) => (/-00/.test(text) ? null : `${text.replace(' ', 'T')}Z`),
  year: (text: string) => String(Number(text)),
};
