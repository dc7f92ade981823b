import { syncBuiltinESMExports } from 'node:module';
import threads, { type WorkerOptions } from 'node:worker_threads';

/** The watch over the event loop loses its patience after WATCH_MS instead of half a minute. */
const limitMs = Number(process.env.WATCH_MS);
const { Worker } = threads;

threads.Worker = class extends Worker {
  constructor(file: string | URL, options: WorkerOptions) {
    super(file, { ...options, workerData: { ...options.workerData, limitMs } });
  }
};
syncBuiltinESMExports();
