import type { Column, ColumnType, KeptColumn } from '../column.ts';
import { unescapeInPlace } from './json-text.ts';

/** Kinds of JSON values as bits, so that a set of kinds is a single number. */
export const kind = {
  null: 1,
  boolean: 2,
  integer: 4,
  fraction: 8,
  exponent: 16,
  string: 32,
  empty: 64,
  container: 128,
} as const;

const numbers = kind.integer | kind.fraction | kind.exponent;
const scalars = kind.boolean | numbers | kind.string;
const everything = scalars | kind.empty | kind.container;

/** One path inside the records. */
export interface PathNode {
  /** The keys from the record down, joined by dots. */
  readonly path: string;
  /** The path's depth: 1 for a key of the record itself. */
  readonly depth: number;
  /**
   * The bytes that preceded this path's last value, from the opening brace or the end of the previous value. They're
   * usually the same in every record, so a comparison is enough.
   */
  leadStart: number;
  leadLength: number;
  /** Line feeds in those bytes. */
  leadLines: number;
  /** Children in order of first appearance, which the next record usually repeats. */
  readonly children: PathNode[];
  /** Index among its parent's children. */
  readonly index: number;
  /** Children by the key's UTF-8 bytes, decoded as latin1. */
  readonly byKey: Map<string, PathNode>;
  /** The first lone surrogate that a key of this path contained, which became U+FFFD. */
  lone: number | undefined;
  /** Kinds seen so far. */
  seen: number;
  /** True if objects at this path are flattened into columns; otherwise, they're kept as JSON. */
  descend: boolean;
  /** The cell's index in the row; -1 if there is none. */
  slot: number;
  /** True if values keep their raw JSON text, including quotes and escapes. */
  raw: boolean;
  /** Kinds whose raw text is already canonical for the column's type. */
  natural: number;
}

/** All paths in the records, as a tree of keys. */
export class JsonPaths {
  readonly root: PathNode;
  /** Called for each new path, before its first value. */
  meet: (node: PathNode) => void = () => undefined;
  readonly #flatten: number;
  readonly #met: PathNode[] = [];

  /** `flatten`: the maximum depth at which objects are flattened. */
  constructor(flatten: number) {
    this.#flatten = flatten;
    this.root = { ...this.#node('', 0), descend: true };
  }

  /** The child with that key, created if it doesn't exist. `id` is the key's UTF-8 bytes, decoded as latin1. */
  child(parent: PathNode, id: string): PathNode {
    const known = parent.byKey.get(id);
    if (known !== undefined) return known;
    const key = Buffer.from(id, 'latin1').toString('utf8');
    const path = parent.depth === 0 ? key : `${parent.path}.${key}`;
    const node: PathNode = { ...this.#node(path, parent.depth + 1), index: parent.children.length };
    this.meet(node);
    parent.byKey.set(id, node);
    parent.children.push(node);
    this.#met.push(node);
    return node;
  }

  /** The child with that key, which contains escapes. */
  escapedChild(parent: PathNode, key: Buffer): PathNode {
    const text = Buffer.from(key);
    let lone: number | undefined;
    const end = unescapeInPlace(text, [0, text.length], (codePoint) => {
      lone ??= codePoint;
    });
    const child = this.child(parent, text.toString('latin1', 0, end));
    child.lone ??= lone;
    return child;
  }

  /** The columns whose name contains a lone surrogate, and the first one in each. */
  *replacedNames(parent: PathNode = this.root, inherited?: number): Generator<readonly [name: string, lone: number]> {
    for (const node of parent.children) {
      const lone = node.lone ?? inherited;
      if (lone !== undefined && node.slot >= 0) yield [node.path, lone];
      yield* this.replacedNames(node, lone);
    }
  }

  /**
   * The columns found in the data, in order of first appearance. A path isn't a column if its values are objects and
   * otherwise only null or `{}`; in that case, its child paths are columns. The kept columns come first, as if they
   * had been found in an earlier record, and remain columns.
   */
  columns(kept: readonly KeptColumn[] = []): Column[] {
    const seen = new Map(kept.map(({ name, type, seen: hasValue }) => [name, hasValue ? kindIn[type] : kind.null]));
    const former = new Set(seen.keys());
    const parents = new Set(kept.flatMap(prefixes));
    for (const node of this.#met) {
      const mayBeParent = !former.has(node.path) && (node.children.length > 0 || parents.has(node.path));
      const isParent = mayBeParent && (node.seen & (scalars | kind.container)) === 0;
      if (node.seen !== 0 && !isParent) seen.set(node.path, (seen.get(node.path) ?? 0) | node.seen);
    }
    return [...seen].map(([name, kinds]) => ({ name, type: typeOf(kinds) }));
  }

  /** The names of the kept columns that no record has. */
  absent(kept: readonly KeptColumn[]): string[] {
    const found = new Set(this.columns().map(({ name }) => name));
    return kept.flatMap(({ name }) => (found.has(name) ? [] : [name]));
  }

  /** All paths. */
  all(): readonly PathNode[] {
    return this.#met;
  }

  #node(path: string, depth: number): PathNode {
    return {
      path,
      depth,
      leadStart: 0,
      leadLength: 0,
      leadLines: 0,
      children: [],
      index: 0,
      byKey: new Map(),
      lone: undefined,
      seen: 0,
      descend: depth <= this.#flatten,
      slot: -1,
      raw: false,
      natural: everything,
    };
  }
}

/** The objects that contain a column's values: `a.b.c` is inside `a` and `a.b`. */
export function prefixes({ name }: Column): string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('.'));
}

/** The narrowest type that represents all these kinds exactly. */
function typeOf(seen: number): ColumnType {
  if ((seen & (kind.empty | kind.container)) !== 0) return 'json';
  const held = seen & scalars;
  if (held === kind.boolean) return 'boolean';
  if (held === 0 || (held & ~numbers) !== 0) return 'text';
  if ((held & kind.exponent) !== 0) return 'float';
  return (held & kind.fraction) !== 0 ? 'decimal' : 'integer';
}

/** The kind of a JSON value that becomes a value of the type. */
const kindIn: Record<ColumnType, number> = {
  text: kind.string,
  json: kind.container,
  boolean: kind.boolean,
  integer: kind.integer,
  decimal: kind.fraction,
  float: kind.exponent,
  uuid: kind.string,
  date: kind.string,
  time: kind.string,
  timestamp: kind.string,
  timestamptz: kind.string,
  binary: kind.string,
};

/** Kinds whose JSON text is already a type's canonical text. */
export const naturalKinds: Record<ColumnType, number> = {
  text: everything,
  json: everything,
  boolean: kind.boolean,
  integer: kind.integer,
  decimal: kind.integer | kind.fraction,
  float: numbers,
  uuid: 0,
  date: 0,
  time: 0,
  timestamp: 0,
  timestamptz: 0,
  binary: 0,
};
