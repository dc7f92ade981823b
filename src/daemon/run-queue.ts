import { setTimeout as wait } from 'node:timers/promises';
import PQueue from 'p-queue';
import { rankOfPriority } from '../delivery/importance.ts';
import { RefreshBatcher, type RefreshTicket } from '../delivery/refresh-batcher.ts';
import { Problem } from '../lib/problem.ts';
import type { Firing } from './firing.ts';

/** Each priority level moves a queued run ahead by this much. */
const headStartMs = 10 * 60_000;

/** Maximum wait of a job that may block the process if the queue never empties. */
const suspectWaitMs = 10 * 60_000;

/** A firing that leaves the queue. */
export interface QueuedRun {
  readonly firing: Firing;
  /** Aborted when the daemon stops, and when a newer firing replaces this run. */
  readonly signal: AbortSignal;
  /** Batches refreshes that are due together; only for jobs without an extract. */
  readonly ticket?: RefreshTicket;
  /** Marks the run as running; until then, it counts as queued. */
  begin(): void;
}

export interface RunQueueOptions {
  /** Runs a firing to its end. */
  readonly run: (run: QueuedRun) => Promise<void>;
  /** Called if a firing is skipped. `isCovered`: a queued or waiting firing covers it, and its record stays. */
  readonly skip: (firing: Firing, why: { readonly reason: string; readonly isCovered: boolean }) => void;
  /** Called if a firing waits for the end of the previous run. */
  readonly wait: (firing: Firing, reason: string) => void;
  readonly failed: (firing: Firing, error: unknown) => void;
  /** The job may block the process: it runs after all others, one such job at a time. */
  readonly isSuspect: (job: string) => boolean;
  /** Aborted when the daemon stops. */
  readonly stop: AbortSignal;
}

interface QueueEntry {
  state: 'queued' | 'running';
  firing: Firing;
  readonly cancel: AbortController;
  readonly waiting: Firing[];
}

/**
 * Priority queue of runs. At most one run per job at a time, and at most `concurrency` extracts. Runs start in the order
 * of their planned instants; a higher priority moves a run ahead.
 */
export class RunQueue {
  readonly #given: RunQueueOptions;
  readonly #extracts = new PQueue();
  /** Refreshes read nothing, so they don't wait for a place; refreshes of the same time are sent as one batch. */
  readonly #refreshes = new PQueue();
  /** Jobs that may block the process, one at a time. */
  readonly #suspects = new PQueue({ concurrency: 1 });
  readonly #batcher = new RefreshBatcher();
  readonly #entries = new Map<string, QueueEntry>();

  constructor(given: RunQueueOptions) {
    this.#given = given;
  }

  /** Sets the maximum number of concurrent extracts. */
  setConcurrency(extracts: number): void {
    this.#extracts.concurrency = extracts;
  }

  /** Accepts a firing. Its `done` is called exactly once, whatever the outcome. */
  offer(firing: Firing): void {
    const entry = this.#entries.get(firing.job.name);
    if (entry === undefined) this.#enqueue(firing);
    else if (firing.attempt !== undefined) this.#offerAttempt(entry, firing);
    else if (entry.state === 'queued' && entry.firing.attempt !== undefined) this.#replace(entry, firing);
    else if (firing.isCatchUp) this.#wait(entry, firing);
    else this.#resolveOverlap(entry, firing);
  }

  /** Resolves when nothing is queued or running. */
  async idle(): Promise<void> {
    await Promise.all([this.#extracts.onIdle(), this.#refreshes.onIdle(), this.#suspects.onIdle()]);
  }

  /** Whether this firing would cancel the current run, or an attempt that has not started. */
  replaces({ job: { name, schedule }, isCatchUp }: Firing): boolean {
    const entry = this.#entries.get(name);
    if (entry?.state === 'queued') return entry.firing.attempt !== undefined;
    return entry !== undefined && schedule?.overlap === 'cancel_other' && !isCatchUp;
  }

  /** Whether another firing of the job waits for the end of its run. */
  hasWaiting(job: string): boolean {
    return (this.#entries.get(job)?.waiting.length ?? 0) > 0;
  }

  /** Firings that haven't started: their number, and the lateness of the oldest in milliseconds. */
  waiting(now: number): { firings: number; oldest: number } {
    let [firings, first] = [0, now];
    for (const { state, firing, waiting } of this.#entries.values()) {
      const entry = state === 'queued' ? [firing, ...waiting] : waiting;
      const notStarted = entry.filter(({ attempt }) => attempt === undefined);
      firings += notStarted.length;
      for (const { at } of notStarted) first = Math.min(first, at);
    }
    return { firings, oldest: now - first };
  }

  #resolveOverlap(entry: QueueEntry, firing: Firing): void {
    const { overlap = 'skip' } = firing.job.schedule ?? {};
    if (entry.state === 'queued') this.#skip(firing, 'this job is already queued', true);
    else if (entry.waiting.length > 0) this.#skip(firing, 'a firing of this job is already waiting', true);
    else if (overlap === 'skip') this.#skip(firing, 'the previous run of this job is still running', false);
    else this.#wait(entry, firing);
    if (overlap === 'cancel_other' && entry.state === 'running') entry.cancel.abort(cancelled());
  }

  /** The previous attempt may be about to end. */
  #offerAttempt(entry: QueueEntry, firing: Firing): void {
    if (entry.firing.at === firing.at) entry.waiting.push(firing);
    else this.#skip(firing, 'a newer firing replaces this attempt', true);
  }

  /** The next firing replaces a queued attempt, in the same position. */
  #replace(entry: QueueEntry, firing: Firing): void {
    const attempt = entry.firing;
    entry.firing = firing;
    this.#skip(attempt, 'a newer firing replaces this attempt', true);
  }

  #wait(entry: QueueEntry, firing: Firing): void {
    entry.waiting.push(firing);
    this.#given.wait(firing, 'the previous run of this job is still running');
  }

  #skip(firing: Firing, reason: string, isCovered: boolean): void {
    this.#given.skip(firing, { reason, isCovered });
    firing.done();
  }

  #enqueue(firing: Firing): void {
    const { name, extract, priority } = firing.job;
    const entry: QueueEntry = { state: 'queued', firing, cancel: new AbortController(), waiting: [] };
    this.#entries.set(name, entry);
    const ticket = extract === undefined ? this.#batcher.join() : undefined;
    const isSuspect = ticket === undefined && this.#given.isSuspect(name);
    const queue = ticket === undefined ? (isSuspect ? this.#suspects : this.#extracts) : this.#refreshes;
    const run = async () => {
      if (isSuspect) await this.#untilOthersEnd();
      await this.#run(entry, ticket);
    };
    void queue
      .add(run, {
        priority: rankOfPriority(priority) * headStartMs - (firing.attempt?.next_at ?? firing.at),
      })
      .catch((error: unknown) => this.#given.failed(entry.firing, error));
  }

  /** Resolves when no other extract is running or queued, after a timeout, or when the daemon stops. */
  async #untilOthersEnd(): Promise<void> {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, this.#given.stop]);
    const late = wait(suspectWaitMs, undefined, { ref: false, signal }).catch(() => undefined);
    await Promise.race([this.#extracts.onIdle(), late]);
    done.abort();
  }

  async #run(entry: QueueEntry, ticket: RefreshTicket | undefined): Promise<void> {
    const { run, stop } = this.#given;
    const { firing } = entry;
    const begin = (): void => {
      entry.state = 'running';
    };
    try {
      if (stop.aborted) return;
      const signal = AbortSignal.any([stop, entry.cancel.signal]);
      await run({ firing, signal, begin, ticket });
    } finally {
      // Before the place is free: a waiting firing is queued first.
      this.#end(firing, entry, ticket);
    }
  }

  #end(firing: Firing, { waiting }: QueueEntry, ticket: RefreshTicket | undefined): void {
    ticket?.cancel();
    this.#entries.delete(firing.job.name);
    const [next, ...rest] = waiting;
    if (next !== undefined && !this.#given.stop.aborted) {
      this.#enqueue(next);
      this.#entries.get(firing.job.name)?.waiting.push(...rest);
    }
    firing.done();
  }
}

function cancelled(): Problem {
  return new Problem({
    code: 'RUN_CANCELLED',
    family: 'job',
    message: 'Canceled: a newer firing replaced this run',
    next: 'to let runs finish, set another overlap in the schedule, or a longer interval',
  });
}
