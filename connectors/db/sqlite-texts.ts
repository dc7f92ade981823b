import { Problem, type RunWarning, type SqliteValue } from '#sdk';
import type { SourceTexts } from './source-texts.ts';
import type { SqliteColumn, SqliteOrder, SqliteReader, SqliteRows } from './sqlite-file.ts';

/** Decorates a reader whose order has raw texts: decodes them. */
export class DecodingReader implements SqliteReader {
  readonly #reader: SqliteReader;
  readonly #texts: SourceTexts;
  readonly #warn: ((warning: RunWarning) => void) | undefined;
  #columns: readonly SqliteColumn[] = [];
  #before = 0;

  /** `warn` gets a warning at the end if texts were changed. */
  constructor(
    reader: SqliteReader,
    texts: SourceTexts,
    { warn }: { readonly warn?: ((warning: RunWarning) => void) | undefined },
  ) {
    this.#reader = reader;
    this.#texts = texts;
    this.#warn = warn;
  }

  async open(order: SqliteOrder): Promise<readonly SqliteColumn[]> {
    this.#columns = await this.#reader.open(order);
    return this.#columns;
  }

  async rows(): Promise<SqliteRows> {
    const { rows: pairs } = await this.#reader.rows();
    const { warning } = this.#texts;
    if (pairs.length === 0 && warning !== undefined) this.#warn?.(warning);
    const rows = pairs.map((row, r) => this.#decoded(row, this.#before + r + 1));
    this.#before += rows.length;
    return { rows, isSuspicious: false };
  }

  #decoded(pairs: SqliteValue[], row: number): SqliteValue[] {
    return this.#columns.map(({ name }, c) => {
      const value = pairs[2 * c]!;
      if (!(value instanceof Uint8Array) || pairs[2 * c + 1] !== 1n) return value;
      try {
        return this.#texts.read(Buffer.from(value.buffer, value.byteOffset, value.byteLength), { name, type: 'text' });
      } catch (thrown) {
        throw thrown instanceof Problem ? thrown.at({ row }) : thrown;
      }
    });
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

/** Decorates a reader: if texts may have invalid bytes, `prove` finds out whether they do, and throws if so. */
export class SuspiciousReader implements SqliteReader {
  readonly #reader: SqliteReader;
  readonly #prove: () => Promise<void>;

  constructor(reader: SqliteReader, prove: () => Promise<void>) {
    this.#reader = reader;
    this.#prove = prove;
  }

  open(order: SqliteOrder): Promise<readonly SqliteColumn[]> {
    return this.#reader.open(order);
  }

  async rows(): Promise<SqliteRows> {
    const next = await this.#reader.rows();
    if (next.isSuspicious) await this.#prove();
    return next;
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}
