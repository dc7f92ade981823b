import { compareKeys, compareVersions, sizeAt } from './record.ts';
import type { RecordSource } from './record-source.ts';
import type { SegmentWriter } from './segment-writer.ts';

/**
 * K-way merge of sorted sources. Returns one record per key: the one with the highest version or, among equal versions,
 * the one from the highest-ranked source. Synchronous while records are in memory, because awaiting a million promises
 * would take longer than merging a million rows.
 */
export class Merge {
  /** A heap with the lowest key's source first. */
  readonly #heap: RecordSource[] = [];
  readonly #all: readonly RecordSource[];
  #started = false;
  /** The source of the last record returned, or of the best candidate while another source is being read. */
  #best: RecordSource | undefined;
  #isHandedOut = false;
  /** The source that has no records in memory and must be read before the merge can continue. */
  #waiting: RecordSource | undefined;

  constructor(sources: readonly RecordSource[]) {
    this.#all = sources;
  }

  /** The source positioned on the next record, valid until the next call. `wait`: await {@link fill} first. */
  next(): RecordSource | 'wait' | 'end' {
    if (!this.#started || this.#waiting !== undefined) return 'wait';
    if (this.#isHandedOut && this.#best !== undefined) {
      const last = this.#best;
      this.#best = undefined;
      if (!this.#advance(last)) return 'wait';
    }
    this.#isHandedOut = false;
    this.#best ??= this.#pop();
    if (this.#best === undefined) return 'end';
    for (let other = this.#heap[0]; other !== undefined; other = this.#heap[0]) {
      if (compare(this.#best, other) !== 0) break;
      this.#pop();
      const loser: RecordSource = wins(other, this.#best) ? this.#best : other;
      if (loser === this.#best) this.#best = other;
      if (!this.#advance(loser)) return 'wait';
    }
    this.#isHandedOut = true;
    return this.#best;
  }

  async fill(): Promise<void> {
    if (!this.#started) {
      this.#started = true;
      for (const source of this.#all) if (await source.fill()) this.#push(source);
      return;
    }
    const source = this.#waiting;
    if (source !== undefined && (await source.fill())) this.#push(source);
    this.#waiting = undefined;
  }

  /** Writes all remaining records. */
  async copyTo(writer: SegmentWriter): Promise<void> {
    for (;;) {
      const source = this.next();
      if (source === 'end') return;
      if (source === 'wait') {
        await this.fill();
        continue;
      }
      const full = writer.write(source.buffer, source.start, sizeAt(source.buffer, source.start));
      if (full !== undefined) await full;
    }
  }

  async close(): Promise<void> {
    for (const source of this.#all) await source.close();
  }

  /** Advances a source. Returns false if the source must be filled first. */
  #advance(source: RecordSource): boolean {
    if (source.next()) this.#push(source);
    else this.#waiting = source;
    return this.#waiting === undefined;
  }

  #push(source: RecordSource): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(source);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (compare(heap[above]!, source) <= 0) break;
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = source;
  }

  #pop(): RecordSource | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && compare(heap[below + 1]!, heap[below]!) < 0) below += 1;
      if (compare(last, heap[below]!) <= 0) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}

/** Compares the cached prefixes first, because most keys differ in their first bytes. */
function compare(a: RecordSource, b: RecordSource): number {
  return a.prefix - b.prefix || compareKeys(a, b);
}

function wins(a: RecordSource, b: RecordSource): boolean {
  const order = compareVersions(a, b);
  return order === 0 ? a.rank > b.rank : order > 0;
}
