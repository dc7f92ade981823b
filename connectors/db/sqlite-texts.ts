import { Problem, type RunWarning, replacementCharacter, type SqliteValue } from '#sdk';
import type { SourceTexts } from './source-texts.ts';
import type { SqliteColumn, SqliteOrder, SqliteReader } from './sqlite-file.ts';

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

  async rows(): Promise<SqliteValue[][]> {
    const pairs = await this.#reader.rows();
    const { warning } = this.#texts;
    if (pairs.length === 0 && warning !== undefined) this.#warn?.(warning);
    const rows = pairs.map((row, r) => this.#decoded(row, this.#before + r + 1));
    this.#before += rows.length;
    return rows;
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

/**
 * Decorates a reader: looks for the character with which SQLite's library replaces invalid bytes. At the first one,
 * `prove` finds out whether it's in the file, and throws if it isn't.
 */
export class SuspiciousReader implements SqliteReader {
  readonly #reader: SqliteReader;
  readonly #prove: () => Promise<void>;
  #isProven = false;

  constructor(reader: SqliteReader, prove: () => Promise<void>) {
    this.#reader = reader;
    this.#prove = prove;
  }

  open(order: SqliteOrder): Promise<readonly SqliteColumn[]> {
    return this.#reader.open(order);
  }

  async rows(): Promise<SqliteValue[][]> {
    const rows = await this.#reader.rows();
    if (!this.#isProven && rows.some((row) => row.some(isSuspicious))) {
      await this.#prove();
      this.#isProven = true;
    }
    return rows;
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

const isSuspicious = (value: SqliteValue) => typeof value === 'string' && value.includes(replacementCharacter);
