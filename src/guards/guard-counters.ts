import type { Guards, Job } from '../config/config.ts';
import { type Batch, type Cells, cellText, storedRow } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import { NewestTime } from './newest-time.ts';
import { type Repeats, UniqueRows } from './unique-rows.ts';

/** What was counted in a result's rows. */
export interface Counted {
  /** Number of null or empty cells by column, for existing columns that a guard checks. */
  readonly missing: ReadonlyMap<string, number>;
  /** The newest date or time in epoch milliseconds; absent if the column has none. */
  readonly newest?: number;
  /** Rows that repeat an earlier row, if a guard checks that. */
  readonly repeats?: Repeats;
}

/**
 * Counts what a job's guards need in every batch, without retaining rows. Jobs whose guards don't need cells have no
 * counters and thus no overhead.
 */
export class GuardCounters {
  readonly #guards: Guards;
  readonly #newest: NewestTime;
  readonly #unique: UniqueRows | undefined;
  readonly #missing = new Map<string, number>();

  /** `timezone`: the time zone of dates and times that don't name one. `now`: the run's start in epoch milliseconds. */
  constructor(guards: Guards, { timezone, now }: { timezone: string; now: number }) {
    this.#guards = guards;
    this.#newest = new NewestTime({ timezone, now });
    this.#unique = guards.unique === undefined ? undefined : new UniqueRows(guards.unique);
  }

  /** Counters for one run of a job; undefined if its guards need no cells. */
  static of({ guards = {}, extract }: Pick<Job, 'guards' | 'extract'>, now: number): GuardCounters | undefined {
    const { nulls, newest, unique } = guards;
    const isWanted = newest !== undefined || unique !== undefined || (nulls !== undefined && nulls.size > 0);
    return isWanted ? new GuardCounters(guards, { timezone: extract?.timezone ?? 'UTC', now }) : undefined;
  }

  take(batch: Batch): void {
    this.#unique?.take(batch);
    for (const [c, column] of batch.columns.entries()) {
      const cells = batch.cells[c]!;
      if (this.#guards.nulls?.has(column.name)) {
        this.#missing.set(column.name, (this.#missing.get(column.name) ?? 0) + missingIn(batch, cells));
      }
      if (this.#guards.newest?.column === column.name) this.#look(batch, cells, column);
    }
  }

  counted(): Counted {
    const newest = this.#newest.instant();
    const repeats = this.#unique?.repeats();
    return { missing: this.#missing, newest, ...(repeats === undefined ? {} : { repeats }) };
  }

  #look(batch: Batch, cells: Cells, { type }: Column): void {
    for (let i = 0; i < batch.length; i++) {
      const text = cellText(cells, type, storedRow(batch, i));
      if (text !== null) this.#newest.take(text);
    }
  }
}

function missingIn(batch: Batch, cells: Cells): number {
  let missing = 0;
  for (let i = 0; i < batch.length; i++) if (isMissing(cells, storedRow(batch, i))) missing++;
  return missing;
}

function isMissing(cells: Cells, r: number): boolean {
  if (cells.kind === 'values') return (cells.values[r] ?? '') === '';
  const at = 2 * (r * cells.stride + cells.slot);
  const start = cells.spans[at]!;
  return start < 0 || cells.spans[at + 1]! <= start;
}
