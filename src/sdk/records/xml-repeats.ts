import type { XmlRecord, XmlValue } from './xml-record.ts';

/** An element of a record, with its position in the tree. */
export interface XmlNode {
  readonly path: string;
  readonly parent: XmlNode | undefined;
}

/** The values of a path in one record. */
interface Values {
  /** The element that contained the first value. */
  readonly first: XmlNode;
  readonly byHolder: Map<XmlNode, XmlValue>;
  /**
   * Whether all values are in elements with the same names. If names contain dots, this may be false, because `a.b` is
   * then ambiguous.
   */
  areAlike: boolean;
}

/**
 * Collects the values of elements that occur several times in a record and have parts, such as an order's `item`
 * elements. Each part becomes a list with one entry per element, so that entries with the same index belong together.
 * The entry is null if the element lacks the part.
 */
export class XmlRepeats {
  /** The values of the current record, by path. */
  readonly #values = new Map<string, Values>();
  /** Elements by their parent and path. */
  readonly #groups = new Map<XmlNode, Map<string, XmlNode[]>>();
  #hasRepeats = false;

  /** Starts a record. */
  begin(): void {
    this.#values.clear();
    this.#groups.clear();
    this.#hasRepeats = false;
  }

  /** Records a value in `holder`. */
  put(holder: XmlNode, path: string, value: string | null): void {
    const known = this.#values.get(path);
    if (known === undefined) {
      this.#values.set(path, { first: holder, byHolder: new Map([[holder, value]]), areAlike: true });
      return;
    }
    const before = known.byHolder.get(holder);
    known.byHolder.set(holder, before === undefined ? value : [...[before].flat(), value]);
    known.areAlike &&= isAlike(known.first, holder);
  }

  /** Records that an element inside the record has ended, whether or not it has parts. */
  close(node: XmlNode): void {
    if (node.parent === undefined) return;
    const byPath = this.#groups.get(node.parent) ?? new Map<string, XmlNode[]>();
    this.#groups.set(node.parent, byPath);
    const group = byPath.get(node.path);
    if (group === undefined) byPath.set(node.path, [node]);
    else {
      group.push(node);
      this.#hasRepeats = true;
    }
  }

  /** Replaces the values below repeated elements with lists that have one item per element. */
  align(record: XmlRecord): void {
    if (!this.#hasRepeats) return;
    const repeated = new Set<string>();
    for (const byPath of this.#groups.values()) {
      for (const [path, group] of byPath) if (group.length > 1) repeated.add(path);
    }
    for (const [path, { first, byHolder, areAlike }] of this.#values) {
      const chain = chainOf(first);
      if (!areAlike || !chain.some(({ path: at }) => repeated.has(at))) continue;
      record.set(path, this.#valueIn(chain[0]!, 0, { chain, byHolder, repeated }));
    }
  }

  #valueIn(node: XmlNode, level: number, walk: Walk): XmlValue {
    const next = walk.chain[level + 1];
    if (next === undefined) return walk.byHolder.get(node) ?? null;
    const group = this.#groups.get(node)?.get(next.path) ?? [];
    if (!walk.repeated.has(next.path)) return group[0] === undefined ? null : this.#valueIn(group[0], level + 1, walk);
    return group.map((inner) => this.#valueIn(inner, level + 1, walk));
  }
}

interface Walk {
  /** The elements from the record down to the one that contains the value. */
  readonly chain: readonly XmlNode[];
  readonly byHolder: ReadonlyMap<XmlNode, XmlValue>;
  readonly repeated: ReadonlySet<string>;
}

function chainOf(node: XmlNode): readonly XmlNode[] {
  return node.parent === undefined ? [node] : [...chainOf(node.parent), node];
}

function isAlike(a: XmlNode | undefined, b: XmlNode | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && a.path === b.path && isAlike(a.parent, b.parent);
}
