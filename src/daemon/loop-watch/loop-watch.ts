import { url as inspectedAt } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { diskSteps } from '../../lib/disk-steps.ts';
import type { Events } from '../../lib/events.ts';
import { type BlockedRecord, makeBlockedFolder } from '../../state/runs/blocked-runs.ts';
import type { SluiceEvents } from '../events.ts';

/** Time without a tick after which the event loop counts as blocked. */
const limitMs = 30_000;
const ticks = 30;

/** The worker's data. */
export interface WatchOrder {
  /** The main thread increments this counter on each event-loop tick. */
  readonly beats: SharedArrayBuffer;
  /** Greater than zero while the main thread is waiting for the disk. */
  readonly diskSteps: ArrayBufferLike;
  readonly limitMs: number;
  readonly ticks: number;
  /** The folder that the record is written to. It must exist. */
  readonly folder: string;
  /** File descriptor for JSON log lines. If absent, the watchdog writes a sentence to standard error instead. */
  readonly log?: number;
}

/** The runs that are currently reading their sources. */
export type Reading = BlockedRecord['runs'];

export interface LoopWatchOptions {
  /** The state folder. */
  readonly folder: string;
  readonly events: Events<SluiceEvents>;
  /** File descriptor for JSON log lines. If absent, no log lines are written. */
  readonly log?: number;
}

const ending = import.meta.url.endsWith('.js') ? 'js' : 'ts';

/**
 * A watchdog thread for the event loop. If the loop doesn't tick for half a minute, the thread records which sources
 * were being read and kills the process. `takeBlockedRuns` evaluates the record at the next start. If the main thread
 * was waiting for the disk, the record doesn't blame any source. The time during which the machine or process is
 * suspended doesn't count, because the thread is suspended too. Neither does the time during which the main thread
 * waits for a CPU: a busy machine isn't a source that blocks. A debugger pauses the main thread on purpose, so the
 * watchdog doesn't run while a debugger is attached.
 */
export class LoopWatch {
  readonly #options: LoopWatchOptions;
  readonly #reading = new Map<string, Reading[number]>();
  readonly #stopListening: () => void;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LoopWatchOptions) {
    this.#options = options;
    this.#stopListening = options.events.listen((name, facts) => {
      if (name === 'extract.started') this.#begin(facts);
      else if (endings.has(name)) this.#end((facts as { readonly run: string }).run);
    });
  }

  /**
   * Starts the watchdog if it isn't running. A daemon does this immediately; a short-lived command does it before
   * reading its first source.
   */
  start(): void {
    if (this.#worker !== undefined || inspectedAt() !== undefined) return;
    const { folder, log } = this.#options;
    const beats = new SharedArrayBuffer(4);
    const count = new Int32Array(beats);
    this.#timer = setInterval(() => Atomics.add(count, 0, 1), limitMs / ticks).unref();
    const order: WatchOrder = {
      beats,
      diskSteps,
      limitMs,
      ticks,
      folder: makeBlockedFolder(folder),
      log,
    };
    this.#worker = new Worker(new URL(`./watch-worker.${ending}`, import.meta.url), { workerData: order });
    // If the worker thread fails, the process continues without a watchdog.
    this.#worker.on('error', () => this.close());
    this.#worker.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#stopListening();
    void this.#worker?.terminate();
  }

  #begin(facts: Reading[number]): void {
    this.start();
    const { job, run, source } = facts;
    this.#reading.set(run, { job, run, source });
    this.#tell();
  }

  #end(run: string): void {
    if (this.#reading.delete(run)) this.#tell();
  }

  #tell(): void {
    this.#worker?.postMessage([...this.#reading.values()]);
  }
}

/** Events after which a run no longer reads its source. */
const endings: ReadonlySet<string> = new Set([
  'extract.finished',
  'extract.unchanged',
  'extract.failed',
  'run.finished',
]);
