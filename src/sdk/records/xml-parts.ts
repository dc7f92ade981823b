import { noWay, unresolved, type XmlColumnPart } from './xml-column-part.ts';
import { isDeclaration, isNil, nameIn, type XmlNames, type XmlScope } from './xml-names.ts';

/** Records that are nested more deeply than this are left to the parser. */
const maxDepth = 100;

/** The parts of the records so far, as a tree that mirrors the elements. */
export class XmlParts {
  readonly root: XmlColumnPart;
  /** The namespaces in scope around the records, which determine the meaning of the names. */
  readonly scope: XmlScope;
  readonly #slotOf: (path: string) => number;
  readonly #paths = new Set<string>();
  readonly #names: XmlNames;
  readonly #max: number;
  #count = 0;

  /**
   * `slotOf` is called once for each path with values, and returns the path's cell index; -1 if there is no cell. The
   * parser rejects records with more parts than a table can have columns.
   */
  constructor(slotOf: (path: string) => number, names: XmlNames, scope: XmlScope, max = 20_000) {
    this.#max = max;
    this.#slotOf = slotOf;
    this.#names = names;
    this.scope = scope;
    this.root = this.#part(undefined, '', 0);
  }

  /** The child element or, if the name starts with `@`, the attribute; undefined if there are too many parts. */
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

  /** Sets the cell of a part that {@link ownsPath}. */
  resolve(part: XmlColumnPart): void {
    part.slot = this.#slotOf(part.path!);
  }

  /**
   * Whether no other part has this part's path. Call this only for parts with values in complete records, because other
   * parts may turn out to be in a different namespace.
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

  /** The name in a path; `#text` isn't a name in the document. */
  #shown({ name, means, isAttribute }: XmlColumnPart): string {
    if (means === 'text') return '#text';
    const shown = this.#names.shown(nameIn(this.scope, name.toString('utf8'), isAttribute));
    return isAttribute ? `@${shown}` : shown;
  }

  /** Names are UTF-8 decoded as latin1. */
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
