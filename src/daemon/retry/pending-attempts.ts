import type { Job } from '../../config/config.ts';
import type { RetryRow } from '../../state/tables.ts';
import type { RunOutcome } from '../run/run-outcome.ts';

/** Run states which mean that the source was read, whether or not the rows were delivered. */
const read: ReadonlySet<RunOutcome['state']> = new Set([
  'owed',
  'delivered',
  'unchanged',
  'superseded',
  'quarantined',
  'dead',
]);

/** Whether a run has read its source. */
export const isRead = ({ state, run }: RunOutcome): boolean =>
  run !== undefined && (read.has(state) || state.startsWith('waiting_'));

/** A run that waits for a retry. */
export interface PendingAttempt {
  readonly job: Job;
  readonly row: RetryRow;
}

interface Waiting extends PendingAttempt {
  /**
   * The source has been read since this attempt was planned, so the attempt runs without waiting, in parallel with
   * others.
   */
  readonly isReleased: boolean;
}

/**
 * Waiting retries, in memory. Retries that read the same source share a half-open circuit breaker: of the retries that
 * are due, the one with the fewest attempts runs first, as a probe. An error that affects only one job therefore delays
 * the other jobs by at most one wait. If the probe can read the source, all other retries start immediately.
 */
export class PendingAttempts {
  readonly #waiting = new Map<string, Waiting>();
  /** The job that is probing each source. */
  readonly #probes = new Map<string, string>();
  /** When each source's last probe ended. */
  readonly #freeSince = new Map<string, number>();
  /**
   * Runs that were already released early once because their source had been read. The next time, these runs wait until
   * they're due.
   */
  readonly #hurried = new Set<string>();

  /** Adds a waiting retry. If the job already has one, the new retry replaces it. */
  add({ job, row }: PendingAttempt): void {
    this.#waiting.set(job.name, { job, row, isReleased: false });
  }

  /** Whether the job has a waiting retry. A retry in progress doesn't count. */
  has(job: string): boolean {
    return this.#waiting.has(job);
  }

  find(job: string): PendingAttempt | undefined {
    return this.#waiting.get(job);
  }

  isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  all(): PendingAttempt[] {
    return [...this.#waiting.values()];
  }

  delete(job: string): void {
    this.#waiting.delete(job);
  }

  /** The retries that may run when due, with their due times. */
  *due(now: number): Generator<{ readonly job: string; readonly at: number }> {
    const bySource = new Map<string, Waiting>();
    for (const one of this.#waiting.values()) {
      const source = sourceOf(one);
      if (one.isReleased) yield { job: one.job.name, at: Math.min(one.row.next_at, now) };
      else if (!this.#probes.has(source) && isBefore(one, bySource.get(source), now)) bySource.set(source, one);
    }
    for (const { job, row } of bySource.values()) yield { job: job.name, at: row.next_at };
  }

  /** Takes the job's retry. The retry becomes its source's probe unless the source has been read. */
  take(job: string): PendingAttempt | undefined {
    const taken = this.#waiting.get(job);
    if (taken === undefined) return undefined;
    this.#waiting.delete(job);
    if (taken.isReleased) return taken;
    const source = sourceOf(taken);
    this.#probes.set(source, job);
    // Jobs that wait for the same source also back off together, so the probe adopts the largest number of waits.
    const waits = this.all().flatMap((one) => (sourceOf(one) === source ? [one.row.waits] : []));
    return { ...taken, row: { ...taken.row, waits: Math.max(taken.row.waits, ...waits) } };
  }

  /** Whether the job's retry is its source's probe. */
  isProbe({ name, extract }: Job): boolean {
    return this.#probes.get(extract?.source.name ?? '') === name;
  }

  /** Call this when the job's retry is over, regardless of its result. */
  done({ name, extract }: Job, now: number): void {
    const source = extract?.source.name ?? '';
    if (this.#probes.get(source) !== name) return;
    this.#probes.delete(source);
    this.#freeSince.set(source, now);
  }

  /**
   * When other probes of the job's source stopped holding back the job's retry. From that time on, the retry has waited
   * only until its own due time.
   */
  freeSince({ extract }: Job): number {
    return this.#freeSince.get(extract?.source.name ?? '') ?? Number.NEGATIVE_INFINITY;
  }

  /** Call this when the source was read: every retry that waits for the source runs immediately. */
  release(source: string): void {
    for (const [name, one] of this.#waiting) {
      if (sourceOf(one) !== source || this.#hurried.has(one.row.run)) continue;
      this.#hurried.add(one.row.run);
      this.#waiting.set(name, { ...one, isReleased: true });
    }
  }

  /** Call this when the run has ended or continues without retries. */
  forget(run: string): void {
    this.#hurried.delete(run);
  }

  /**
   * Call this when a source's probe failed and its retry is planned as in `row`. Retries of the source that are due
   * earlier are postponed to the same time.
   *
   * @returns `moved`: the rows of postponed retries; `over`: the retries that can't wait that long, which were removed
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

  /** Call this when the wall clock was set: no job then waits longer than its longest configured wait. */
  clockSet(now: number): void {
    for (const [name, one] of this.#waiting) {
      const latest = now + (one.job.retry?.longestMs ?? 0);
      if (one.row.next_at > latest) this.#waiting.set(name, { ...one, row: { ...one.row, next_at: latest } });
    }
  }
}

const sourceOf = ({ job }: PendingAttempt): string => job.extract?.source.name ?? '';

/** Orders retries of one source: those that are due come first, then those with the fewest attempts. */
function isBefore({ row }: Waiting, other: Waiting | undefined, now: number): boolean {
  if (other === undefined) return true;
  const [isDue, isOtherDue] = [row.next_at <= now, other.row.next_at <= now];
  if (isDue !== isOtherDue) return isDue;
  if (isDue && row.attempt !== other.row.attempt) return row.attempt < other.row.attempt;
  return row.next_at < other.row.next_at;
}
