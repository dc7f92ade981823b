import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { rankOfPriority } from '../../delivery/importance.ts';
import { RefreshBatcher, type RefreshTicket } from '../../delivery/refresh-batcher.ts';
import { Problem } from '../../lib/problem.ts';
import type { Firing } from './firing.ts';

/** The head start that each priority level gives to a queued run. */
const headStartMs = 10 * 60_000;

/** Maximum time that a job that may block the process waits, even if the queue never becomes empty. */
const suspectWaitMs = 10 * 60_000;

/** A firing that is leaving the run queue. */
export interface QueuedRun {
  readonly firing: Firing;
  /** Aborted when the daemon stops or a newer firing replaces this run. */
  readonly signal: AbortSignal;
  /** Batches refreshes that are due at the same time. Present only for jobs without an extract. */
  readonly ticket?: RefreshTicket;
  /** Marks the run as running. Until this is called, the run counts as queued. */
  begin(): void;
  /** Must be called when the run has ended. Queues the firing that was waiting for this run. */
  end(): void;
}

export type OfferResult =
  /** `replaced` is the firing of the retry whose position in the queue this firing takes. */
  | { readonly state: 'queued'; readonly replaced?: Firing }
  /** The firing is waiting for the previous run to end. */
  | { readonly state: 'waiting'; readonly reason: string }
  | { readonly state: 'skipped'; readonly reason: string };

export interface RunQueueOptions {
  /** Runs a firing until its run ends. Must not throw. */
  readonly run: (run: QueuedRun) => Promise<void>;
  /** Jobs that may block the process. They run after all other jobs, one at a time. */
  readonly suspects: ReadonlySet<string>;
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
 * Priority queue of runs. Each job has at most one run at a time, and at most `concurrency` extracts run at once. Runs
 * start in order of planned time, except that a higher priority moves a run ahead.
 */
export class RunQueue {
  readonly #given: RunQueueOptions;
  readonly #extracts = new PQueue();
  /**
   * Refreshes don't read rows, so they don't wait for a slot. Refreshes that are due at the same time are sent as one
   * batch.
   */
  readonly #refreshes = new PQueue();
  /** Runs jobs that may block the process, one at a time. */
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

  /**
   * Queues a firing, makes it wait, or skips it. `isAgain` is true if the firing was offered once before and has been
   * waiting since.
   */
  offer(firing: Firing, isAgain = false): OfferResult {
    const entry = this.#entries.get(firing.job.name);
    if (entry === undefined) return this.#enqueue(firing);
    if (firing.attempt !== undefined) return offerAttempt(entry, firing);
    if (entry.state === 'queued' && entry.firing.attempt !== undefined) return replace(entry, firing);
    return firing.isCatchUp || (isAgain && isOwnRun(entry, firing))
      ? wait(entry, firing)
      : resolveOverlap(entry, firing);
  }

  /** Resolves when no run is queued or in progress. */
  async idle(): Promise<void> {
    await Promise.all([this.#extracts.onIdle(), this.#refreshes.onIdle(), this.#suspects.onIdle()]);
  }

  /** Returns the number of firings that haven't started, and how overdue the oldest one is, in milliseconds. */
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

  #enqueue(firing: Firing): OfferResult {
    const { name, extract } = firing.job;
    const entry: QueueEntry = { state: 'queued', firing, cancel: new AbortController(), waiting: [] };
    this.#entries.set(name, entry);
    const ticket = extract === undefined ? this.#batcher.join() : undefined;
    const isSuspect = ticket === undefined && this.#given.suspects.has(name);
    const queue = ticket === undefined ? (isSuspect ? this.#suspects : this.#extracts) : this.#refreshes;
    const run = async () => {
      if (isSuspect) await this.#untilOthersEnd();
      await this.#run(entry, ticket);
    };
    void queue.add(run, { priority: urgencyOf(firing) });
    return { state: 'queued' };
  }

  /**
   * Resolves when no other extract is running or queued, when the maximum waiting time is over, or when the daemon
   * stops.
   */
  async #untilOthersEnd(): Promise<void> {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, this.#given.stop]);
    const late = sleep(suspectWaitMs, undefined, { ref: false, signal }).catch(() => undefined);
    await Promise.race([this.#extracts.onIdle(), late]);
    done.abort();
  }

  async #run(entry: QueueEntry, ticket: RefreshTicket | undefined): Promise<void> {
    const { run, stop } = this.#given;
    if (stop.aborted) return this.#end(entry, ticket);
    await run({
      firing: entry.firing,
      signal: AbortSignal.any([stop, entry.cancel.signal]),
      ticket,
      begin: () => {
        entry.state = 'running';
      },
      // This runs before the slot is released, so that a waiting firing is queued first.
      end: () => this.#end(entry, ticket),
    });
  }

  #end({ firing, waiting }: QueueEntry, ticket: RefreshTicket | undefined): void {
    ticket?.cancel();
    this.#entries.delete(firing.job.name);
    const [next, ...rest] = waiting;
    if (next === undefined || this.#given.stop.aborted) return;
    this.#enqueue(next);
    this.#entries.get(firing.job.name)?.waiting.push(...rest);
  }
}

/** Runs with a higher urgency start first. */
export function urgencyOf({ job: { priority }, attempt, at }: Firing): number {
  return rankOfPriority(priority) * headStartMs - (attempt?.next_at ?? at);
}

const replacesAttempt = 'a newer firing replaces this attempt';
const isStillRunning = 'the previous run of this job is still running';

function resolveOverlap(entry: QueueEntry, firing: Firing): OfferResult {
  const { overlap = 'skip' } = firing.job.schedule ?? {};
  if (entry.state === 'queued') return { state: 'skipped', reason: 'this job is already queued' };
  if (overlap === 'cancel_other') entry.cancel.abort(cancelled());
  if (entry.waiting.length > 0) {
    return { state: 'skipped', reason: 'a firing of this job is already waiting' };
  }
  if (overlap === 'skip') return { state: 'skipped', reason: isStillRunning };
  return wait(entry, firing);
}

/** The run that had to be given up when the firing began to wait may be just about to end. */
const isOwnRun = (entry: QueueEntry, { at }: Firing): boolean => entry.state === 'running' && entry.firing.at === at;

/** The previous attempt may be just about to end. */
function offerAttempt(entry: QueueEntry, firing: Firing): OfferResult {
  if (entry.firing.at !== firing.at) return { state: 'skipped', reason: replacesAttempt };
  entry.waiting.push(firing);
  return { state: 'queued' };
}

/** The job's next firing replaces a queued attempt and takes the attempt's position. */
function replace(entry: QueueEntry, firing: Firing): OfferResult {
  const replaced = entry.firing;
  entry.firing = firing;
  return { state: 'queued', replaced };
}

function wait(entry: QueueEntry, firing: Firing): OfferResult {
  entry.waiting.push(firing);
  return { state: 'waiting', reason: isStillRunning };
}

/** Why a run ends if a newer firing replaces it. */
export function cancelled(): Problem {
  return new Problem({
    code: 'RUN_CANCELLED',
    family: 'job',
    message: 'Canceled: a newer firing replaced this run',
    next: 'to let runs finish, set another overlap policy or a longer interval in the schedule',
  });
}
