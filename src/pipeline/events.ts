import type { Family } from '../lib/problem.ts';
import type { Payload } from './payload.ts';

/** The run that an event belongs to. */
interface OfRun {
  readonly job: string;
  readonly run: string;
}

/** Progress of an extract. */
interface Progress {
  /** Number of rows read from the source so far. */
  readonly rows: number;
  /** Number of bytes encoded so far. */
  readonly bytes: number;
}

/**
 * Events of the pipeline. Every extract that started ends with `extract.finished`, `extract.unchanged` or
 * `extract.failed`.
 */
export type PipelineEvents = {
  'extract.started': OfRun & { readonly source: string; readonly connector: string; readonly at: number };
  /** Emitted at most four times per second, and once at the end of every successful extract. */
  'extract.progressed': OfRun & Progress;
  /** All rows have been read, encoded and hashed. The result is settled next. */
  'extract.finished': OfRun & Progress & { readonly milliseconds: number };
  /**
   * The payload is complete and synced on disk under its final name. `reused`: a file with these bytes already existed.
   */
  'payload.spooled': OfRun & {
    readonly payload: Payload;
    /** Time taken to finish the file after the extract, in milliseconds. */
    readonly milliseconds: number;
    readonly reused: boolean;
  };
  /** The source reports no changes since the last run, so there is no payload. */
  'extract.unchanged': OfRun & { readonly milliseconds: number };
  'extract.failed': OfRun &
    Progress & {
      readonly code: string;
      readonly family: Family;
      readonly message: string;
      readonly milliseconds: number;
    };
};
