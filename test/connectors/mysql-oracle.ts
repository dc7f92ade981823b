import mysql, { type Connection } from 'mysql2';
import { Problem } from '#sdk';
import type { TestServer } from '../servers/server.ts';
import { read } from './db-reader.ts';

/** How the server itself writes a type's values as text if they come from a table. */
const told = {
  integer: 'cast(v + 0 as char)',
  float: 'cast(v + 0 as char)',
  binary: 'hex(v)',
  other: 'cast(v as char)',
} as const;

type Told = (string | null)[];

/**
 * What the server stores when it writes a statement's result to a table: the column's type and its values. Only this
 * doesn't depend on how results are transferred.
 */
export class MysqlOracle {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  static async connect({ url }: TestServer, statements: readonly string[]): Promise<MysqlOracle> {
    const oracle = new MysqlOracle(mysql.createConnection({ uri: url, multipleStatements: true }));
    for (const statement of statements) await oracle.#rows(statement);
    await oracle.#rows("set names utf8mb4, sql_mode = '', time_zone = '+00:00'");
    return oracle;
  }

  close(): void {
    this.#connection.destroy();
  }

  #rows(sql: string): Promise<string[][]> {
    const typeCast = (field: { string(): string | null }) => field.string();
    return new Promise((resolve, reject) =>
      this.#connection.query({ sql, rowsAsArray: true, typeCast }, (failure, rows) =>
        failure ? reject(failure) : resolve(rows as unknown as string[][]),
      ),
    );
  }

  /** Undefined if the server doesn't support the statement. */
  async #tell(sql: string): Promise<{ type: string; values(way: keyof typeof told): Promise<Told> } | undefined> {
    await this.#rows('drop temporary table if exists told');
    try {
      await this.#rows(`create temporary table told as ${sql}`);
    } catch {
      return undefined;
    }
    const [[, type]] = (await this.#rows('show columns from told')) as [[string, string]];
    const values = async (way: keyof typeof told) =>
      (await this.#rows(`select ${told[way]} from told`)).map(([value]) => value ?? null);
    return { type, values };
  }

  /**
   * What is wrong with our result for the statement, whose column is `v`; undefined if nothing is, `unknown` if the
   * server doesn't support the statement.
   */
  async compare(url: string, sql: string): Promise<string | undefined> {
    const table = await this.#tell(sql);
    if (table === undefined) return 'unknown';
    const ours = await read({ url }, sql).catch((thrown: unknown) => thrown);
    if (ours instanceof Problem && ours.code === 'DB_AMBIGUOUS_BIT' && isWideBit(table.type)) return undefined;
    if (ours instanceof Error) return ours.message;
    const { columns, rows } = ours as Awaited<ReturnType<typeof read>>;
    const type = columns[0]!.split(' ').at(-1)!;
    const cells = rows.map(([cell]) => cell ?? null);
    if (cells.every((cell) => cell === null))
      return (await table.values('other')).every((v) => v === null) ? undefined : 'nulls';
    if (!fits(type, table.type)) return `type ${type}, but a table has ${table.type}`;
    const way = type === 'integer' || type === 'float' || type === 'binary' ? type : 'other';
    const shown = shownBy(type, table.type);
    const found = cells.map((cell) => (cell === null ? null : shown(plain(type, cell)))).sort();
    const wanted = (await table.values(way)).map((value) => (value === null ? null : shown(value))).sort();
    return JSON.stringify(found) === JSON.stringify(wanted)
      ? undefined
      : `${JSON.stringify(found)}, but ${JSON.stringify(wanted)}`;
  }
}

const isWideBit = (type: string) => /^bit\((?![1-5]\))/.test(type);

/** MariaDB stores JSON as text; ZEROFILL and YEAR are numbers that it formats in its own way. */
const types: Readonly<Record<string, RegExp>> = {
  integer: /^(tinyint|smallint|mediumint|int|bigint|year|bit)/,
  decimal: /^decimal/,
  float: /^(float|double)/,
  date: /^date$/,
  time: /^time(\(|$)/,
  timestamp: /^datetime/,
  timestamptz: /^timestamp/,
  json: /^(json|(var)?char|(medium|long)?text)/,
  binary: /^((var)?binary|(tiny|medium|long)?blob|geometry|point)/,
  // In MySQL 8, some aggregates are times in a table and strings in a result; their text is the same.
  text: /^((var)?char|(tiny|medium|long)?text|enum|set|time)|zerofill|^inet/,
  uuid: /^uuid/,
};

const fits = (ours: string, table: string) => types[ours]?.test(table) === true;

/** Writes equal numbers in the same form. Both servers print a FLOAT with six digits but store more. */
function shownBy(type: string, table: string): (text: string) => string {
  if (type === 'decimal') return (text) => text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
  if (type !== 'float') return (text) => text;
  return (text) => String(table === 'float' ? Number(Number(text).toPrecision(6)) : Number(text));
}

/** Our canonical text in the server's own format. */
function plain(type: string, text: string): string {
  if (type === 'binary') return Buffer.from(text, 'base64').toString('hex').toUpperCase();
  if (type === 'timestamp' || type === 'timestamptz') return text.replace('T', ' ').replace('Z', '');
  return text;
}
