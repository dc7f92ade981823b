import { outermost, XmlNames } from '../../sdk/records/xml-names.ts';
import { XmlParts } from '../../sdk/records/xml-parts.ts';
import { XmlScanner, type XmlTag } from '../../sdk/records/xml-scanner.ts';
import { cut, doubt, endOfName, inName } from '../../sdk/records/xml-tokens.ts';

const declaration =
  /^<\?xml[ \t\n]+version=(["'])1\.0\1(?:[ \t\n]+encoding=(["'])[Uu][Tt][Ff]-?8\2)?(?:[ \t\n]+standalone=(["'])(?:yes|no)\3)?[ \t\n]*\?>/;
const maxDeclarationBytes = 256;
/** Documents with deeper nesting are refused, so that the list of open elements stays small. */
export const maxDepth = 1000;
/** Total length of the names of open elements. Data needs far less. */
const maxNameBytes = 64 * 1024;
/** Maximum number of cached row parts. Real data needs fewer, but a document may have any number. */
const maxParts = 1024;
/** Maximum depth at which rows can begin: within a row, at most a hundred elements are nested. */
const maxDepthAround = maxDepth - 200;

/**
 * Scans XML 1.0 in UTF-8 and reports how much of it is certainly well-formed. Reads rows with the same scanner as for
 * XML sources, and everything else piece by piece. It never rejects a document: where it stops, a strict parser
 * continues from the state recorded here. Constructs that are rare in data are also left to that parser.
 */
export class XmlSyntax {
  /** The elements that are open. */
  readonly open: XmlTag[] = [];
  #nameBytes = 0;
  /** Number of elements in the root so far. */
  records = 0;
  /**
   * True after the root's start tag. The declaration and that tag are accepted as one piece, so nothing before the end
   * of the tag is certain.
   */
  begun = false;
  /** True if it stopped because of the bytes' content and not because it needs more bytes. */
  isInDoubt = false;
  readonly #scanner = new XmlScanner({
    parts: new XmlParts(() => -1, new XmlNames(), outermost, maxParts),
    width: 0,
    isRead: false,
  });
  /** The element that closed last. */
  #closed: XmlTag | undefined;
  /** How many more elements of that name to read piece by piece before trying rows again (exponential backoff). */
  #pause = 0;
  #patience = 1;

  constructor() {
    this.#scanner.begin(Number.POSITIVE_INFINITY);
  }

  /**
   * Continues where it stopped, with bytes that contain only whole characters. Returns how many of them are certainly
   * well-formed: all of them, unless a piece of markup is incomplete or needs the strict parser, or the root ends.
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

  /** The line in which it stopped, counted from 1. */
  get line(): number {
    return this.#scanner.line;
  }

  /** Whether the root is closed. */
  get ended(): boolean {
    return this.begun && this.open.length === 0;
  }

  /**
   * The position after the rows that begin at `at`, if they have the same name as the last closed element; `at` if
   * there are none or they're incomplete.
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
   * The end of the piece of markup that begins at `at`. Returns `at`, without recording anything, if that isn't
   * certain.
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

  /** The position of the `>` or `/` after the attributes. */
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
