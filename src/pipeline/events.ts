import type { Family } from '../lib/problem.ts';
import type { Payload } from './payload.ts';

/** Which firing of which job an event speaks of. */
interface OfRun {
  readonly job: string;
  readonly run: string;
}

/** How far an extract is. */
interface Progress {
  /** Rows read from the source so far. */
  readonly rows: number;
  /** Bytes encoded so far. */
  readonly bytes: number;
}

/** What the pipeline says while it works. Every extract that started ends in `extract.finished`, `extract.unchanged` or
 * `extract.failed`. */
export type PipelineEvents = {
  'extract.started': OfRun & { readonly source: string; readonly connector: string; readonly at: number };
  /** At most four times a second, and once at the end of every extract that succeeds. */
  'extract.progressed': OfRun & Progress;
  /** All rows are read, encoded and hashed. What becomes of the result is decided next. */
  'extract.finished': OfRun & Progress & { readonly milliseconds: number };
  /** The payload is whole on disk, under its final name, synced. `reused`: a file with these bytes was there already. */
  'payload.spooled': OfRun & {
    readonly payload: Payload;
    /** How long that took after the extract. */
    readonly milliseconds: number;
    readonly reused: boolean;
  };
  /** The source says that nothing has changed since the last run: there is no payload. */
  'extract.unchanged': OfRun & { readonly milliseconds: number };
  'extract.failed': OfRun &
    Progress & {
      readonly code: string;
      readonly family: Family;
      readonly message: string;
      readonly milliseconds: number;
    };
};
