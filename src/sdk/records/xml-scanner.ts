import { same } from '../../lib/four-bytes.ts';
import type { XmlColumnPart, XmlWay } from './xml-column-part.ts';
import { XmlRowBuffer, type XmlScannerOptions } from './xml-row-buffer.ts';
import { swapWays, XmlRowTemplate } from './xml-row-template.ts';
import { inkAt } from './xml-text.ts';
import { cut, doubt, endOfName, inName } from './xml-tokens.ts';

/** The records' element: its name, and the name with `>`. */
export interface XmlTag {
  readonly name: Buffer;
  readonly close: Buffer;
}

/**
 * Reads records from a block of UTF-8 as long as they're certainly well-formed and have only simple content: no
 * comments, no repeated parts, and no text next to elements. Everything else is left to the parser. The scanner's
 * result is always the same as the parser's.
 */
export class XmlScanner extends XmlRowBuffer {
  #tag: XmlTag = { name: this.bytes, close: this.bytes };
  #isEmpty = false;
  #isNil = false;
  #failure = doubt;
  /** The position of the record that the scanner can't read, and the reason. */
  #failedAt = -1;
  #failedWith = doubt;
  /** The innermost open element; undefined after the record. */
  #open: XmlColumnPart | undefined;
  /** The index of the open element's most likely next child element. */
  #next = 0;
  readonly #template: XmlRowTemplate;

  constructor(options: XmlScannerOptions) {
    super(options);
    this.#template = new XmlRowTemplate(options.parts.root);
  }

  override show(bytes: Buffer): void {
    super.show(bytes);
    this.#forget();
  }

  #forget(): void {
    this.#template.forget();
    this.#failedAt = -1;
  }

  /**
   * Skips white space, then reads the next record and following records into rows; returns the end of the last record.
   */
  record(tag: XmlTag, pos: number): number {
    const { rows, capacity } = this;
    if (tag !== this.#tag) this.#forget();
    else if (pos === this.#failedAt) return this.#failedWith;
    if (pos !== this.end) this.#template.textEnd = -1;
    this.#tag = tag;
    this.beginAt(pos);
    while (this.rows < capacity) {
      let end = this.#begin(this.isRead ? this.space(this.end) : this.between(this.end));
      // A way between two texts never spans a whole record.
      if (end < 0 || this.#template.textEnd < this.end) this.#template.textEnd = -1;
      if (end >= 0 && !this.complete(end)) end = doubt;
      if (end < 0) {
        this.drop();
        if (this.rows === rows) return end;
        this.#failedAt = this.rows < capacity ? this.end : -1;
        this.#failedWith = end;
        break;
      }
    }
    return this.end;
  }

  #begin(pos: number): number {
    const { root } = this.parts;
    this.#isNil = false;
    this.#isEmpty = false;
    if (this.bytes[pos] !== 60) return pos < 0 ? pos : this.unlessCut(pos);
    let at = this.word(this.#tag.name, pos + 1);
    if (at < 0) return at;
    if (this.bytes[at] === 62) at++;
    else at = this.#attributes(root, at);
    if (at < 0 || this.#isEmpty) return at;
    this.#open = root;
    while (at >= 0 && this.#open !== undefined) {
      at = this.#texts(this.#open, at);
      if (at >= 0 && this.#open !== undefined) at = this.#tags(this.#open, at);
    }
    return at;
  }

  /**
   * Reads an element's text, starting after its start tag, and then further texts as long as the bytes between them are
   * known, even in the following records. Returns the position after the end tag of the last element, or the position
   * of its first child.
   */
  #texts(first: XmlColumnPart, start: number): number {
    const { bytes, view, line } = this;
    const { length } = bytes;
    const isRead = this.isRead;
    this.isEscaped = false;
    let part = first;
    let at = start;
    let end = this.text(at);
    if (this.#isNil) return this.#content(part, at, end);
    if (this.#template.textEnd >= 0 && bytes[end + 1] === 47) {
      this.#template.learn(part, { start: at, line, end: this.end, endLine: this.endLine });
    }
    for (;;) {
      const { way } = part;
      const next = end + way.length;
      if (next >= length || !same(view, way.start, end, way.length)) {
        if (swapWays(view, part, end)) continue;
        break;
      }
      if (isRead && !this.put(part, at, end, this.isEscaped)) return doubt;
      if (!way.isPlain) {
        const failure = this.#pass(way, end);
        if (failure < 0) return failure;
      }
      part = way.to!;
      at = next;
      this.isEscaped = false;
      end = this.text(at);
    }
    if (at !== start) this.#template.textEnd = -1;
    return this.#content(part, at, end);
  }

  /** Updates the state for a known way to the next text. Returns 0, or the reason why the way can't be used. */
  #pass({ rowLength, rowLines, lines, entered }: XmlWay, at: number): number {
    if (rowLength > 0) {
      this.line += rowLines;
      if (!this.complete(at + rowLength)) return doubt;
      if (this.rows === this.capacity) return cut;
    }
    this.line += lines;
    return entered.every((one) => this.#enter(one)) ? 0 : doubt;
  }

  /**
   * Continues between elements: returns the position after the start tag of the next element with content, or after the
   * end of the record.
   */
  #tags(around: XmlColumnPart, pos: number): number {
    const { bytes } = this;
    for (let open = around, at = pos; ; ) {
      at = this.isRead ? this.space(at) : this.between(at);
      if (bytes[at] !== 60) return at < 0 ? at : this.unlessCut(at);
      if (bytes[at + 1] === 47) {
        at = this.#endTag(open, at + 2);
        if (at < 0 || open.parent === undefined) return at;
        open = open.parent;
        continue;
      }
      const child = this.#inside(open, open.elements[this.#next], at + 1, '');
      if (child === undefined) return this.#failure;
      this.#open = child;
      at += 1 + child.name.length;
      if (bytes[at] === 62) return at + 1;
      at = this.#attributes(child, at);
      if (at < 0 || !this.#isEmpty) return at;
      if (this.isRead && !this.put(child, this.#isNil ? -1 : at, at, false)) return doubt;
      this.#isNil = false;
      this.#next = child.index + 1;
    }
  }

  #attributes(part: XmlColumnPart, pos: number): number {
    const { bytes } = this;
    this.#isNil = false;
    this.#isEmpty = false;
    // A way must not include attribute values, because they must be read each time.
    if (this.isRead) this.#template.textEnd = -1;
    else this.recordNumber++;
    for (let expected = 0; ; ) {
      const at = this.space(pos);
      const byte = bytes[at];
      if (byte === 62) return at + 1;
      if (byte === 47) {
        this.#isEmpty = true;
        return bytes[at + 1] === 62 ? at + 2 : this.unless(at + 1);
      }
      if (at === pos) return this.unless(at);
      const attribute = this.#inside(part, part.attributes[expected], at, '@');
      if (attribute === undefined) return this.#failure;
      pos = this.value(at + attribute.name.length);
      if (pos < 0) return pos;
      if (!this.#keep(attribute, this.valueStart, pos - 1)) return doubt;
      expected = attribute.index + 1;
    }
  }

  #keep(attribute: XmlColumnPart, start: number, end: number): boolean {
    if (this.isRead && attribute.means === 'value') {
      return !this.hasBreaks && this.put(attribute, start, end, this.isEscaped);
    }
    // The parser rejects duplicates.
    if (attribute.record === this.recordNumber) return false;
    attribute.record = this.recordNumber;
    if (!this.isRead) return true;
    // After a namespace declaration, names may have a different meaning.
    if (attribute.means === 'namespace') return false;
    const text = this.bytes.toString('latin1', start, end);
    this.#isNil = text === 'true' || text === '1';
    return this.#isNil || text === 'false' || text === '0';
  }

  /**
   * Reads the rest of an element's text from `pos` on. Returns the position after the end tag, or the position of the
   * first child's tag.
   */
  #content(part: XmlColumnPart, start: number, pos: number): number {
    const { bytes } = this;
    const isNil = this.#isNil;
    this.#isNil = false;
    this.#open = part;
    this.#next = 0;
    const at = this.#sections(pos);
    if (at < 0 || at + 1 >= bytes.length) return Math.min(at, cut);
    if (bytes[at + 1] === 47) {
      if (part.parent === undefined) return this.#onlyText(part, start, at);
      if (this.isRead && !this.put(part, isNil ? -1 : start, at, this.isEscaped)) return doubt;
      this.#template.note(part, at, this.line);
      return this.#endTag(part, at + 2);
    }
    if (!this.isRead) return at;
    return inkAt(bytes, start) === at && this.#enter(part) ? at : doubt;
  }

  /** If an element repeats, each of its parts is a list, with null where an element lacks the part. */
  #enter(part: XmlColumnPart): boolean {
    if (part.parent === undefined) return true;
    if (part.record === this.recordNumber && this.isRead) return false;
    part.record = this.recordNumber;
    this.#template.entered.push(part);
    return true;
  }

  /** A record without child elements: its text is a part, unless the text is blank. */
  #onlyText(record: XmlColumnPart, start: number, end: number): number {
    const ink = inkAt(this.bytes, start);
    if (this.isRead && ink < end) {
      // The text may consist only of Unicode white space.
      if (this.bytes[ink]! > 0x7f || this.bytes[ink] === 38 || this.bytes[ink] === 60) return doubt;
      const text = this.parts.inside(record, '#text');
      if (text === undefined || !this.put(text, start, end, this.isEscaped)) return doubt;
    }
    this.#template.textEnd = -1;
    return this.#endTag(record, end + 2);
  }

  #endTag(part: XmlColumnPart, at: number): number {
    this.#open = part.parent;
    this.#next = part.index + 1;
    return this.word(part.parent === undefined ? this.#tag.close : part.close, at);
  }

  /** The position of the next tag's `<`, after CDATA sections and text, which has been read up to `pos`. */
  #sections(pos: number): number {
    const { bytes } = this;
    let at = pos;
    while (at >= 0 && bytes[at] === 60 && bytes[at + 1] === 33) {
      at = this.cdata(at);
      if (at >= 0) at = this.text(at);
      this.isEscaped = true;
    }
    return at < 0 || bytes[at] === 60 ? at : this.unlessCut(at);
  }

  /**
   * The part whose name starts at `at`, which is probably `likely`. If there is no such part, records the reason and
   * returns undefined.
   */
  #inside(
    parent: XmlColumnPart,
    likely: XmlColumnPart | undefined,
    at: number,
    prefix: '' | '@',
  ): XmlColumnPart | undefined {
    const { bytes } = this;
    if (likely !== undefined && this.#isNamed(likely, at)) return likely;
    // The element may be repeated.
    const before = prefix === '' ? parent.elements[this.#next - 1] : undefined;
    if (before !== undefined && this.#isNamed(before, at)) return before;
    const end = endOfName(bytes, at);
    this.#failure = end < 0 ? end : doubt;
    if (end < 0) return undefined;
    const name = bytes.toString('latin1', at, end);
    // If a name contained a dot, a path would be ambiguous.
    return this.isRead && name.includes('.') ? undefined : this.parts.inside(parent, prefix + name);
  }

  #isNamed({ name }: XmlColumnPart, at: number): boolean {
    const { bytes } = this;
    const { length } = name;
    if (at + length >= bytes.length) return false;
    for (let i = 0; i < length; i++) if (bytes[at + i] !== name[i]) return false;
    return inName[bytes[at + length]!] === 0;
  }
}
