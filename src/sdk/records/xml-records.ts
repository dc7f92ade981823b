import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { faultIn, type RecordInput, shorten } from './input.ts';
import {
  isDeclaration,
  isNil,
  localName,
  nameIn,
  outermost,
  scopeInside,
  type XmlName,
  type XmlNames,
  type XmlScope,
} from './xml-names.ts';
import { XmlPathsMet, type XmlPlaces } from './xml-places.ts';
import type { XmlRecord } from './xml-record.ts';
import { type XmlNode, XmlRepeats } from './xml-repeats.ts';
import type { XmlValues } from './xml-values.ts';

interface Open extends XmlNode {
  readonly parent: Open | undefined;
  text: string;
  hasChildren: boolean;
  isNil: boolean;
  readonly scope: XmlScope;
}

const maxDepth = 256;

interface XmlRecordsOptions {
  readonly wanted: string | undefined;
  /** Shared by all documents of a table, like `places`. */
  readonly names: XmlNames;
  readonly places: XmlPlaces;
  readonly mayBeEmpty: boolean;
  readonly values: XmlValues | undefined;
  readonly take: (record: XmlRecord) => void;
}

/**
 * Extracts records from XML with the strict parser while the text arrives. Elements inside a record become values named
 * by their path, with names joined by dots; an attribute's path ends with `@name`, and the path of text next to child
 * elements ends with `#text`. Entities other than the five predefined ones are rejected, so the parser never expands or
 * fetches entities.
 */
export class XmlRecords {
  found = false;
  /** Element paths outside records, for the error that lists them. */
  readonly met = new Set<string>();
  readonly #input: RecordInput;
  /** The value of the `records` option, with and without prefixes. */
  readonly #wanted: string | undefined;
  readonly #wantedLocal: string | undefined;
  readonly #names: XmlNames;
  readonly #places: XmlPlaces;
  readonly #mayBeEmpty: boolean;
  readonly #values: XmlValues | undefined;
  readonly #pathsMet = new XmlPathsMet();
  /** The path of the element that contains the first record. */
  #around = '';
  readonly #parser = new SaxesParser<{ position: true; xmlns: false }>({ position: true, xmlns: false });
  readonly #outer: { readonly raw: string; readonly local: string; readonly scope: XmlScope }[] = [];
  #record: XmlRecord | undefined;
  #inner: Open[] = [];
  /** The first record's element, and whether its name is exactly `records`. */
  #first: (XmlName & { readonly raw: string; readonly isExact: boolean }) | undefined;
  readonly #take: (record: XmlRecord) => void;
  readonly #repeats = new XmlRepeats();
  #last = '';
  /** Number of characters read through the end of the last record, and in total. */
  #lastEnd = -1;
  #written = 0;

  /**
   * `wanted` is the path or the name of the records' element, with any prefixes; without it, the root's children are
   * the records. Each record is passed to `take` as soon as it's complete. `mayBeEmpty`: the first document may have no
   * records.
   */
  constructor(input: RecordInput, { wanted, names, places, mayBeEmpty, values, take }: XmlRecordsOptions) {
    this.#input = input;
    this.#take = take;
    this.#names = names;
    this.#places = places;
    this.#mayBeEmpty = mayBeEmpty;
    this.#values = values;
    this.#wanted = wanted?.replace(/^(?:\/+|\$\.)/, '').replaceAll('/', '.');
    this.#wantedLocal = this.#wanted?.split('.').map(localName).join('.');
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

  /** The current line. Set it after other code has read part of the document. */
  get line(): number {
    return this.#parser.line;
  }

  set line(line: number) {
    this.#parser.line = line;
  }

  /**
   * The name of the records' element if the last text ended with the last byte of a record: the following elements with
   * that name are also records, and other code may read them. Otherwise, and for XML 1.1 (which has different rules),
   * undefined.
   */
  get next(): string | undefined {
    const isBehind = this.#lastEnd === this.#written && this.#outer.length < maxDepth / 2;
    // A record may declare the namespace of its own name, but the next record might not.
    const isSame = nameIn(this.scope, this.#last).uri === this.#first?.uri;
    return isBehind && isSame && this.#parser.xmlDecl.version !== '1.1' ? this.#last : undefined;
  }

  /** The namespaces that apply at the start of the open element's children. */
  get scope(): XmlScope {
    return this.#outer.at(-1)?.scope ?? outermost;
  }

  /** Ends the document, and rejects it if it's truncated. */
  end(): void {
    this.#parser.close();
    if (this.found) this.#places.learn(this.#pathsMet, this.#around);
    else if (!this.#places.isEmptyList(this.#pathsMet, this.#mayBeEmpty || this.#wanted === undefined)) {
      throw this.#notFound();
    }
  }

  #open(tag: SaxesTagPlain): void {
    if (this.#outer.length + this.#inner.length > maxDepth) throw this.#syntax('elements are nested too deeply');
    if (this.#record === undefined) this.#openOutside(tag);
    else this.#openInside(tag);
  }

  #openOutside(tag: SaxesTagPlain): void {
    const scope = scopeInside(this.scope, tag.attributes);
    this.#outer.push({ raw: tag.name, local: localName(tag.name), scope });
    if (this.#isRecord(tag.name, scope)) {
      this.#values?.drop();
      this.#begin(tag, scope);
    } else {
      this.#values?.begin(tag.name, tag.attributes);
      this.#pathsMet.add(this.#outer);
      if (this.met.size < 20) this.met.add(this.#outer.map(({ raw }) => raw).join('.'));
    }
  }

  /** Compares namespaces and local names, because prefixes can be rebound. */
  #isRecord(raw: string, scope: XmlScope): boolean {
    if (this.#wanted !== undefined && !this.#isCalled(localName(raw), 'local')) return false;
    if (this.#wanted === undefined && this.#outer.length !== 2) return false;
    const name = nameIn(scope, raw);
    // With a prefix, `records` refers to an element in a specific namespace.
    if (this.#wanted !== undefined && /:[^.:]*$/.test(this.#wanted) && name.uri === '') return false;
    const isExact = this.#wanted !== undefined && this.#isCalled(raw, 'raw');
    this.#first ??= { ...name, raw, isExact };
    const first = this.#first;
    this.#names.recordUri = first.uri;
    if (first.uri === name.uri && first.local === name.local) return true;
    if (this.#wanted === undefined) throw this.#mixed(raw);
    if (first.isExact && !isExact) return false;
    throw this.#ambiguous(raw);
  }

  /** Whether the open element matches `records`, by its name or by its path. */
  #isCalled(name: string, as: 'raw' | 'local'): boolean {
    const wanted = as === 'raw' ? this.#wanted : this.#wantedLocal;
    return name === wanted || this.#outer.map((one) => one[as]).join('.') === wanted;
  }

  #begin(tag: SaxesTagPlain, scope: XmlScope): void {
    if (!this.found)
      this.#around = this.#outer
        .slice(0, -1)
        .map(({ local }) => local)
        .join('/');
    this.found = true;
    this.#record = new Map();
    this.#repeats.begin();
    this.#inner = [this.#opened('', tag, { scope, parent: undefined })];
  }

  #openInside(tag: SaxesTagPlain): void {
    const parent = this.#inner.at(-1)!;
    parent.hasChildren = true;
    const scope = scopeInside(parent.scope, tag.attributes);
    this.#inner.push(
      this.#opened(joined(parent.path, this.#names.shown(nameIn(scope, tag.name))), tag, { scope, parent }),
    );
  }

  #opened(path: string, tag: SaxesTagPlain, { scope, parent }: Pick<Open, 'scope' | 'parent'>): Open {
    const open: Open = { path, parent, text: '', hasChildren: false, isNil: false, scope };
    // Most elements have no attributes, and creating a list of entries for each element would cost as much as reading
    // it.
    for (const name in tag.attributes) {
      const value = tag.attributes[name]!;
      if (isDeclaration(name)) continue;
      const attribute = nameIn(scope, name, true);
      if (isNil(attribute)) open.isNil = /^(?:true|1)$/.test(value.trim());
      else this.#put(open, joined(path, `@${this.#names.shown(attribute)}`), value);
    }
    return open;
  }

  #text(text: string): void {
    if (this.#record === undefined) this.#values?.text(text);
    else this.#inner.at(-1)!.text += text;
  }

  #close(): void {
    if (this.#record === undefined) {
      this.#outer.pop();
      this.#values?.end();
      return;
    }
    const open = this.#inner.pop()!;
    this.#settle(open);
    if (this.#inner.length > 0) return;
    const record = this.#record;
    this.#repeats.align(record);
    this.#record = undefined;
    this.#last = this.#outer.pop()!.raw;
    this.#lastEnd = this.#parser.position;
    this.#take(record);
  }

  #settle(open: Open): void {
    const { path, text, hasChildren, isNil } = open;
    if (!hasChildren && path !== '') this.#put(open.parent!, path, isNil ? null : text);
    else if (text.trim() !== '') this.#put(open, joined(path, '#text'), text);
    this.#repeats.close(open);
  }

  /** Adds a value found in `holder`: an attribute, text next to elements, or a child element's text. */
  #put(holder: XmlNode, path: string, value: string | null): void {
    const record = this.#record!;
    this.#repeats.put(holder, path, value);
    const before = record.get(path);
    if (before === undefined || before === null) record.set(path, value);
    else if (value !== null) record.set(path, [...[before].flat(), value]);
  }

  #syntax(message: string) {
    const { line } = this;
    const what = message.replace(/^(?:undefined:)?\d+:\d+: /, '');
    return faultIn(this.#input, { code: 'XML_SYNTAX', message: what, spot: { line }, next: adviceOn(what) });
  }

  #mixed(name: string) {
    return faultIn(this.#input, {
      code: 'RECORDS_NOT_FOUND',
      message: 'the elements below the root have different names, so the records are ambiguous',
      spot: { line: this.line },
      seen: `${this.#first?.raw}, ${name}`,
      next: 'set `records` to the name or path of the repeated element',
    });
  }

  #ambiguous(name: string) {
    return faultIn(this.#input, {
      code: 'RECORDS_AMBIGUOUS',
      message: '`records` matches elements from two namespaces',
      spot: { line: this.line },
      seen: `${this.#first?.raw}, ${name}`,
      next: 'set `records` to the full path of the element, with its prefix',
    });
  }

  #notFound() {
    return faultIn(this.#input, {
      code: 'RECORDS_NOT_FOUND',
      message: 'no element matches `records`',
      seen: this.#wanted ?? 'no element below the root has the name seen before',
      allowed: shorten([...this.met].join(', '), 400),
      next: 'set `records` to the name or path of the repeated element',
    });
  }
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** The fix for an error, chosen by the parser's message. */
function adviceOn(fault: string): string {
  if (fault.startsWith('undefined entity'))
    return 'replace the entity with the character itself: DTD entities are not supported';
  const escapes = 'in XML, write &amp; for & and &lt; for <';
  return fault.startsWith('unclosed tag')
    ? `fetch or write the data again: it is truncated or not well-formed (${escapes})`
    : `fix the program that writes the data so that it writes well-formed XML: ${escapes}`;
}
