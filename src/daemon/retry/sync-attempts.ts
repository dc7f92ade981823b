import type { Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RetryRow } from '../../state/tables.ts';
import type { RunOutcome } from '../run/run-outcome.ts';
import { isRead, PendingAttempts } from './pending-attempts.ts';

/** How a wait ends: the attempt begins with this row, the attempt is no longer allowed, or the process is stopping. */
type WaitEnd = RetryRow | 'over' | 'stopped';

/**
 * Retries the runs of a `sync`. The `sync` process keeps these retries in memory and waits for them itself. Retries
 * that read the same source wait together.
 */
export class SyncAttempts {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #pending = new PendingAttempts();
  readonly #waits = new Map<string, (end: WaitEnd) => void>();
  #nap = new AbortController();

  constructor({ clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }) {
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#stop(), { once: true });
  }

  /** Resolves when the attempt may begin or, with a reason, when no attempt will be made. */
  wait(job: Job, row: RetryRow): Promise<WaitEnd> {
    if (this.#signal.aborted) return Promise.resolve('stopped');
    this.#pending.add({ job, row });
    const { promise, resolve } = Promise.withResolvers<WaitEnd>();
    this.#waits.set(job.name, resolve);
    this.#look();
    return promise;
  }

  /** Records the outcome of one of the job's runs. */
  ended(job: Job, outcome: RunOutcome): void {
    const source = job.extract?.source.name;
    const wasProbe = this.#pending.isProbe(job);
    this.#pending.done(job, this.#clock.now());
    if (source === undefined) return;
    if (isRead(outcome)) this.#pending.release(source);
    if (wasProbe && outcome.retry !== undefined) {
      for (const { row } of this.#pending.postpone(source, outcome.retry).over) this.#end(row.job, 'over');
    }
    this.#look();
  }

  #look(): void {
    this.#nap.abort();
    const now = this.#clock.now();
    for (const { job, at } of [...this.#pending.due(now)]) {
      const taken = at <= now ? this.#pending.take(job) : undefined;
      if (taken !== undefined) this.#end(job, taken.row);
    }
    const next = Math.min(...[...this.#pending.due(now)].map(({ at }) => at));
    if (!Number.isFinite(next) || this.#signal.aborted) return;
    this.#nap = new AbortController();
    this.#clock.sleep(Math.max(1, next - now), this.#nap.signal).then(
      () => this.#look(),
      () => undefined,
    );
  }

  #end(job: string, end: WaitEnd): void {
    this.#waits.get(job)?.(end);
    this.#waits.delete(job);
  }

  #stop(): void {
    this.#nap.abort();
    for (const job of [...this.#waits.keys()]) this.#end(job, 'stopped');
  }
}
