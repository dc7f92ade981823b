import { rowFingerprint } from '../lib/row-fingerprint.ts';
import { type Batch, cellText, storedRow } from '../sdk/batch.ts';

/** Maximum number of rows that can be checked. Their fingerprints take 32 MB. */
export const maxUniqueRows = 1_000_000;

/** How often rows repeat the values of an earlier row. */
export interface Repeats {
  /** Number of rows that repeat an earlier row; undefined if there are too many rows to tell. */
  readonly rows: number | undefined;
  /** The values of the first such row. */
  readonly example?: string;
}

/** Counts the rows whose values in some columns repeat those of an earlier row. Memory is limited. */
export class UniqueRows {
  readonly #columns: readonly string[];
  /** A hash table with open addressing. A fingerprint is two numbers; an empty place is two zeros. */
  #table = new BigUint64Array(2 * 1024);
  #size = 0;
  #repeats = 0;
  #example: string | undefined;
  #isTooLarge = false;

  constructor(columns: readonly string[]) {
    this.#columns = columns;
  }

  take(batch: Batch): void {
    const indexes = this.#columns.map((name) => batch.columns.findIndex((column) => column.name === name));
    if (this.#isTooLarge || indexes.includes(-1)) return;
    for (let i = 0; i < batch.length && !this.#isTooLarge; i++) {
      const stored = storedRow(batch, i);
      const cells = indexes.map((c) => cellText(batch.cells[c]!, batch.columns[c]!.type, stored));
      if (this.#add(rowFingerprint(cells))) continue;
      this.#repeats++;
      this.#example ??= cells.map((cell) => cell ?? 'null').join(', ');
    }
  }

  repeats(): Repeats {
    if (this.#isTooLarge) return { rows: undefined };
    return { rows: this.#repeats, ...(this.#example === undefined ? {} : { example: this.#example }) };
  }

  /** Returns whether the fingerprint is new. */
  #add(fingerprint: Buffer): boolean {
    const low = fingerprint.readBigUInt64LE(0);
    const high = fingerprint.readBigUInt64LE(8);
    const at = placeOf(this.#table, low, high);
    if (this.#table[at] === low && this.#table[at + 1] === high) return false;
    if (this.#size === maxUniqueRows) {
      this.#isTooLarge = true;
      this.#table = new BigUint64Array(0);
      return true;
    }
    this.#table[at] = low;
    this.#table[at + 1] = high;
    // Half of the places stay empty, so that the search for a place is short.
    if (++this.#size * 4 > this.#table.length) this.#grow();
    return true;
  }

  #grow(): void {
    const larger = new BigUint64Array(2 * this.#table.length);
    for (let i = 0; i < this.#table.length; i += 2) {
      const [low, high] = [this.#table[i]!, this.#table[i + 1]!];
      if (low === 0n && high === 0n) continue;
      const at = placeOf(larger, low, high);
      larger[at] = low;
      larger[at + 1] = high;
    }
    this.#table = larger;
  }
}

/** The index of a fingerprint in the table, or of the empty place for it. */
function placeOf(table: BigUint64Array, low: bigint, high: bigint): number {
  const places = table.length / 2;
  let place = Number(low % BigInt(places));
  while (
    (table[2 * place] !== low || table[2 * place + 1] !== high) &&
    (table[2 * place] !== 0n || table[2 * place + 1] !== 0n)
  ) {
    place = (place + 1) % places;
  }
  return 2 * place;
}
