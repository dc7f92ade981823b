import type { Column } from '../column.ts';
import { faultIn, type RecordInput } from './input.ts';

/**
 * Maps each path of a record to a column: the column with that name; otherwise, the column whose name differs only in
 * prefixes, unless another path uses that column.
 */
export class XmlColumns {
  readonly #input: RecordInput;
  readonly #slots = new Map<string, number>();
  readonly #byLocal = new Map<string, number>();
  /** The path that provides a column's values. */
  readonly #paths = new Map<number, string>();

  constructor(input: RecordInput, columns: readonly Column[]) {
    this.#input = input;
    for (const [slot, { name }] of columns.entries()) {
      this.#slots.set(name, slot);
      const local = localPath(name);
      this.#byLocal.set(local, this.#byLocal.has(local) ? -1 : slot);
    }
  }

  /** A path's cell index; -1 if the path has no cell. */
  readonly slotOf = (path: string): number => {
    const exact = this.#slots.get(path);
    const slot = exact ?? this.#byLocal.get(localPath(path)) ?? -1;
    if (slot < 0) return -1;
    const taken = this.#paths.get(slot);
    if (taken === undefined) this.#paths.set(slot, path);
    if (taken === undefined || taken === path) return slot;
    if (exact !== undefined) throw this.#ambiguous(taken, path);
    return -1;
  };

  /** Whether any record had a value for this column. */
  isMet(slot: number): boolean {
    return this.#paths.has(slot);
  }

  /** The path that provides a column's values; the column's name if no record has had the column yet. */
  pathOf(slot: number, name: string): string {
    return this.#paths.get(slot) ?? name;
  }

  #ambiguous(taken: string, path: string) {
    return faultIn(this.#input, {
      code: 'RECORDS_AMBIGUOUS',
      message: 'elements or attributes from two namespaces map to the same column',
      seen: `${taken}, ${path}`,
      next: 'declare both in `columns`, each with its prefix',
    });
  }
}

/** A path without prefixes. */
function localPath(path: string): string {
  return path.replaceAll(/(^|[.@])[^.:@]+:/g, '$1');
}
