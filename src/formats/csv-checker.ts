import { CsvFirstRecord, maxFirstRecordBytes } from './csv-first-record.ts';
import { CsvSyntax } from './csv-syntax.ts';
import type { CheckResult, FormatChecker } from './format.ts';
import { invalid } from './invalid.ts';
import { Utf8Gate } from './utf8-gate.ts';

const byteOrderMark = Buffer.from('\ufeff', 'utf8');

/**
 * Checks a CSV document against RFC 4180: every record has the same number of fields, quotes only enclose whole fields,
 * and every quote is closed. Lines end with LF, CRLF or CR; the delimiter is detected in the first record. A byte order
 * mark and empty lines at the very end are accepted.
 */
export class CsvChecker implements FormatChecker {
  readonly #gate = new Utf8Gate(
    (bytes) => this.#accept(bytes),
    () => this.#refusal(),
  );
  #first: CsvFirstRecord | undefined = new CsvFirstRecord();
  #scanner: CsvSyntax | undefined;
  #began = false;
  #visible = false;
  #skipped = 0;

  write(chunk: Uint8Array): void {
    this.#gate.write(chunk);
  }

  end(): CheckResult {
    this.#gate.end();
    if (!this.#visible) throw invalid('CSV', 'the document is empty', { line: 1, byte: 0 });
    return { records: this.#scan().end() - 1 };
  }

  #accept(bytes: Buffer): void {
    if (!this.#began) bytes = this.#begin(bytes);
    this.#visible ||= bytes.some(isVisible);
    if (this.#first === undefined) this.#scan().accept(bytes);
    else if (this.#first.hold(bytes)) this.#release(this.#first);
  }

  /** The gate passes on only whole characters, so the byte order mark is never split. */
  #begin(bytes: Buffer): Buffer {
    this.#began = true;
    if (!byteOrderMark.equals(bytes.subarray(0, 3))) return bytes;
    this.#skipped = 3;
    return bytes.subarray(3);
  }

  #release(first: CsvFirstRecord): void {
    if (first.tooLong) throw tooLong();
    this.#scan();
  }

  /** Returns the scanner. The first call creates it and passes it the held bytes. */
  #scan(): CsvSyntax {
    if (this.#scanner !== undefined) return this.#scanner;
    this.#scanner = new CsvSyntax(this.#first!.delimiter, this.#skipped);
    const held = this.#first!.bytes;
    this.#first = undefined;
    this.#scanner.accept(held);
    return this.#scanner;
  }

  #refusal(): Error {
    return this.#scan().invalid('a byte that is not UTF-8');
  }
}

/**
 * Whether a byte is content, which is anything but white space. Control characters are content too, because a column's
 * name can be NUL.
 */
function isVisible(byte: number): boolean {
  return byte > 32 || byte < 9 || (byte > 13 && byte < 32);
}

function tooLong(): Error {
  const what = `the first record does not end within ${maxFirstRecordBytes} bytes`;
  return invalid('CSV', what, { line: 1, byte: maxFirstRecordBytes });
}
