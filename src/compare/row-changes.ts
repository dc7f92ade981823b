import type { Row } from '../formats/payload-table.ts';
import type { RowKey, Side, SortedRow } from './sorted-rows.ts';

/** Maximum number of sample rows to keep for each kind of change. */
const maxSamples = 5;

/** All rows with the same key: the number of rows in each table, and one sample row from each table. */
export interface RowGroup {
  readonly counts: Readonly<Record<Side, number>>;
  readonly rows: Readonly<Partial<Record<Side, SortedRow>>>;
}

/** Column names of the cells in a row, for each table. */
export type CellNames = Readonly<Record<Side, readonly string[]>>;

/**
 * Counts added, removed and changed rows in a single streaming pass. Keeps the first few rows of each kind as samples.
 */
export class RowChanges {
  readonly key: RowKey;
  readonly #names: CellNames;
  /** For each common column, the number of rows in which the column's cells differ. */
  readonly changedCells: number[];
  readonly samples: Readonly<Record<'added' | 'removed', Row[]>> & { readonly changed: { last: Row; now: Row }[] } = {
    added: [],
    removed: [],
    changed: [],
  };
  added = 0;
  removed = 0;
  changed = 0;

  constructor(key: RowKey, names: CellNames) {
    this.key = key;
    this.#names = names;
    this.changedCells = Array.from({ length: key.width }, () => 0);
  }

  /**
   * Total number of different cells, including all cells of added and removed rows. A better key results in a lower
   * number.
   */
  get differentCells(): number {
    return this.changedCells.reduce((all, cells) => all + cells, (this.added + this.removed) * this.key.width);
  }

  /** Returns false if the key isn't unique. The counts are then invalid. */
  add(group: RowGroup): boolean {
    const { last, now } = group.counts;
    if (this.key.at.length > 0 && (last > 1 || now > 1)) return false;
    const same = Math.min(last, now);
    this.#note('removed', { group, side: 'last', count: last - same });
    this.#note('added', { group, side: 'now', count: now - same });
    if (same > 0 && this.key.at.length > 0) this.#compare(group.rows.last!, group.rows.now!);
    return true;
  }

  #note(
    kind: 'added' | 'removed',
    { group, side, count }: { readonly group: RowGroup; readonly side: Side; readonly count: number },
  ): void {
    this[kind] += count;
    const samples = this.samples[kind];
    for (let i = 0; i < count && samples.length < maxSamples; i++) samples.push(this.#texts(group.rows[side]!, side));
  }

  #compare(last: SortedRow, now: SortedRow): void {
    if (last.hasCellsOf(now)) return;
    const [former, latter] = [last.texts(this.key.width), now.texts(this.key.width)];
    const places = former.flatMap((text, c) => (text === latter[c] ? [] : [c]));
    if (places.length === 0) return;
    for (const c of places) this.changedCells[c]! += 1;
    this.changed += 1;
    if (this.samples.changed.length >= maxSamples) return;
    this.samples.changed.push({ last: this.#texts(last, 'last'), now: this.#texts(now, 'now') });
  }

  #texts(row: SortedRow, side: Side): Row {
    return row.texts(this.#names[side].length);
  }
}
