import { isDeclaration, isNil, nameIn, type XmlNames, type XmlScope } from './xml-names.ts';

/** An element or attribute of the records, by its path. */
export interface XmlColumnPart {
  /** Names from the record down, joined by dots; '' is the record, `@name` an attribute. */
  readonly path: string;
  /** Bytes of its name. */
  readonly name: Buffer;
  /** The same with the `>` of an end tag. */
  readonly close: Buffer;
  /** In order of first appearance, which the next record most likely repeats. */
  readonly elements: XmlColumnPart[];
  readonly attributes: XmlColumnPart[];
  /** By name, attributes with `@` before it. */
  readonly byName: Map<string, XmlColumnPart>;
  /** Place among the elements, or the attributes, of its parent. */
  readonly index: number;
  /** What its text is: a value, whether the element is null, or a namespace. */
  readonly means: 'value' | 'nil' | 'namespace';
  /** Which cell of the row; -1 for none. */
  readonly slot: number;
  /** The record that had a value here last. */
  record: number;
  /** It has been told that there are values here. */
  isTold: boolean;
}

/** More parts than a table may have columns are for the parser to refuse. */
const maxParts = 20_000;

/** The parts of records that were met, as a tree that follows the elements. */
export class XmlParts {
  readonly root: XmlColumnPart;
  /** The namespaces around the records, in which these names have their meaning. */
  readonly scope: XmlScope;
  readonly #slotOf: (path: string) => number;
  readonly #names: XmlNames;
  #count = 0;

  /** `slotOf` tells which path has which cell; -1 for none. */
  constructor(slotOf: (path: string) => number, names: XmlNames, scope: XmlScope) {
    this.#slotOf = slotOf;
    this.#names = names;
    this.scope = scope;
    this.root = this.#part('', '', 0);
  }

  /** The element, or with `@` before its name the attribute, inside a part; undefined when there are too many. */
  inside(parent: XmlColumnPart, name: string): XmlColumnPart | undefined {
    const known = parent.byName.get(name);
    if (known !== undefined) return known;
    if (this.#count++ >= maxParts) return undefined;
    const siblings = name.startsWith('@') ? parent.attributes : parent.elements;
    const shown = this.#shown(name);
    const part = this.#part(parent.path === '' ? shown : `${parent.path}.${shown}`, name, siblings.length);
    siblings.push(part);
    parent.byName.set(name, part);
    return part;
  }

  /** The name in a path; `#text` is none of the document's. Names are UTF-8 read as latin1. */
  #shown(name: string): string {
    if (name === '#text') return name;
    const raw = Buffer.from(name.replace(/^@/, ''), 'latin1').toString('utf8');
    const isAttribute = name.startsWith('@');
    return `${isAttribute ? '@' : ''}${this.#names.shown(nameIn(this.scope, raw, isAttribute))}`;
  }

  #part(path: string, name: string, index: number): XmlColumnPart {
    const written = name.replace(/^@/, '');
    return {
      path,
      name: Buffer.from(written, 'latin1'),
      close: Buffer.from(`${written}>`, 'latin1'),
      elements: [],
      attributes: [],
      byName: new Map(),
      index,
      means: this.#meaningOf(name),
      slot: path === '' ? -1 : this.#slotOf(path),
      record: 0,
      isTold: false,
    };
  }

  #meaningOf(name: string): XmlColumnPart['means'] {
    if (!name.startsWith('@')) return 'value';
    const raw = name.slice(1);
    if (isDeclaration(raw)) return 'namespace';
    return isNil(nameIn(this.scope, raw, true)) ? 'nil' : 'value';
  }
}
