import { referenceEnd } from '../../lib/xml-reference.ts';
import type { XmlColumnPart, XmlParts } from './xml-parts.ts';
import { cdataStart, cut, doubt, inName, isPlain, resolveInPlace } from './xml-text.ts';

const maxDepth = 100;

/** The element of the records: its name, and the name with `>`. */
export interface XmlTag {
  readonly name: Buffer;
  readonly close: Buffer;
}

/**
 * Reads records out of a block of UTF-8 as long as they are surely well-formed, and nothing in them needs more than their
 * bytes: no comment, no part that stands twice, no text beside elements. Whatever else comes is left
 * to the parser, untouched; what is read here is what the parser would have made of it. Methods take a position and
 * return the one behind what they read, {@link cut} or {@link doubt}.
 */
export class XmlScanner {
  bytes: Buffer = Buffer.alloc(0);
  /** Start and end of each cell, row after row. */
  spans = new Int32Array(0);
  /** Rows of this batch; other readers of a record increment it too. */
  rows = 0;
  /** Line feeds that were passed. */
  lineFeeds = 0;
  /** Parts with a value in the last record, not reported yet. */
  readonly fresh: XmlColumnPart[] = [];
  /** The parts of the records at hand; others where other namespaces hold. */
  parts: XmlParts;
  readonly #width: number;
  #tag: XmlTag = { name: this.bytes, close: this.bytes };
  #row = 0;
  #record = 0;
  #isEmpty = false;
  #isNil = false;
  #isEscaped = false;
  #hasReturn = false;
  /** The first byte of the text read last that is no white space. */
  #ink = 0;
  #failure = doubt;
  /** Spans of the record at hand that hold references, CDATA or carriage returns. */
  readonly #rewrites: number[] = [];

  constructor(parts: XmlParts, width: number) {
    this.parts = parts;
    this.#width = width;
  }

  /** Begins a new batch of at most `capacity` rows. */
  begin(capacity: number): void {
    this.rows = 0;
    this.spans = new Int32Array(2 * this.#width * capacity).fill(-1);
  }

  /** Reads the next record, with the white space before it, into the next row. */
  record(tag: XmlTag, pos: number): number {
    const { lineFeeds } = this;
    this.#tag = tag;
    this.#row = 2 * this.#width * this.rows;
    this.#record++;
    this.#rewrites.length = 0;
    this.fresh.length = 0;
    const end = this.#begin(this.#space(pos));
    if (end >= 0) this.#settle();
    else {
      this.lineFeeds = lineFeeds;
      this.spans.fill(-1, this.#row, this.#row + 2 * this.#width);
    }
    return end;
  }

  #settle(): void {
    for (const at of this.#rewrites) {
      this.spans[at + 1] = resolveInPlace(this.bytes, this.spans[at]!, this.spans[at + 1]!);
    }
    this.rows++;
  }

  #begin(pos: number): number {
    if (this.bytes[pos] !== 60) return this.#unless(pos);
    const end = pos + 1 + this.#tag.name.length;
    if (end >= this.bytes.length) return cut;
    return this.#stands(this.#tag.name, pos + 1) ? this.#element(this.parts.root, end, 0) : doubt;
  }

  /** An element, from behind its name on. */
  #element(part: XmlColumnPart, pos: number, depth: number): number {
    const inside = this.#attributes(part, pos);
    if (inside < 0) return inside;
    const isNil = this.#isNil;
    if (!this.#isEmpty) return this.#content(part, inside, isNil, depth);
    if (depth === 0) return inside;
    return this.#put(part, isNil ? -1 : inside, inside, false) ? inside : doubt;
  }

  #attributes(part: XmlColumnPart, pos: number): number {
    this.#isNil = false;
    this.#isEmpty = false;
    for (let expected = 0; ; ) {
      const at = this.#space(pos);
      const byte = this.bytes[at];
      if (byte === 62) return at + 1;
      if (byte === 47) {
        this.#isEmpty = true;
        return this.bytes[at + 1] === 62 ? at + 2 : this.#unless(at + 1);
      }
      if (at === pos) return this.#unless(at);
      const attribute = this.#inside(part, part.attributes[expected], at, '@');
      if (attribute === undefined) return this.#failure;
      pos = this.#value(attribute, at + attribute.name.length);
      if (pos < 0) return pos;
      expected = attribute.index + 1;
    }
  }

  #value(attribute: XmlColumnPart, at: number): number {
    const { bytes } = this;
    const quote = bytes[at + 1];
    if (bytes[at] !== 61 || (quote !== 34 && quote !== 39)) return this.#unless(at + 1);
    const start = at + 2;
    this.#isEscaped = false;
    for (let i = start; i < bytes.length; ) {
      const byte = bytes[i]!;
      if (byte === quote) return this.#keep(attribute, start, i) ? i + 1 : doubt;
      if (isPlain[byte] === 1 && byte !== 9) i++;
      else if (byte === 93) i++;
      else {
        i = byte === 60 || byte < 0x20 ? doubt : this.#odd(byte, i);
        if (i < 0) return i;
      }
    }
    return cut;
  }

  #keep(attribute: XmlColumnPart, start: number, end: number): boolean {
    // From here on names may mean something else.
    if (attribute.means === 'namespace') return false;
    if (attribute.means === 'value') return this.#put(attribute, start, end, this.#isEscaped);
    // The parser refuses what stands twice.
    if (attribute.record === this.#record) return false;
    attribute.record = this.#record;
    const text = this.bytes.toString('latin1', start, end);
    this.#isNil = text === 'true' || text === '1';
    return this.#isNil || text === 'false' || text === '0';
  }

  #content(part: XmlColumnPart, start: number, isNil: boolean, depth: number): number {
    const { bytes } = this;
    let at = this.#text(start);
    if (at < 0 || at + 1 === bytes.length) return Math.min(at, cut);
    if (bytes[at + 1] === 47)
      return depth === 0 ? this.#onlyText(part, start, at) : this.#leaf(part, isNil ? -1 : start, at);
    if (at !== this.#ink || depth > maxDepth) return doubt;
    // Parts of an element that is repeated are lists, with null where one of the elements lacks the part.
    if (depth > 0 && part.record === this.#record) return doubt;
    part.record = this.#record;
    for (let expected = 0; ; ) {
      const child = this.#inside(part, part.elements[expected], at + 1, '');
      if (child === undefined) return this.#failure;
      const end = this.#element(child, at + 1 + child.name.length, depth + 1);
      if (end < 0) return end;
      expected = child.index + 1;
      at = this.#space(end);
      if (bytes[at] !== 60) return this.#unless(at);
      if (bytes[at + 1] === 47) return this.#endTag(part, at + 2);
    }
  }

  #leaf(part: XmlColumnPart, start: number, end: number): number {
    return this.#put(part, start, end, this.#isEscaped) ? this.#endTag(part, end + 2) : doubt;
  }

  /** A record without elements inside: its text is a part, but not where it is blank. */
  #onlyText(record: XmlColumnPart, start: number, end: number): number {
    if (this.#ink < end) {
      const ink = this.bytes[this.#ink]!;
      // It may be nothing but what Unicode takes for blank.
      if (ink > 0x7f || ink === 38 || ink === 60) return doubt;
      const text = this.parts.inside(record, '#text');
      if (text === undefined || !this.#put(text, start, end, this.#isEscaped)) return doubt;
    }
    return this.#endTag(record, end + 2);
  }

  #endTag(part: XmlColumnPart, at: number): number {
    const close = part.path === '' ? this.#tag.close : part.close;
    if (this.#stands(close, at)) return at + close.length;
    return at + close.length > this.bytes.length ? cut : doubt;
  }

  /** The `<` of a tag behind the text at `pos`. */
  #text(pos: number): number {
    const { bytes } = this;
    const { length } = bytes;
    this.#hasReturn = false;
    let i = this.#space(pos);
    this.#isEscaped = this.#hasReturn;
    this.#ink = i;
    for (;;) {
      while (i < length && isPlain[bytes[i]!] === 1) i++;
      if (i >= length) return cut;
      const byte = bytes[i]!;
      if (byte === 10) {
        this.lineFeeds++;
        i++;
      } else if (byte === 60 && bytes[i + 1] !== 33) return i;
      else {
        i = byte === 60 ? this.#cdata(i) : this.#odd(byte, i);
        if (i < 0) return i;
      }
    }
  }

  #odd(byte: number, at: number): number {
    const { bytes } = this;
    if (byte === 38) {
      this.#isEscaped = true;
      return referenceEnd(bytes, at);
    }
    if (byte === 93) return bytes[at + 1] === 93 ? doubt : at + 1;
    if (byte === 13) return this.#return(at);
    // U+FFFE and U+FFFF are no characters of XML.
    if (byte === 0xef) return bytes[at + 1] === 0xbf && bytes[at + 2]! >= 0xbe ? doubt : at + 3;
    return doubt;
  }

  /** Normalizes line ends to line feeds (XML 1.0, 2.11). */
  #return(at: number): number {
    this.#isEscaped = true;
    return this.bytes[at + 1] === 10 ? at + 1 : this.#unless(at + 1);
  }

  #cdata(at: number): number {
    const { bytes } = this;
    this.#isEscaped = true;
    let i = cdataStart(bytes, at);
    while (i >= 0 && i < bytes.length) {
      const byte = bytes[i]!;
      if (byte === 93 && bytes[i + 1] === 93 && bytes[i + 2] === 62) return i + 3;
      if (byte === 10) this.lineFeeds++;
      if (isPlain[byte] === 1 || byte === 10 || byte === 93 || byte === 60 || byte === 38) i++;
      else i = byte < 0x20 ? doubt : this.#odd(byte, i);
    }
    return i < 0 ? i : cut;
  }

  /** The part whose name stands at `at`, most likely the one handed in; undefined with a failure set. */
  #inside(
    parent: XmlColumnPart,
    likely: XmlColumnPart | undefined,
    at: number,
    prefix: '' | '@',
  ): XmlColumnPart | undefined {
    const { bytes } = this;
    if (likely !== undefined && this.#stands(likely.name, at) && inName[bytes[at + likely.name.length]!] === 0) {
      return likely;
    }
    let end = at;
    if (inName[bytes[at]!] === 2) while (inName[bytes[end]!]! > 0) end++;
    this.#failure = this.#unless(end);
    if (end === at || end >= bytes.length) return undefined;
    this.#failure = doubt;
    return this.parts.inside(parent, prefix + bytes.toString('latin1', at, end));
  }

  #stands(name: Buffer, at: number): boolean {
    const { bytes } = this;
    for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
    return true;
  }

  /** False where the part has a value already. */
  #put(part: XmlColumnPart, start: number, end: number, isEscaped: boolean): boolean {
    if (part.record === this.#record) return false;
    part.record = this.#record;
    if (!part.isTold) this.fresh.push(part);
    if (part.slot < 0) return true;
    const at = this.#row + 2 * part.slot;
    this.spans[at] = start;
    this.spans[at + 1] = end;
    if (isEscaped && start >= 0) this.#rewrites.push(at);
    return true;
  }

  #space(pos: number): number {
    const { bytes } = this;
    for (let byte = bytes[pos]!; ; byte = bytes[++pos]!) {
      if (byte === 10) this.lineFeeds++;
      else if (byte === 13 && bytes[pos + 1] === 10) this.#hasReturn = true;
      else if (byte !== 32 && byte !== 9) return pos;
    }
  }

  #unless(pos: number): number {
    return pos >= this.bytes.length ? cut : doubt;
  }
}
