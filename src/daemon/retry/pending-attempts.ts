import type { Job } from '../../config/config.ts';
import type { RetryRow } from '../../state/tables.ts';
import type { RunOutcome } from '../run/run-outcome.ts';

/** The source was read, whatever becomes of the rows. */
const read: ReadonlySet<RunOutcome['state']> = new Set(['owed', 'delivered', 'unchanged', 'superseded', 'quarantined']);

/** Whether a run has read its source. */
export const isRead = ({ state, run }: RunOutcome): boolean =>
  run !== undefined && (read.has(state) || state.startsWith('waiting_'));

/** A run that waits for its next attempt. */
export interface PendingAttempt {
  readonly job: Job;
  readonly row: RetryRow;
}

interface Waiting extends PendingAttempt {
  /** Its source was read: it goes without waiting, and beside others. */
  readonly isReleased: boolean;
}

/**
 * The attempts that wait, in memory. Those of one source wait together: when they are due, one goes as their probe (half-open,
 * as a circuit breaker would), the one with the fewest attempts first, so that a fault of one job alone keeps no other waiting
 * for longer than one wait. If it reads, the rest follows at once.
 */
export class PendingAttempts {
  readonly #waiting = new Map<string, Waiting>();
  /** The job whose attempt is under way, by source. */
  readonly #probes = new Map<string, string>();
  /** When the last probe of a source ended. */
  readonly #freeSince = new Map<string, number>();
  /** Runs that went early because their source was read: a second time they go when they are due. */
  readonly #hurried = new Set<string>();

  /** Waits from now on; one of the same job is replaced. */
  add({ job, row }: PendingAttempt): void {
    this.#waiting.set(job.name, { job, row, isReleased: false });
  }

  /** Whether an attempt of the job waits; one that is under way does not. */
  has(job: string): boolean {
    return this.#waiting.has(job);
  }

  find(job: string): PendingAttempt | undefined {
    return this.#waiting.get(job);
  }

  all(): PendingAttempt[] {
    return [...this.#waiting.values()];
  }

  delete(job: string): void {
    this.#waiting.delete(job);
  }

  /** Attempts that may go when their instants have come, and the instants that are to be looked at. */
  *due(now: number): Generator<{ readonly job: string; readonly at: number }> {
    const bySource = new Map<string, Waiting>();
    for (const one of this.#waiting.values()) {
      const source = sourceOf(one);
      if (one.isReleased) yield { job: one.job.name, at: Math.min(one.row.next_at, now) };
      else if (!this.#probes.has(source) && isBefore(one, bySource.get(source), now)) bySource.set(source, one);
    }
    for (const { job, row } of bySource.values()) yield { job: job.name, at: row.next_at };
  }

  /** The attempt goes now, as the probe of its source unless that has been read. */
  take(job: string): PendingAttempt | undefined {
    const taken = this.#waiting.get(job);
    if (taken === undefined) return undefined;
    this.#waiting.delete(job);
    if (taken.isReleased) return taken;
    const source = sourceOf(taken);
    this.#probes.set(source, job);
    // Jobs that wait together back off together: the probe goes on from the longest wait of them.
    const waits = this.all().flatMap((one) => (sourceOf(one) === source ? [one.row.waits] : []));
    return { ...taken, row: { ...taken.row, waits: Math.max(taken.row.waits, ...waits) } };
  }

  /** Whether the job's attempt is the probe of its source. */
  isProbe({ name, extract }: Job): boolean {
    return this.#probes.get(extract?.source.name ?? '') === name;
  }

  /** The job's attempt is over now, whatever came of it. */
  done({ name, extract }: Job, now: number): void {
    const source = extract?.source.name ?? '';
    if (this.#probes.get(source) !== name) return;
    this.#probes.delete(source);
    this.#freeSince.set(source, now);
  }

  /** Since when nothing but its own instant keeps the job's attempt from going: another one was the probe of its source before. */
  freeSince({ extract }: Job): number {
    return this.#freeSince.get(extract?.source.name ?? '') ?? Number.NEGATIVE_INFINITY;
  }

  /** The source was read: what waits for it goes at once. */
  release(source: string): void {
    for (const [name, one] of this.#waiting) {
      if (sourceOf(one) !== source || this.#hurried.has(one.row.run)) continue;
      this.#hurried.add(one.row.run);
      this.#waiting.set(name, { ...one, isReleased: true });
    }
  }

  /** The run goes on without another attempt, or has ended. */
  forget(run: string): void {
    this.#hurried.delete(run);
  }

  /**
   * The probe of a source failed and is tried again as `row` says: what is due by then waits as long.
   *
   * @returns what waits longer now, and what can't wait that long; the latter waits no more.
   */
  postpone(source: string, { next_at, waits }: RetryRow): { moved: RetryRow[]; over: PendingAttempt[] } {
    const moved: RetryRow[] = [];
    const over: PendingAttempt[] = [];
    for (const [name, one] of this.#waiting) {
      if (sourceOf(one) !== source || one.isReleased || one.row.next_at >= next_at) continue;
      if (next_at >= one.row.until) {
        this.#waiting.delete(name);
        over.push(one);
        continue;
      }
      const row = { ...one.row, next_at, waits: Math.max(waits, one.row.waits) };
      this.#waiting.set(name, { ...one, row });
      moved.push(row);
    }
    return { moved, over };
  }

  /** The wall clock was set: nothing waits longer than the longest wait of its job. */
  clockSet(now: number): void {
    for (const [name, one] of this.#waiting) {
      const latest = now + (one.job.retry?.longestMs ?? 0);
      if (one.row.next_at > latest) this.#waiting.set(name, { ...one, row: { ...one.row, next_at: latest } });
    }
  }
}

const sourceOf = ({ job }: PendingAttempt): string => job.extract?.source.name ?? '';

/** Whether it goes before another of its source: what is due before what is not, then the one with the fewest attempts. */
function isBefore({ row }: Waiting, other: Waiting | undefined, now: number): boolean {
  if (other === undefined) return true;
  const [isDue, isOtherDue] = [row.next_at <= now, other.row.next_at <= now];
  if (isDue !== isOtherDue) return isDue;
  if (isDue && row.attempt !== other.row.attempt) return row.attempt < other.row.attempt;
  return row.next_at < other.row.next_at;
}
