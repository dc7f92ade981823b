import { same } from '../lib/four-bytes.ts';
import { referenceEnd } from '../lib/xml-reference.ts';
import { inCdata, inComment, inDoubleQuotes, inInstruction, inSingleQuotes, inSpace } from './xml-bytes.ts';
import { OpenElements } from './xml-open-elements.ts';
import { XmlRowTemplate } from './xml-row-template.ts';
import { XmlText } from './xml-text.ts';
import { endOfName, unsure } from './xml-tokens.ts';

const declaration =
  /^<\?xml[ \t\n]+version=(["'])1\.0\1(?:[ \t\n]+encoding=(["'])[Uu][Tt][Ff]-?8\2)?(?:[ \t\n]+standalone=(["'])(?:yes|no)\3)?[ \t\n]*\?>/;
const maxDeclarationBytes = 256;
const maxAttributes = 64;
/** A longer tag, comment or CDATA section is never sure, wherever the document is cut. */
export const maxPieceBytes = 64 * 1024;

/**
 * Reads XML 1.0 in UTF-8 and says how far it is surely well-formed. It refuses nothing: where it stops, a strict parser
 * has to look, with what is known here of everything before. What is rare in data is left to that parser too.
 */
export class XmlSyntax {
  readonly open = new OpenElements();
  /** Elements within the root so far. */
  records = 0;
  /** The start tag of the root was read. Before that nothing is sure: declaration and root's tag are one piece. */
  begun = false;
  readonly #text = new XmlText();
  readonly #refrain = new XmlRowTemplate();
  /** Start and end of the names of one tag's attributes. */
  readonly #attributes = new Int32Array(2 * maxAttributes);
  /** A piece that ends behind this offset is not sure; to be looked at before anything of it is noted. */
  #limit = 0;

  /**
   * Reads on in bytes that begin where it stopped, in whole characters. Returns how many are surely right: up to their
   * end, to a piece of markup that does not end in them or needs the strict parser, or to the end of the root.
   */
  scan(bytes: Buffer): number {
    this.#refrain.forget();
    let at = 0;
    if (!this.begun) at = this.#piece(bytes, 0);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    while (this.open.depth > 0 && at < bytes.length) {
      const start = bytes[at] === 0x3c ? at : this.#text.end(bytes, view, at);
      if (start === bytes.length) at = start;
      else {
        at = this.#plainTag(bytes, view, start);
        if (at === start) at = this.#unplain(bytes, start);
        if (at === start) break;
      }
    }
    this.open.keep(bytes);
    return at;
  }

  /** The line, from 1, of the place where it stopped. */
  get line(): number {
    return this.#text.line;
  }

  /** The root was closed. */
  get ended(): boolean {
    return this.begun && this.open.depth === 0;
  }

  /** Behind the tag that begins here if it has a name and nothing else, as most have; here again if not. */
  #plainTag(bytes: Buffer, view: DataView, start: number): number {
    if (bytes[start] !== 0x3c) return start;
    const { open } = this;
    const isEnd = bytes[start + 1] === 0x2f;
    const at = isEnd ? open.innermostEnd(bytes, start + 2) : endOfName(bytes, start + 1);
    if (at === unsure || bytes[at] !== 0x3e || at - start >= maxPieceBytes) return start;
    if (!isEnd) return this.#plainElement(bytes, view, { start, nameEnd: at });
    open.pop();
    if (open.depth === 1) this.#refrain.closeRow(start + 2, at);
    else this.#refrain.forget();
    return at + 1;
  }

  /** Behind the element if it is nothing but text, else behind the text that it begins with. */
  #plainElement(bytes: Buffer, view: DataView, { start, nameEnd }: { start: number; nameEnd: number }): number {
    const { open, line } = this;
    const name = start + 1;
    if (!open.push(name, nameEnd)) return start;
    const textEnd = this.#text.end(bytes, view, nameEnd + 1);
    if (open.depth === 2) this.records++;
    const end = textEnd + 2 + nameEnd - name;
    const isClosed =
      end < bytes.length && bytes[textEnd + 1] === 0x2f && bytes[textEnd] === 0x3c && bytes[end] === 0x3e;
    if (isClosed && same(view, name, textEnd + 2, nameEnd - name)) {
      open.pop();
      if (open.depth !== 2) this.#refrain.forget();
      else if (this.#refrain.column(view, { name, nameEnd, line, textEnd, textEndLine: this.line })) {
        return this.#recite(bytes, view, textEnd);
      }
      return end + 1;
    }
    if (open.depth === 2) this.#refrain.openRow(view, name, nameEnd);
    else this.#refrain.forget();
    return textEnd;
  }

  /** Goes on in a row that is known by heart, and in those behind it, from where the text of its first column ended. */
  #recite(bytes: Buffer, view: DataView, start: number): number {
    const { starts, lengths, lines, columns, names, nameEnds } = this.#refrain;
    let at = start;
    let c = 0;
    for (;;) {
      const length = lengths[c]!;
      if (at + length > bytes.length || !same(view, starts[c]!, at, length)) break;
      this.#text.line += lines[c]!;
      if (++c === columns) {
        c = 0;
        this.records++;
      }
      at = this.#text.end(bytes, view, at + length);
    }
    this.#refrain.forget();
    // There was room for it when the row was learned, under the same open elements.
    this.open.push(names[c]!, nameEnds[c]!);
    return at;
  }

  /** As {@link #piece}. Inside a row, what opens and closes nothing belongs to what is repeated. */
  #unplain(bytes: Buffer, start: number): number {
    const { depth } = this.open;
    const at = this.#piece(bytes, start);
    if (depth !== 2 || this.open.depth !== 2) this.#refrain.forget();
    return at;
  }

  /** Where the piece of markup ends that begins here; here again, and nothing noted, where that is not sure. */
  #piece(bytes: Buffer, at: number): number {
    const { line } = this;
    this.#limit = at + maxPieceBytes;
    const end = this.begun ? this.#markup(bytes, at) : this.#beginning(bytes);
    if (end !== unsure && end <= this.#limit) return end;
    this.#text.line = line;
    return at;
  }

  #beginning(bytes: Buffer): number {
    let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    const declared = declaration.exec(bytes.toString('latin1', at, at + maxDeclarationBytes))?.[0] ?? '';
    at += declared.length;
    this.#text.line += declared.split('\n').length - 1;
    for (;;) {
      at = this.#text.until(bytes, at, inSpace);
      if (at === unsure || bytes[at] !== 0x3c) return unsure;
      const byte = bytes[at + 1];
      if (byte === 0x21) at = this.#comment(bytes, at);
      else if (byte === 0x3f) at = this.#instruction(bytes, at);
      else break;
      if (at === unsure) return unsure;
    }
    const end = this.#startTag(bytes, at);
    this.begun = end !== unsure;
    return end;
  }

  #markup(bytes: Buffer, at: number): number {
    if (bytes[at] !== 0x3c) return unsure;
    switch (bytes[at + 1]) {
      case 0x2f:
        return this.#endTag(bytes, at);
      case 0x21:
        return bytes[at + 2] === 0x2d ? this.#comment(bytes, at) : this.#cdata(bytes, at);
      case 0x3f:
        return this.#instruction(bytes, at);
      default:
        return this.#startTag(bytes, at);
    }
  }

  #endTag(bytes: Buffer, start: number): number {
    let at = this.open.innermostEnd(bytes, start + 2);
    if (at === unsure) return unsure;
    if (bytes[at] !== 0x3e) at = this.#text.until(bytes, at, inSpace);
    if (at === unsure || bytes[at] !== 0x3e || at >= this.#limit) return unsure;
    this.open.pop();
    return at + 1;
  }

  #startTag(bytes: Buffer, start: number): number {
    const nameEnd = endOfName(bytes, start + 1);
    if (nameEnd === unsure) return unsure;
    let at = nameEnd;
    if (bytes[at] !== 0x3e) {
      at = this.#attributesEnd(bytes, at);
      if (at === unsure) return unsure;
      if (bytes[at] === 0x2f) {
        if (bytes[at + 1] !== 0x3e || at + 1 >= this.#limit || !this.open.hasRoom) return unsure;
        if (this.open.depth === 1) this.records++;
        return at + 2;
      }
    }
    if (at >= this.#limit || !this.open.push(start + 1, nameEnd)) return unsure;
    if (this.open.depth === 2) this.records++;
    return at + 1;
  }

  /** Where the `>` or `/` behind the attributes is. */
  #attributesEnd(bytes: Buffer, start: number): number {
    let at = start;
    for (let count = 0; ; count++) {
      const name = this.#text.until(bytes, at, inSpace);
      if (name === unsure || bytes[name] === 0x3e || bytes[name] === 0x2f) return name;
      if (name === at || count === maxAttributes) return unsure;
      const nameEnd = endOfName(bytes, name);
      if (nameEnd === unsure || !this.#isNew(bytes, { name, nameEnd, count })) return unsure;
      at = this.#valueEnd(bytes, nameEnd);
      if (at === unsure) return unsure;
    }
  }

  /** Notes the name of an attribute and tells whether the tag has no other of that name. */
  #isNew(bytes: Buffer, { name, nameEnd, count }: { name: number; nameEnd: number; count: number }): boolean {
    for (let k = 0; k < 2 * count; k += 2) {
      const [start, end] = [this.#attributes[k]!, this.#attributes[k + 1]!];
      if (end - start === nameEnd - name && bytes.compare(bytes, start, end, name, nameEnd) === 0) return false;
    }
    this.#attributes[2 * count] = name;
    this.#attributes[2 * count + 1] = nameEnd;
    return true;
  }

  /** From the end of an attribute's name to the byte behind its closing quote. */
  #valueEnd(bytes: Buffer, nameEnd: number): number {
    let at = this.#text.until(bytes, nameEnd, inSpace);
    if (at === unsure || bytes[at] !== 0x3d) return unsure;
    at = this.#text.until(bytes, at + 1, inSpace);
    if (at === unsure || (bytes[at] !== 0x22 && bytes[at] !== 0x27)) return unsure;
    const quote = bytes[at]!;
    const table = quote === 0x22 ? inDoubleQuotes : inSingleQuotes;
    for (at++; ; ) {
      at = this.#text.until(bytes, at, table);
      if (at === unsure) return unsure;
      if (bytes[at] === quote) return at + 1;
      if (bytes[at] !== 0x26) return unsure;
      at = referenceEnd(bytes, at);
      if (at < 0) return unsure;
    }
  }

  #comment(bytes: Buffer, start: number): number {
    if (bytes[start + 2] !== 0x2d || bytes[start + 3] !== 0x2d) return unsure;
    let at = start + 4;
    for (;;) {
      at = this.#text.until(bytes, at, inComment);
      if (at === unsure || bytes[at] !== 0x2d) return unsure;
      if (bytes[at + 1] === 0x2d) return bytes[at + 2] === 0x3e ? at + 3 : unsure;
      at++;
    }
  }

  #cdata(bytes: Buffer, start: number): number {
    if (bytes.toString('latin1', start, start + 9) !== '<![CDATA[') return unsure;
    let at = start + 9;
    for (;;) {
      at = this.#text.until(bytes, at, inCdata);
      if (at === unsure || bytes[at] !== 0x5d) return unsure;
      if (bytes[at + 1] === 0x5d && bytes[at + 2] === 0x3e) return at + 3;
      at++;
    }
  }

  /** The target `xml`, in any case, is another matter. */
  #instruction(bytes: Buffer, start: number): number {
    let at = endOfName(bytes, start + 2);
    if (at === unsure || /^xml$/i.test(bytes.toString('latin1', start + 2, at))) return unsure;
    if (bytes[at] !== 0x3f && inSpace[bytes[at]!] === 0) return unsure;
    for (;;) {
      at = this.#text.until(bytes, at, inInstruction);
      if (at === unsure || bytes[at] !== 0x3f) return unsure;
      if (bytes[at + 1] === 0x3e) return at + 2;
      at++;
    }
  }
}
