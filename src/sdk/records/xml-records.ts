import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { faultIn, type RecordInput, shorten } from './input.ts';

/** The values of one record by path; an array where a path stands more than once, null where `xsi:nil` says so. */
export type XmlRecord = Map<string, string | null | string[]>;

interface Open {
  readonly path: string;
  text: string;
  hasChildren: boolean;
  isNil: boolean;
}

const mostDepth = 256;

/**
 * Cuts records out of XML as its text comes in, by the strict parser. Elements inside a record become values named after their path, names
 * joined by dots; attributes are `@name` behind it; text beside child elements is `#text`. Entities beyond XML's own
 * five are refused, so nothing expands and nothing is fetched.
 */
export class XmlRecords {
  found = false;
  /** Line feeds of the document that this was not shown. */
  lineFeedsPassed = 0;
  /** Element paths met outside of records, for the error that lists them. */
  readonly met = new Set<string>();
  readonly #input: RecordInput;
  readonly #wanted: string | undefined;
  readonly #parser = new SaxesParser<{ position: true; xmlns: false }>({ position: true, xmlns: false });
  readonly #outer: string[] = [];
  #record: XmlRecord | undefined;
  #inner: Open[] = [];
  #name: string | undefined;
  readonly #take: (record: XmlRecord) => void;
  #last = '';
  /** Characters up to the end of the last record, and those written in all. */
  #lastEnd = -1;
  #written = 0;

  /**
   * `wanted` is the path of the records' element or its name alone; without it they are the root's children. Each record
   * is handed to `take` as soon as it is complete.
   */
  constructor(input: RecordInput, wanted: string | undefined, take: (record: XmlRecord) => void) {
    this.#input = input;
    this.#take = take;
    this.#wanted = wanted?.replace(/^\/+/, '').replaceAll('/', '.');
    const parser = this.#parser;
    parser.on('error', (error) => {
      throw this.#syntax(error.message);
    });
    parser.on('opentag', (tag) => this.#open(tag));
    parser.on('closetag', () => this.#close());
    parser.on('text', (text) => this.#text(text));
    parser.on('cdata', (text) => this.#text(text));
  }

  write(text: string): void {
    this.#written += text.length;
    this.#parser.write(text);
  }

  /** The line at which this stands. */
  get line(): number {
    return this.#parser.line + this.lineFeedsPassed;
  }

  /**
   * The name of the records' element, where the last text ended with the last byte of one: elements of that name that
   * follow are records too, and may be read by others. Undefined elsewhere, and for XML 1.1, whose rules are other ones.
   */
  get next(): string | undefined {
    const isBehind = this.#lastEnd === this.#written && this.#outer.length < mostDepth / 2;
    return isBehind && this.#parser.xmlDecl.version !== '1.1' ? this.#last : undefined;
  }

  /** The document has ended: refuses one that was cut off. */
  end(): void {
    this.#parser.close();
    if (this.#wanted !== undefined && !this.found) throw this.#notFound();
  }

  #open(tag: SaxesTagPlain): void {
    if (this.#outer.length + this.#inner.length > mostDepth) throw this.#syntax('elements are nested too deep');
    if (this.#record === undefined) this.#openOutside(tag);
    else this.#openInside(tag);
  }

  #openOutside(tag: SaxesTagPlain): void {
    this.#outer.push(tag.name);
    if (this.#isRecord(tag.name)) this.#begin(tag);
    else if (this.met.size < 20) this.met.add(this.#outer.join('.'));
  }

  #isRecord(name: string): boolean {
    if (this.#wanted !== undefined) return name === this.#wanted || this.#outer.join('.') === this.#wanted;
    if (this.#outer.length !== 2) return false;
    this.#name ??= name;
    if (this.#name !== name) throw this.#mixed(name);
    return true;
  }

  #begin(tag: SaxesTagPlain): void {
    this.found = true;
    this.#record = new Map();
    this.#inner = [this.#opened('', tag)];
  }

  #openInside(tag: SaxesTagPlain): void {
    const parent = this.#inner.at(-1)!;
    parent.hasChildren = true;
    this.#inner.push(this.#opened(joined(parent.path, tag.name), tag));
  }

  #opened(path: string, tag: SaxesTagPlain): Open {
    const open: Open = { path, text: '', hasChildren: false, isNil: false };
    // Most elements have none, and a list of its entries for each would cost as much as reading it.
    for (const name in tag.attributes) {
      const value = tag.attributes[name]!;
      if (name === 'xmlns' || name.startsWith('xmlns:')) continue;
      if (name === 'xsi:nil') open.isNil = /^(?:true|1)$/.test(value.trim());
      else this.#put(joined(path, `@${name}`), value);
    }
    return open;
  }

  #text(text: string): void {
    const open = this.#record === undefined ? undefined : this.#inner.at(-1);
    if (open !== undefined) open.text += text;
  }

  #close(): void {
    if (this.#record === undefined) {
      this.#outer.pop();
      return;
    }
    const open = this.#inner.pop()!;
    this.#settle(open);
    if (this.#inner.length > 0) return;
    const record = this.#record;
    this.#record = undefined;
    this.#last = this.#outer.pop()!;
    this.#lastEnd = this.#parser.position;
    this.#take(record);
  }

  #settle({ path, text, hasChildren, isNil }: Open): void {
    if (!hasChildren && path !== '') this.#put(path, isNil ? null : text);
    else if (text.trim() !== '') this.#put(joined(path, '#text'), text);
  }

  #put(path: string, value: string | null): void {
    const record = this.#record!;
    const before = record.get(path);
    if (before === undefined || before === null) record.set(path, value);
    else if (value !== null) record.set(path, [...[before].flat(), value]);
  }

  #syntax(message: string) {
    const { line } = this;
    const what = message.replace(/^(?:undefined:)?\d+:\d+: /, '');
    return faultIn(this.#input, { code: 'XML_SYNTAX', message: what, spot: { line } });
  }

  #mixed(name: string) {
    return faultIn(this.#input, {
      code: 'RECORDS_NOT_FOUND',
      message: 'the elements below the root have different names, so it is not clear which are the records',
      spot: { line: this.line },
      seen: `${this.#name}, ${name}`,
      next: 'set `records` to the name or the path of the repeated element',
    });
  }

  #notFound() {
    return faultIn(this.#input, {
      code: 'RECORDS_NOT_FOUND',
      message: 'no element is called what `records` says',
      seen: this.#wanted ?? '',
      allowed: shorten([...this.met].join(', '), 400),
      next: 'set `records` to the name or the path of the repeated element',
    });
  }
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
