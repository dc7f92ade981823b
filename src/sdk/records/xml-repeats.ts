import type { XmlRecord, XmlValue } from './xml-record.ts';

/** An element of a record, as far as it matters where it stands. */
export interface XmlNode {
  readonly path: string;
  readonly parent: XmlNode | undefined;
}

/** The values of a path in one record. */
interface Values {
  /** What the first of them stood in. */
  readonly first: XmlNode;
  readonly byHolder: Map<XmlNode, XmlValue>;
  /** They all stand in elements of the same names; not so where names have points, and `a.b` may be two things. */
  areAlike: boolean;
}

/**
 * Elements with parts inside that stand several times in one record (`item` of an order). The values of each part below them are a
 * list with one place for each such element, so that places of one number belong together: null is put in where an element lacks
 * the part.
 */
export class XmlRepeats {
  /** Those of the record at hand, by path. */
  readonly #values = new Map<string, Values>();
  /** Elements by the element around and their path. */
  readonly #groups = new Map<XmlNode, Map<string, XmlNode[]>>();
  #hasRepeats = false;

  /** A record begins. */
  begin(): void {
    this.#values.clear();
    this.#groups.clear();
    this.#hasRepeats = false;
  }

  /** Notes a value that stands in `holder`. */
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

  /** Notes an element inside the record that has ended, with parts inside or not. */
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

  /** Replaces the values below repeated elements by lists with a place for each. */
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
  /** From the record down to what holds the value. */
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
