import { outermost, XmlNames } from '../../sdk/records/xml-names.ts';
import { XmlParts } from '../../sdk/records/xml-parts.ts';
import { XmlScanner, type XmlTag } from '../../sdk/records/xml-scanner.ts';
import { cut, doubt, endOfName, inName } from '../../sdk/records/xml-tokens.ts';

const declaration =
  /^<\?xml[ \t\n]+version=(["'])1\.0\1(?:[ \t\n]+encoding=(["'])[Uu][Tt][Ff]-?8\2)?(?:[ \t\n]+standalone=(["'])(?:yes|no)\3)?[ \t\n]*\?>/;
const maxDeclarationBytes = 256;
/** Maximum nesting depth. Deeper documents are rejected, so that the list of open elements stays small. */
export const maxDepth = 1000;
/** Maximum total length of the names of all open elements. Real data needs far less. */
const maxNameBytes = 64 * 1024;
/**
 * Maximum number of cached row parts. Real data needs fewer parts, but nothing prevents a document from having more.
 */
const maxParts = 1024;
/** Maximum depth at which rows can begin. Within a row, at most a hundred elements are nested. */
const maxDepthAround = maxDepth - 200;

/**
 * Scans XML 1.0 in UTF-8 and reports how much of it is certainly well-formed. Reads rows with the same scanner that
 * reads XML sources, and everything else piece by piece. This class never rejects a document: it stops where it isn't
 * certain, and a strict parser continues from the recorded state. Constructs that are rare in data are also left to the
 * strict parser.
 */
export class XmlSyntax {
  /** The elements that are open. */
  readonly open: XmlTag[] = [];
  #nameBytes = 0;
  /** Number of the root's child elements so far. */
  records = 0;
  /**
   * True after the root's start tag. The XML declaration and the start tag are accepted as one piece, so nothing is
   * certain before the start tag ends.
   */
  begun = false;
  /** True if the scanner stopped because the strict parser must decide, and not because it needs more bytes. */
  isInDoubt = false;
  readonly #scanner = new XmlScanner({
    parts: new XmlParts(() => -1, new XmlNames(), outermost, maxParts),
    width: 0,
    isRead: false,
  });
  /** The element that closed last. */
  #closed: XmlTag | undefined;
  /**
   * How many more elements with the same name to read piece by piece before trying to read rows again (exponential
   * backoff).
   */
  #pause = 0;
  #patience = 1;

  constructor() {
    this.#scanner.begin(Number.POSITIVE_INFINITY);
  }

  /**
   * Continues where the last call stopped. `bytes` must contain only whole characters. Returns how many of the bytes
   * are certainly well-formed. Not all of them are if a piece of markup is incomplete or needs the strict parser, or if
   * the root ends.
   */
  scan(bytes: Buffer): number {
    this.#scanner.show(bytes);
    let at = this.begun ? 0 : this.#piece(bytes, 0);
    while (this.open.length > 0 && at < bytes.length) {
      const start = this.#scanner.text(this.#rows(bytes, at));
      at = start === bytes.length ? start : this.#piece(bytes, start);
      if (at === start) break;
    }
    return at;
  }

  /** The line in which the scanner stopped, counted from 1. */
  get line(): number {
    return this.#scanner.line;
  }

  /** Whether the root is closed. */
  get ended(): boolean {
    return this.begun && this.open.length === 0;
  }

  /**
   * Reads rows that begin at `at` and have the same name as the element that closed last. Returns the position after
   * them. Returns `at` if there are no such rows or if they're incomplete.
   */
  #rows(bytes: Buffer, at: number): number {
    const tag = this.#closed;
    if (tag === undefined) return at;
    const scanner = this.#scanner;
    const { rows, line } = scanner;
    const nameEnd = scanner.word(tag.name, scanner.text(at) + 1);
    scanner.line = line;
    const isAlike = nameEnd > 0 && inName[bytes[nameEnd]!] === 0;
    if (!isAlike || this.open.length > maxDepthAround || this.#pause-- > 0) return at;
    const end = scanner.record(tag, at);
    if (end === doubt) {
      this.#patience = Math.min(64, 2 * this.#patience);
      this.#pause = this.#patience - 1;
    } else if (end >= 0) {
      this.#patience = 1;
      if (this.open.length === 1) this.records += scanner.rows - rows;
    }
    return Math.max(at, end);
  }

  /**
   * Reads the piece of markup that begins at `at`. Returns the position after it. If it isn't certain that the piece is
   * well-formed, returns `at` and records nothing.
   */
  #piece(bytes: Buffer, at: number): number {
    const { line } = this;
    const end = this.begun ? this.#markup(bytes, at) : this.#beginning(bytes);
    if (end >= 0) return end;
    this.isInDoubt = end === doubt;
    this.#scanner.line = line;
    return at;
  }

  #beginning(bytes: Buffer): number {
    const scanner = this.#scanner;
    let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    const declared = declaration.exec(bytes.toString('latin1', at, at + maxDeclarationBytes))?.[0] ?? '';
    at += declared.length;
    scanner.line += declared.split('\n').length - 1;
    while (at >= 0 && !this.begun) {
      at = scanner.space(at);
      const byte = bytes[at + 1];
      if (bytes[at] !== 0x3c) at = scanner.unless(at);
      else if (byte === 0x21) at = scanner.comment(at);
      else if (byte === 0x3f) at = scanner.instruction(at);
      else {
        at = this.#startTag(bytes, at);
        this.begun = at >= 0;
      }
    }
    return at === doubt && bytes.length < maxDeclarationBytes ? cut : at;
  }

  #markup(bytes: Buffer, at: number): number {
    const scanner = this.#scanner;
    if (bytes[at] !== 0x3c) return scanner.unlessCut(at);
    const byte = bytes[at + 1];
    if (byte === 0x2f) return this.#endTag(bytes, at);
    return byte === 0x21 || byte === 0x3f ? scanner.other(at) : this.#startTag(bytes, at);
  }

  #endTag(bytes: Buffer, start: number): number {
    const tag = this.open.at(-1)!;
    let at = this.#scanner.word(tag.name, start + 2);
    if (at < 0) return at;
    at = this.#scanner.space(at);
    if (bytes[at] !== 0x3e) return this.#scanner.unless(at);
    this.open.pop();
    this.#nameBytes -= tag.name.length;
    this.#close(tag);
    return at + 1;
  }

  #close(tag: XmlTag): void {
    if (!this.#closed?.name.equals(tag.name)) this.#closed = tag;
  }

  #startTag(bytes: Buffer, start: number): number {
    const nameEnd = endOfName(bytes, start + 1);
    const at = nameEnd < 0 || bytes[nameEnd] === 0x3e ? nameEnd : this.#attributesEnd(bytes, nameEnd);
    if (at < 0) return at;
    const isEmpty = bytes[at] === 0x2f;
    if (isEmpty && bytes[at + 1] !== 0x3e) return this.#scanner.unless(at + 1);
    const name = Buffer.from(bytes.subarray(start + 1, nameEnd));
    if (this.open.length === maxDepth || this.#nameBytes + name.length > maxNameBytes) return doubt;
    if (this.open.length === 1) this.records++;
    const tag = { name, close: Buffer.from(`${name}>`) };
    if (isEmpty) {
      this.#close(tag);
      return at + 2;
    }
    this.open.push(tag);
    this.#nameBytes += name.length;
    return at + 1;
  }

  /** Returns the position of the `>` or `/` that follows the attributes. */
  #attributesEnd(bytes: Buffer, start: number): number {
    const names = new Set<string>();
    for (let at = start; ; ) {
      const name = this.#scanner.space(at);
      if (bytes[name] === 0x3e || bytes[name] === 0x2f) return name;
      if (name === at) return this.#scanner.unless(name);
      const nameEnd = endOfName(bytes, name);
      if (nameEnd < 0) return nameEnd;
      const before = names.size;
      if (names.add(bytes.toString('latin1', name, nameEnd)).size === before) return doubt;
      at = this.#scanner.value(nameEnd);
      if (at < 0) return at;
    }
  }
}
