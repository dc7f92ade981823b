import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Faults } from './faults/fault-rules.ts';
import type { Gate } from './pause-gate.ts';
import type { Limits } from './limits/limits.ts';
import type { RefreshWorker } from './refresh/worker.ts';
import type { Database } from './store/database.ts';
import type { Blobs } from './uploads/blobs.ts';
import type { UsageDays } from './usage/daily-snapshots.ts';

/** What a running service is made of; every call gets it. */
export interface Parts {
  readonly db: Database;
  readonly blobs: Blobs;
  readonly limits: Limits;
  readonly refreshes: RefreshWorker;
  readonly days: UsageDays;
  readonly clock: Clock;
  readonly log: Log;
  readonly uploadLimitBytes: number;
  /** Longest silence of a client in the middle of a body. */
  readonly bodyIdleMs: number;
  /** What the control interface may do to requests on their way; there while it is. */
  readonly interference: { readonly faults: Faults; readonly gate: Gate } | undefined;
}
