import { separators } from './csv-cells.ts';

/** Maximum size of the first record, which is held until its delimiter has been detected. */
export const maxFirstRecordBytes = 1024 * 1024;

const quote = 34;

/**
 * Holds the start of a CSV document until its first record is complete, to detect the delimiter: whichever of `,` `;`
 * tab `|` occurs most often outside quotes, or the comma if none does.
 */
export class CsvFirstRecord {
  readonly #held: Buffer[] = [];
  readonly #counts = separators.map(() => 0);
  readonly #codes = separators.map((separator) => separator.charCodeAt(0));
  #bytes = 0;
  #inQuotes = false;

  /** Adds more of the document. Returns true if the first record has ended or has become too long. */
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

  /** Whether the record didn't end within {@link maxFirstRecordBytes} bytes. */
  get tooLong(): boolean {
    return this.#bytes > maxFirstRecordBytes;
  }

  /** The delimiter as a byte. */
  get delimiter(): number {
    return this.#codes[this.#counts.indexOf(Math.max(...this.#counts))]!;
  }

  /** All bytes held, in order. */
  get bytes(): Buffer {
    return Buffer.concat(this.#held);
  }
}
