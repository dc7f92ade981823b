import { syncBuiltinESMExports } from 'node:module';
import threads, { type WorkerOptions } from 'node:worker_threads';

/** The watchdog of the event loop waits WATCH_MS instead of 30 seconds. */
const limitMs = Number(process.env.WATCH_MS);
const { Worker } = threads;

threads.Worker = class extends Worker {
  constructor(file: string | URL, options: WorkerOptions) {
    super(file, { ...options, workerData: { ...options.workerData, limitMs } });
  }
};
syncBuiltinESMExports();
