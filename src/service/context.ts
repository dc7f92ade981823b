import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { FaultRules } from './faults/fault-rules.ts';
import type { Limits } from './limits/limits.ts';
import type { PauseGate } from './pause-gate.ts';
import type { RefreshWorker } from './refresh/worker.ts';
import type { Database } from './store/database.ts';
import type { Blobs } from './uploads/blobs.ts';
import type { DailySnapshots } from './usage/daily-snapshots.ts';

/** The parts of a running service, passed to every call. */
export interface ServiceContext {
  readonly db: Database;
  readonly blobs: Blobs;
  readonly limits: Limits;
  readonly refreshes: RefreshWorker;
  readonly snapshots: DailySnapshots;
  readonly clock: Clock;
  readonly log: Log;
  /** The URL that clients use, if it's configured. Without the API's version and a trailing slash. */
  readonly publicUrl: string | undefined;
  /** The origin whose web pages may call the service; `*` for all. */
  readonly corsOrigin: string | undefined;
  readonly uploadLimitBytes: number;
  /** Stall timeout for request bodies: the longest pause between two chunks. */
  readonly bodyIdleMs: number;
  /** Test controls that affect requests; undefined if there is no control interface. */
  readonly testControls: { readonly faults: FaultRules; readonly gate: PauseGate } | undefined;
}
