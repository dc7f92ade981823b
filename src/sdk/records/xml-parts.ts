/** One element or attribute inside the records, by where it stands. */
export interface XmlPart {
  /** Names from the record down, joined by dots; '' is the record, `@name` an attribute. */
  readonly path: string;
  /** Bytes of its name. */
  readonly name: Buffer;
  /** The same with the `>` of an end tag. */
  readonly close: Buffer;
  /** In order of first appearance, which the next record most likely repeats. */
  readonly elements: XmlPart[];
  readonly attributes: XmlPart[];
  /** By name, attributes with `@` before it. */
  readonly byName: Map<string, XmlPart>;
  /** Place among the elements, or the attributes, of its parent. */
  readonly index: number;
  /** What its text is: a value, word that the element is null, or neither (a namespace). */
  readonly means: 'value' | 'nil' | 'nothing';
  /** Which cell of the row; -1 for none. */
  readonly slot: number;
  /** The record that had a value here last. */
  record: number;
  /** It has been told that there are values here. */
  isTold: boolean;
}

/** More parts than a table may have columns are for the parser to refuse. */
const mostParts = 20_000;

/** The parts of records that were met, as a tree that follows the elements. */
export class XmlParts {
  readonly root: XmlPart;
  readonly #slots: ReadonlyMap<string, number>;
  #count = 0;

  /** `slots` tells which paths have which cell. */
  constructor(slots: ReadonlyMap<string, number>) {
    this.#slots = slots;
    this.root = this.#part('', '', 0);
  }

  /** The element, or with `@` before its name the attribute, inside a part; undefined when there are too many. */
  inside(parent: XmlPart, name: string): XmlPart | undefined {
    const known = parent.byName.get(name);
    if (known !== undefined) return known;
    if (this.#count++ >= mostParts) return undefined;
    const siblings = name.startsWith('@') ? parent.attributes : parent.elements;
    const part = this.#part(parent.path === '' ? name : `${parent.path}.${name}`, name, siblings.length);
    siblings.push(part);
    parent.byName.set(name, part);
    return part;
  }

  #part(path: string, name: string, index: number): XmlPart {
    const written = name.replace(/^@/, '');
    return {
      path,
      name: Buffer.from(written, 'latin1'),
      close: Buffer.from(`${written}>`, 'latin1'),
      elements: [],
      attributes: [],
      byName: new Map(),
      index,
      means: meaningOf(name),
      slot: this.#slots.get(path) ?? -1,
      record: 0,
      isTold: false,
    };
  }
}

function meaningOf(name: string): XmlPart['means'] {
  if (name === '@xsi:nil') return 'nil';
  return name === '@xmlns' || name.startsWith('@xmlns:') ? 'nothing' : 'value';
}
