import { noWay, unresolved, type XmlColumnPart } from './xml-column-part.ts';
import { isDeclaration, isNil, nameIn, type XmlNames, type XmlScope } from './xml-names.ts';

/** Deeper records are the parser's. */
const maxDepth = 100;

/** The parts of records that were met, as a tree that follows the elements. */
export class XmlParts {
  readonly root: XmlColumnPart;
  /** The namespaces around the records, in which these names have their meaning. */
  readonly scope: XmlScope;
  readonly #slotOf: (path: string) => number;
  readonly #paths = new Set<string>();
  readonly #names: XmlNames;
  readonly #max: number;
  #count = 0;

  /**
   * `slotOf` gets each path with values once and tells its cell; -1 for none. More parts than a table may have columns are for the parser to
   * refuse.
   */
  constructor(slotOf: (path: string) => number, names: XmlNames, scope: XmlScope, max = 20_000) {
    this.#max = max;
    this.#slotOf = slotOf;
    this.#names = names;
    this.scope = scope;
    this.root = this.#part(undefined, '', 0);
  }

  /** The element, or with `@` before its name the attribute, inside a part; undefined when there are too many. */
  inside(parent: XmlColumnPart, name: string): XmlColumnPart | undefined {
    const known = parent.byName.get(name);
    if (known !== undefined) return known;
    if (this.#count >= this.#max || parent.depth === maxDepth) return undefined;
    this.#count++;
    const siblings = name.startsWith('@') ? parent.attributes : parent.elements;
    const part = this.#part(parent, name, siblings.length);
    siblings.push(part);
    parent.byName.set(name, part);
    return part;
  }

  /** Finds out the cell of a part that {@link ownsPath}. */
  resolve(part: XmlColumnPart): void {
    part.slot = this.#slotOf(part.path!);
  }

  /**
   * Whether no other part has the path of this one. Only to be called for parts with values in complete records: others may
   * turn out to be in other namespaces.
   */
  ownsPath(part: XmlColumnPart): boolean {
    const { parent } = part;
    if (part.path === undefined && parent !== undefined) {
      const isOwned = this.ownsPath(parent);
      const shown = this.#shown(part);
      part.path = parent.path === '' ? shown : `${parent.path}.${shown}`;
      part.isTaken = !isOwned || this.#paths.has(part.path);
      this.#paths.add(part.path);
    }
    return !part.isTaken;
  }

  /** The name in a path; `#text` is none of the document's. */
  #shown({ name, means, isAttribute }: XmlColumnPart): string {
    if (means === 'text') return '#text';
    const shown = this.#names.shown(nameIn(this.scope, name.toString('utf8'), isAttribute));
    return isAttribute ? `@${shown}` : shown;
  }

  /** Names are UTF-8 read as latin1. */
  #part(parent: XmlColumnPart | undefined, name: string, index: number): XmlColumnPart {
    const written = name.replace(/^@/, '');
    return {
      path: parent === undefined ? '' : undefined,
      isTaken: false,
      parent,
      depth: parent === undefined ? 0 : parent.depth + 1,
      name: Buffer.from(written, 'latin1'),
      close: Buffer.from(`${written}>`, 'latin1'),
      elements: [],
      attributes: [],
      byName: new Map(),
      index,
      isAttribute: name.startsWith('@'),
      means: this.#meaningOf(name),
      slot: unresolved,
      record: 0,
      way: noWay,
      otherWay: noWay,
    };
  }

  #meaningOf(name: string): XmlColumnPart['means'] {
    if (!name.startsWith('@')) return name === '#text' ? 'text' : 'value';
    const raw = name.slice(1);
    if (isDeclaration(raw)) return 'namespace';
    return isNil(nameIn(this.scope, raw, true)) ? 'nil' : 'value';
  }
}
