import type { Problem } from '../lib/problem.ts';
import { invalid } from './invalid.ts';

const quote = 34;
const lf = 10;
const cr = 13;

/** The states of the scanner between two bytes. */
const recordStart = 0;
const fieldStart = 1;
const inField = 2;
const inQuotes = 3;
const afterQuote = 4;

/** Scans CSV with a known delimiter, byte by byte, and throws at the first error. Stores only numbers, never bytes. */
export class CsvSyntax {
  readonly #delimiter: number;
  /** Bytes that end a sequence of ordinary bytes outside quotes. */
  readonly #special = new Uint8Array(256);
  #state = recordStart;
  #afterCr = false;
  #fields = 1;
  /** Number of fields in the first record; 0 until it has ended. */
  #expected = 0;
  #records = 0;
  /** Line number of the first of the empty lines at the end of the input so far; 0 if there are none. */
  #emptyLine = 0;
  #line = 1;
  #recordLine = 1;
  /** Number of bytes before the current chunk. */
  #byte: number;

  constructor(delimiter: number, firstByte: number) {
    this.#delimiter = delimiter;
    this.#byte = firstByte;
    for (const byte of [delimiter, quote, lf, cr]) this.#special[byte] = 1;
  }

  accept(bytes: Buffer): void {
    const special = this.#special;
    const delimiter = this.#delimiter;
    const { length } = bytes;
    let state = this.#state;
    for (let p = 0; p < length; p++) {
      let byte = bytes[p]!;
      if (byte === lf && this.#afterCr) {
        this.#afterCr = false;
        continue;
      }
      this.#afterCr = false;
      if (state === recordStart) {
        if (byte === lf || byte === cr) {
          this.#emptyRecord(p);
          this.#newLine(byte);
          continue;
        }
        this.#beginRecord(p);
        state = fieldStart;
      }
      if (state === inField) {
        while (special[byte] === 0 && ++p < length) byte = bytes[p]!;
        if (p === length) break;
      } else if (state === inQuotes) {
        while (byte !== quote && byte !== lf && byte !== cr && ++p < length) byte = bytes[p]!;
        if (p === length) break;
        if (byte === quote) state = afterQuote;
        else this.#newLine(byte);
        continue;
      }
      if (byte === delimiter) {
        this.#fields++;
        state = fieldStart;
      } else if (byte === lf || byte === cr) {
        this.#endRecord(p);
        this.#newLine(byte);
        state = recordStart;
      } else if (byte === quote) {
        if (state === inField) throw this.#at(p, 'a quote in a field that does not begin with a quote');
        state = inQuotes;
      } else {
        if (state === afterQuote) throw this.#at(p, 'text after a closing quote');
        state = inField;
      }
    }
    this.#state = state;
    this.#byte += length;
  }

  /** Finishes the scan and returns the number of records, including the header. */
  end(): number {
    if (this.#state === inQuotes) {
      throw this.invalid(
        `the document ends inside a quoted field of the record that begins at line ${this.#recordLine},`,
      );
    }
    if (this.#state !== recordStart) this.#endRecord(0);
    return this.#records;
  }

  /** The error if the document is invalid right after the bytes accepted so far. */
  invalid(what: string): Problem {
    return this.#at(0, what);
  }

  #at(offset: number, what: string, line = this.#line): Problem {
    return invalid('CSV', what, { line, byte: this.#byte + offset });
  }

  #newLine(byte: number): void {
    this.#line++;
    this.#afterCr = byte === cr;
  }

  /** An empty line is a record if records have one field; otherwise, empty lines are allowed only at the end. */
  #emptyRecord(offset: number): void {
    this.#recordLine = this.#line;
    if (this.#expected > 1) this.#emptyLine ||= this.#line;
    else this.#endRecord(offset);
  }

  #beginRecord(offset: number): void {
    if (this.#emptyLine > 0) throw this.#at(offset, 'an empty line between records', this.#emptyLine);
    this.#recordLine = this.#line;
  }

  #endRecord(offset: number): void {
    const fields = this.#fields;
    this.#fields = 1;
    this.#records++;
    if (this.#expected === 0) this.#expected = fields;
    if (fields === this.#expected) return;
    const what = `a record with ${fields} ${fields === 1 ? 'field' : 'fields'}, but the first record has ${this.#expected},`;
    throw this.#at(offset, what, this.#recordLine);
  }
}
