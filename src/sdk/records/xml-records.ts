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
 * Cuts records out of XML as its text comes in. Elements inside a record become values named after their path, names
 * joined by dots; attributes are `@name` behind it; text beside child elements is `#text`. Entities beyond XML's own
 * five are refused, so nothing expands and nothing is fetched.
 */
export class XmlRecords {
  /** Complete records that nobody took yet. */
  records: XmlRecord[] = [];
  /** Line on which each of them ended. */
  lines: number[] = [];
  found = false;
  /** Element paths met outside of records, for the error that lists them. */
  readonly met = new Set<string>();
  readonly #input: RecordInput;
  readonly #wanted: string | undefined;
  readonly #parser = new SaxesParser<{ position: true; xmlns: false }>({ position: true, xmlns: false });
  readonly #outer: string[] = [];
  #record: XmlRecord | undefined;
  #inner: Open[] = [];
  #name: string | undefined;

  /** `wanted` is the path of the records' element or its name alone; without it they are the root's children. */
  constructor(input: RecordInput, wanted: string | undefined) {
    this.#input = input;
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
    this.#parser.write(text);
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
    this.records.push(this.#record);
    this.lines.push(this.#parser.line);
    this.#record = undefined;
    this.#outer.pop();
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
    const { line } = this.#parser;
    const what = message.replace(/^(?:undefined:)?\d+:\d+: /, '');
    return faultIn(this.#input, { code: 'XML_SYNTAX', message: what, spot: { line } });
  }

  #mixed(name: string) {
    return faultIn(this.#input, {
      code: 'RECORDS_NOT_FOUND',
      message: 'the elements below the root have different names, so it is not clear which are the records',
      spot: { line: this.#parser.line },
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
