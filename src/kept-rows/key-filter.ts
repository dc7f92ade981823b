import type { Merge } from './merge.ts';
import { compareKeys, compareVersions, type RecordRef, sizeAt } from './record.ts';
import type { RecordSource } from './record-source.ts';

/**
 * Decides whether a kept row still exists, by the complete list of the source's keys. Both are read once, in key order,
 * so memory use is constant.
 */
export class KeyFilter {
  readonly #keys: Merge;
  readonly #firstNew: number;
  /** The first key that isn't lower than the last row's; undefined if it must be read first. */
  #at: RecordSource | undefined;
  /** Whether there's a row with this key. */
  #isFound = false;
  #isAtEnd = false;
  #missing: RecordRef | undefined;

  /**
   * @param keys all keys of the source, in order
   * @param firstNew rows with a rank above this one less one were read in this run, so they exist
   */
  constructor(keys: Merge, firstNew: number) {
    this.#keys = keys;
    this.#firstNew = firstNew;
  }

  /** Of the keys without a row, the one with the lowest version. Known after {@link finish}. */
  get missing(): RecordRef | undefined {
    return this.#missing;
  }

  /** Whether the row exists. Rows must come in key order. A promise only if keys must be read first. */
  hasRow(row: RecordSource): boolean | Promise<boolean> {
    const exists = this.#has(row);
    return exists === 'wait' ? this.#fillAndAsk(row) : exists;
  }

  async #fillAndAsk(row: RecordSource): Promise<boolean> {
    for (;;) {
      await this.#keys.fill();
      const exists = this.#has(row);
      if (exists !== 'wait') return exists;
    }
  }

  /** `wait`: read keys, then ask again. */
  #has(row: RecordSource): boolean | 'wait' {
    const isNew = row.rank > this.#firstNew - 1;
    for (;;) {
      const at = this.#next();
      if (at === 'wait') return 'wait';
      if (at === undefined) return isNew;
      const order = compareKeys(at, row);
      if (order === 0) this.#isFound = true;
      if (order >= 0) return isNew || order === 0;
      this.#pass(at);
    }
  }

  /** Reads the keys that are higher than the last row's. */
  async finish(): Promise<void> {
    for (let at = this.#next(); at !== undefined; at = this.#next()) {
      if (at === 'wait') await this.#keys.fill();
      else this.#pass(at);
    }
  }

  close(): Promise<void> {
    return this.#keys.close();
  }

  /** The next key that hasn't been passed; undefined at the end. */
  #next(): RecordSource | 'wait' | undefined {
    if (this.#at !== undefined || this.#isAtEnd) return this.#at;
    const next = this.#keys.next();
    if (next === 'wait') return next;
    this.#isAtEnd = next === 'end';
    this.#at = next === 'end' ? undefined : next;
    return this.#at;
  }

  #pass(key: RecordSource): void {
    if (!this.#isFound && (this.#missing === undefined || compareVersions(key, this.#missing) < 0)) {
      const record = key.buffer.subarray(key.start, key.start + sizeAt(key.buffer, key.start));
      this.#missing = { buffer: Buffer.from(record), start: 0 };
    }
    this.#isFound = false;
    this.#at = undefined;
  }
}
