import type { Fields } from './description.ts';
import { textOf } from './exact-json.ts';
import { type ValuePath, valueAt } from './path.ts';

/** Maximum number of remembered keys. */
const maxKeys = 10_000;

/** Removes duplicates of recent records. */
export class Deduplicator {
  readonly #key: ValuePath;
  readonly #seen = new Set<string>();

  constructor(key: ValuePath) {
    this.#key = key;
  }

  /** Returns the new records; a record without a key always counts as new. */
  fresh(records: readonly Fields[]): Fields[] {
    return records.filter((record) => {
      const key = textOf(valueAt(record, this.#key));
      if (key === undefined) return true;
      if (this.#seen.has(key)) return false;
      this.#remember(key);
      return true;
    });
  }

  /** A Set iterates in insertion order, so the first key is the oldest. */
  #remember(key: string): void {
    this.#seen.add(key);
    if (this.#seen.size > maxKeys) this.#seen.delete(this.#seen.values().next().value!);
  }
}
