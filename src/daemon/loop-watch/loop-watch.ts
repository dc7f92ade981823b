import { url as inspectedAt } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { diskSteps } from '../../lib/disk-steps.ts';
import type { Events } from '../../lib/events.ts';
import { type BlockedRecord, makeBlockedFolder } from '../../state/runs/blocked-runs.ts';
import type { SluiceEvents } from '../events.ts';

/** The event loop is blocked when nothing has had a turn for so long. */
const limitMs = 30_000;
const ticks = 30;

/** What the worker is given. */
export interface WatchOrder {
  /** Counted up by the main thread whenever its event loop turns. */
  readonly beats: SharedArrayBuffer;
  /** Above zero while the main thread waits for the disk. */
  readonly diskSteps: ArrayBufferLike;
  readonly limitMs: number;
  readonly ticks: number;
  /** Where the record goes; it is there. */
  readonly folder: string;
  /** The descriptor that a line of JSON goes to; absent: a sentence goes to standard error. */
  readonly log?: number;
}

/** The runs that read their sources now. */
export type Reading = BlockedRecord['runs'];

export interface LoopWatchOptions {
  /** The state folder. */
  readonly folder: string;
  readonly events: Events<SluiceEvents>;
  /** Where lines of JSON are logged to; absent: nowhere. */
  readonly log?: number;
}

const ending = import.meta.url.endsWith('.js') ? 'js' : 'ts';

/**
 * Watches the event loop from a thread of its own, which goes on when the main thread does not. When nothing has had a
 * turn for half a minute, the thread writes down which sources were being read and ends the process; `takeBlockedRuns`
 * settles that at the next start. If the main thread waits for the disk, no source is to blame, and the record says so. A machine or process that was stopped stops the thread as well, so its time does not count.
 * A debugger stops the main thread on purpose: then there is no watch.
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

  /** Begins to watch, if it has not: a daemon does so at once, short commands with the first source that they read. */
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
    // Without it all is as it was before there was a watch.
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

/** A run does not read its source any more. */
const endings: ReadonlySet<string> = new Set([
  'extract.finished',
  'extract.unchanged',
  'extract.failed',
  'run.finished',
]);
