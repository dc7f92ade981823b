import { separators } from './csv-cells.ts';

/** The first record is held back until the delimiter is known from it; a longer one is refused. */
export const maxFirstRecordBytes = 1024 * 1024;

const quote = 34;

/**
 * Holds the beginning of a CSV document until its first record is complete, so that the delimiter can be told from it:
 * the one of `,` `;` tab `|` that stands in it most often outside quotes, the comma when there is none.
 */
export class CsvFirstRecord {
  readonly #held: Buffer[] = [];
  readonly #counts = separators.map(() => 0);
  readonly #codes = separators.map((separator) => separator.charCodeAt(0));
  #bytes = 0;
  #inQuotes = false;

  /** Takes more of the document. True when the record has ended in these bytes or is too long to go on. */
  hold(bytes: Buffer): boolean {
    this.#held.push(Buffer.from(bytes));
    for (const byte of bytes) {
      if (byte === quote) this.#inQuotes = !this.#inQuotes;
      if (this.#inQuotes) continue;
      if (byte === 10 || byte === 13) return true;
      const which = this.#codes.indexOf(byte);
      if (which >= 0) this.#counts[which]!++;
    }
    this.#bytes += bytes.length;
    return this.tooLong;
  }

  /** The record had not ended after {@link maxFirstRecordBytes} bytes. */
  get tooLong(): boolean {
    return this.#bytes > maxFirstRecordBytes;
  }

  /** The delimiter as a byte. */
  get delimiter(): number {
    return this.#codes[this.#counts.indexOf(Math.max(...this.#counts))]!;
  }

  /** Everything held, in order. */
  get bytes(): Buffer {
    return Buffer.concat(this.#held);
  }
}
