import type { CheckResult, FormatChecker } from '../../formats/format.ts';
import { HeldBytes } from '../../formats/held-bytes.ts';
import { invalid } from '../../formats/invalid.ts';
import { Utf8Gate } from '../../formats/utf8-gate.ts';
import { XmlParser } from './xml-parser.ts';
import { XmlSyntax } from './xml-syntax.ts';

const nothing = Buffer.alloc(0);
/**
 * Maximum number of bytes that are held for the scanner. If a longer tag, comment or CDATA section arrives in several
 * chunks, the parser takes over.
 */
const maxHeldBytes = 64 * 1024;

/**
 * Checks that a document is well-formed XML 1.0 in UTF-8. Rejects document type declarations: data doesn't need them,
 * and entities that a document declares can expand without limit or refer to external files.
 *
 * A fast scanner reads the document as long as it's certain that the document is well-formed. For most data, that is up
 * to the end of the root element. A strict parser then reads the rest; it implements every rule and reports errors.
 */
export class XmlChecker implements FormatChecker {
  readonly #gate = new Utf8Gate(
    (bytes) => this.#accept(bytes),
    () => this.#handOver().invalid('a byte that is not UTF-8'),
  );
  readonly #scanner = new XmlSyntax();
  #parser: XmlParser | undefined;
  #visible = false;
  /** Number of bytes that the scanner has accepted. */
  #sure = 0;
  readonly #held = new HeldBytes();

  write(chunk: Uint8Array): void {
    this.#gate.write(chunk);
  }

  end(): CheckResult {
    this.#gate.end();
    if (!this.#visible) throw invalid('XML', 'the document is empty', { line: 1, byte: 0 });
    return { records: this.#handOver().end() };
  }

  #accept(bytes: Buffer): void {
    this.#visible ||= bytes.some((byte) => byte > 32);
    let rest = bytes;
    while (rest.length > 0 && this.#parser === undefined) rest = this.#scan(rest);
    this.#parser?.accept(rest);
  }

  /** Scans some of the bytes. Returns the bytes that are left. */
  #scan(bytes: Buffer): Buffer {
    const held = this.#held.length;
    let [piece, rest]: [Buffer, Buffer] = [bytes, nothing];
    if (held > 0) {
      const taken = bytes.subarray(0, this.#held.scanAt - held);
      rest = bytes.subarray(taken.length);
      this.#held.add(taken);
      if (this.#held.length < this.#held.scanAt) return nothing;
      piece = this.#held.take();
    }
    const sure = this.#scanner.scan(piece);
    this.#sure += sure;
    if (sure > held && held > 0) return bytes.subarray(sure - held);
    this.#held.keep(piece.subarray(sure), maxHeldBytes + 1);
    const { ended, isInDoubt } = this.#scanner;
    if (ended || isInDoubt || this.#held.length > maxHeldBytes) this.#handOver();
    return rest;
  }

  /**
   * Returns the parser. The first call creates it, and the parser continues after the bytes that the scanner has
   * accepted.
   */
  #handOver(): XmlParser {
    if (this.#parser !== undefined) return this.#parser;
    const { begun, ended, line, records, open } = this.#scanner;
    const tags = ended ? '<root/>' : open.map(({ name }) => `<${name}>`).join('');
    this.#parser = new XmlParser(begun ? { bytes: this.#sure, line, depth: open.length, records, tags } : undefined);
    if (this.#held.length > 0) this.#parser.accept(this.#held.take());
    return this.#parser;
  }
}
