import { setTimeout as wait } from 'node:timers/promises';
import PQueue from 'p-queue';
import { rankOfPriority } from '../delivery/importance.ts';
import { RefreshBatcher, type RefreshTicket } from '../delivery/refresh-batcher.ts';
import { Problem } from '../lib/problem.ts';
import type { Firing } from './firing.ts';

/** In the line, a job of the next higher priority goes before one that was due up to this much earlier. */
const headStartMs = 10 * 60_000;

/** A line that never empties keeps a job that may block the process waiting for so long. */
const suspectWaitMs = 10 * 60_000;

/** A firing whose turn has come. */
export interface Place {
  readonly firing: Firing;
  /** Aborted when the daemon stops, and when a newer firing takes the place of this one's run. */
  readonly signal: AbortSignal;
  /** Where refreshes that are due together meet; for a job that pulls nothing. */
  readonly seat?: RefreshTicket;
  /** From now on the job runs: it no longer merely stands in line. */
  begin(): void;
}

export interface LineGiven {
  /** Brings a firing to its end. */
  readonly run: (place: Place) => Promise<void>;
  /** A firing comes to nothing. `isCovered`: one that stands in line or waits is written down, and is to stay so. */
  readonly skip: (firing: Firing, why: { readonly reason: string; readonly isCovered: boolean }) => void;
  /** A firing waits for the end of the run before it. */
  readonly wait: (firing: Firing, reason: string) => void;
  readonly failed: (firing: Firing, error: unknown) => void;
  /** The job may block the process: it runs after all others, and alone of its kind. */
  readonly isSuspect: (job: string) => boolean;
  /** The daemon stops. */
  readonly stop: AbortSignal;
}

interface Standing {
  state: 'in line' | 'running';
  firing: Firing;
  readonly cancel: AbortController;
  readonly waiting: Firing[];
}

/**
 * Firings on their way to becoming runs. Never more than one run of a job at a time; never more extracts than the line is
 * wide. Who stands in line goes in the order of the planned instants, the important somewhat earlier.
 */
export class Line {
  readonly #given: LineGiven;
  readonly #extracts = new PQueue();
  /** Refreshes pull nothing: they stand in no line, and meet at the desk to go out as one. */
  readonly #refreshes = new PQueue();
  /** Jobs that may block the process. */
  readonly #suspects = new PQueue({ concurrency: 1 });
  readonly #desk = new RefreshBatcher();
  readonly #standing = new Map<string, Standing>();

  constructor(given: LineGiven) {
    this.#given = given;
  }

  /** How many extracts run at a time. */
  widen(extracts: number): void {
    this.#extracts.concurrency = extracts;
  }

  /** Takes a firing in; whatever comes of it, its `done` is called once. */
  take(firing: Firing): void {
    const standing = this.#standing.get(firing.job.name);
    if (standing === undefined) this.#enqueue(firing);
    else if (firing.attempt !== undefined) this.#takeAttempt(standing, firing);
    else if (standing.state === 'in line' && standing.firing.attempt !== undefined) this.#replace(standing, firing);
    else if (firing.isCatchUp) this.#wait(standing, firing);
    else this.#meet(standing, firing);
  }

  /** Resolves when nobody stands in line and nothing runs. */
  async idle(): Promise<void> {
    await Promise.all([this.#extracts.onIdle(), this.#refreshes.onIdle(), this.#suspects.onIdle()]);
  }

  /** True if this firing would end the run before it, or an attempt that has not begun. */
  replaces({ job: { name, schedule }, isCatchUp }: Firing): boolean {
    const standing = this.#standing.get(name);
    if (standing?.state === 'in line') return standing.firing.attempt !== undefined;
    return standing !== undefined && schedule?.overlap === 'cancel_other' && !isCatchUp;
  }

  /** True while another firing of the job waits for the end of its run. */
  isAwaited(job: string): boolean {
    return (this.#standing.get(job)?.waiting.length ?? 0) > 0;
  }

  /** Firings that have not begun: how many, and how far the first of them is behind its instant (milliseconds). */
  waiting(now: number): { firings: number; oldest: number } {
    let [firings, first] = [0, now];
    for (const { state, firing, waiting } of this.#standing.values()) {
      const standing = state === 'in line' ? [firing, ...waiting] : waiting;
      const unbegun = standing.filter(({ attempt }) => attempt === undefined);
      firings += unbegun.length;
      for (const { at } of unbegun) first = Math.min(first, at);
    }
    return { firings, oldest: now - first };
  }

  #meet(standing: Standing, firing: Firing): void {
    const { overlap = 'skip' } = firing.job.schedule ?? {};
    if (standing.state === 'in line') this.#skip(firing, 'this job stands in line already', true);
    else if (standing.waiting.length > 0) this.#skip(firing, 'a firing of this job waits already', true);
    else if (overlap === 'skip') this.#skip(firing, 'the last run of this job has not ended', false);
    else this.#wait(standing, firing);
    if (overlap === 'cancel_other' && standing.state === 'running') standing.cancel.abort(cancelled());
  }

  /** The attempt before it may be about to end. */
  #takeAttempt(standing: Standing, firing: Firing): void {
    if (standing.firing.at === firing.at) standing.waiting.push(firing);
    else this.#skip(firing, 'a newer firing takes the place of this attempt', true);
  }

  /** The next firing takes over from an attempt that has not begun, in its place in the line. */
  #replace(standing: Standing, firing: Firing): void {
    const attempt = standing.firing;
    standing.firing = firing;
    this.#skip(attempt, 'a newer firing takes the place of this attempt', true);
  }

  #wait(standing: Standing, firing: Firing): void {
    standing.waiting.push(firing);
    this.#given.wait(firing, 'the last run of this job has not ended');
  }

  #skip(firing: Firing, reason: string, isCovered: boolean): void {
    this.#given.skip(firing, { reason, isCovered });
    firing.done();
  }

  #enqueue(firing: Firing): void {
    const { name, extract, priority } = firing.job;
    const standing: Standing = { state: 'in line', firing, cancel: new AbortController(), waiting: [] };
    this.#standing.set(name, standing);
    const seat = extract === undefined ? this.#desk.join() : undefined;
    const isSuspect = seat === undefined && this.#given.isSuspect(name);
    const queue = seat === undefined ? (isSuspect ? this.#suspects : this.#extracts) : this.#refreshes;
    const run = async () => {
      if (isSuspect) await this.#othersDone();
      await this.#run(standing, seat);
    };
    void queue
      .add(run, {
        priority: rankOfPriority(priority) * headStartMs - (firing.attempt?.next_at ?? firing.at),
      })
      .catch((error: unknown) => this.#given.failed(standing.firing, error));
  }

  /** Resolves when no other extract runs or stands in line, after a while all the same, and when the daemon stops. */
  async #othersDone(): Promise<void> {
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, this.#given.stop]);
    const late = wait(suspectWaitMs, undefined, { ref: false, signal }).catch(() => undefined);
    await Promise.race([this.#extracts.onIdle(), late]);
    done.abort();
  }

  async #run(standing: Standing, seat: RefreshTicket | undefined): Promise<void> {
    const { run, stop } = this.#given;
    const { firing } = standing;
    const begin = (): void => {
      standing.state = 'running';
    };
    try {
      if (stop.aborted) return;
      const signal = AbortSignal.any([stop, standing.cancel.signal]);
      await run({ firing, signal, begin, seat });
    } finally {
      // Before the room is given on: a firing that waited has its place in the line.
      this.#end(firing, standing, seat);
    }
  }

  #end(firing: Firing, { waiting }: Standing, seat: RefreshTicket | undefined): void {
    seat?.cancel();
    this.#standing.delete(firing.job.name);
    const [next, ...rest] = waiting;
    if (next !== undefined && !this.#given.stop.aborted) {
      this.#enqueue(next);
      this.#standing.get(firing.job.name)?.waiting.push(...rest);
    }
    firing.done();
  }
}

function cancelled(): Problem {
  return new Problem({
    code: 'RUN_CANCELLED',
    family: 'job',
    message: 'A newer firing of the job took the place of this run',
    next: 'Where runs should be let end, choose another overlap for the schedule, or a longer time between its firings',
  });
}
