import type { Extract } from '../config/config.ts';
import type { Manifest } from '../kept-rows/manifest.ts';
import type { Clock } from '../lib/clock.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import type { Emit } from '../lib/events.ts';
import { toProblem } from '../lib/problem.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { AttemptFacts, ConnectorLog } from '../sdk/connector.ts';
import type { TokenSource } from '../sdk/oauth.ts';
import type { PipelineEvents } from './events.ts';
import type { KeptRowsOptions } from './merged-source.ts';
import type { Payload } from './payload.ts';
import { progressReporter } from './progress.ts';
import type { LoginGuard } from './source.ts';
import { Spool } from './spool.ts';
import { type StreamProgress, streamRows } from './stream-rows.ts';

export interface PipelineOptions {
  readonly extract: Extract;
  /** Folder of the config file, the base of relative paths in options. */
  readonly folder: string;
  /** Folder for payloads; created if missing. */
  readonly spool: string;
  /** Stops the run: it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly emit: Emit<PipelineEvents>;
  readonly log: ConnectorLog;
  /** Receives warnings of the source. */
  readonly warn: (warning: RunWarning) => void;
  /** Tokens, for a source that logs in by OAuth. */
  readonly login?: TokenSource;
  /** Decides whether the source may log in. Default: it may. */
  readonly guard?: LoginGuard;
  /** Logical time of the run, epoch milliseconds. Default: now. */
  readonly logicalAt?: number;
  /** Disk budget of the folder. Default: no limit. */
  readonly room?: DiskSpace;
  /** False: the payload need not survive a power failure. */
  readonly durable?: boolean;
  /** Called with every batch as it is encoded. */
  readonly onBatch?: (batch: Batch) => void;
  /** Names of the job and of this firing of it, for events, problems and the scratch folder. */
  readonly job: string;
  readonly run: string;
}

export interface ResumeOptions extends PipelineOptions {
  /** Watermark of the last run of the job; absent to read from the start. */
  readonly watermark?: string;
  /** For a run that may have several attempts: what they share. */
  readonly attemptFacts?: AttemptFacts;
  /** For a job that keeps its rows: what the source gives is put to them, and the payload is made of the whole. */
  readonly keptRows?: KeptRowsOptions;
  /**
   * Asked when the whole is encoded and hashed, before it is made safe: true where the instance shows these bytes already
   * and the run has been settled by that. Nothing is kept then.
   */
  readonly isShown?: (whole: DraftPayload) => Promise<boolean>;
}

/** A payload fresh from the pipeline, with the columns that its rows have, and how far the source was read for it. */
export type FreshPayload = Payload & {
  readonly columns: readonly Column[];
  readonly watermark?: string;
  /** The data set that it was made of, on the disk: nothing refers to its files yet. */
  readonly manifest?: Manifest;
};

/** The same before it is safe on the disk. */
export type DraftPayload = Omit<FreshPayload, 'path' | 'manifest'>;

/** What was read is what the instance shows: no payload was kept. */
export interface AlreadyShown {
  readonly shown: StreamProgress;
}

/** Nothing has changed at the source since the watermark: no payload was made. The watermark may have moved all the same. */
export interface Unchanged {
  readonly unchanged: true;
  readonly watermark?: string;
}

/**
 * One run's way from source to payload: extract, transform, encode, hash and write, sync, rename to the hash. Resolves
 * once a crash can no longer lose the payload. Zero rows are a payload like any other; whether it may be sent is for
 * the caller. However it fails, no file is left that could be taken for a payload; it rejects with a Problem that names
 * the job, or with the signal's reason.
 */
export async function runPipeline(given: PipelineOptions): Promise<FreshPayload> {
  // Without a watermark there is nothing that could be unchanged since.
  return (await resumePipeline(given)) as FreshPayload;
}

/** The same from a watermark on; without a payload where nothing has changed. */
export async function resumePipeline(given: ResumeOptions): Promise<FreshPayload | Unchanged | AlreadyShown> {
  const { extract, clock, emit, job, run } = given;
  const at = clock.now();
  // A report that an earlier attempt ordered has the data of then.
  const asOf = given.attemptFacts?.since ?? at;
  const began = clock.monotonic();
  let last: Pick<StreamProgress, 'rowsRead' | 'bytes'> = { rowsRead: 0, bytes: 0 };
  const report = progressReporter(given);
  emit('extract.started', { job, run, source: extract.source.name, connector: extract.source.connector.id, at });
  try {
    const onProgress = (carried: StreamProgress) => {
      last = carried;
      report(carried);
    };
    const spool = await spooled({ ...given, asOf, onProgress });
    if ('unchanged' in spool) {
      emit('extract.unchanged', { job, run, milliseconds: clock.monotonic() - began });
      return spool;
    }
    if ('shown' in spool) {
      report(spool.shown, true);
      const { rowsRead: rows, bytes } = spool.shown;
      emit('payload.shown', { job, run, rows, bytes, milliseconds: clock.monotonic() - began });
      return spool;
    }
    const { payload, rowsRead, reused } = spool;
    report({ columns: payload.columns, rowsRead, rows: payload.rows, bytes: payload.bytes }, true);
    const { columns: _, watermark: __, manifest: ___, ...facts } = payload;
    emit('payload.spooled', { job, run, payload: facts, rowsRead, reused, milliseconds: clock.monotonic() - began });
    return payload;
  } catch (thrown) {
    const problem = toProblem(thrown, stopOrBug(given.signal)).at({ job });
    const { code, family, message } = problem;
    const milliseconds = clock.monotonic() - began;
    emit('extract.failed', { job, run, rows: last.rowsRead, bytes: last.bytes, code, family, message, milliseconds });
    throw given.signal.aborted ? given.signal.reason : problem;
  }
}

interface Spooled {
  readonly payload: FreshPayload;
  readonly rowsRead: number;
  readonly reused: boolean;
}

async function spooled(
  given: ResumeOptions & { readonly asOf: number; readonly onProgress: (carried: StreamProgress) => void },
): Promise<Spooled | Unchanged | AlreadyShown> {
  const { extract, asOf } = given;
  const file = new Spool(given.spool, given);
  try {
    const { columns, rows, rowsRead, ending, manifest } = await streamRows({ ...given, sink: file });
    given.signal.throwIfAborted();
    const watermark = ending?.watermark === undefined ? {} : { watermark: ending.watermark };
    if (ending?.unchanged === true) {
      await file.discard();
      return { unchanged: true, ...watermark };
    }
    const whole = { ...(await file.weigh()), rows, format: extract.format.id, asOf, columns, ...watermark };
    if ((await given.isShown?.(whole)) === true) {
      await file.discard();
      return { shown: { columns, rowsRead, rows, bytes: whole.bytes } };
    }
    const set = manifest === undefined ? {} : { manifest };
    const { reused, ...sealed } = await file.seal(extract.format.fileEnding);
    const payload = { ...whole, ...sealed, ...set };
    return { payload, rowsRead, reused };
  } catch (thrown) {
    await file.discard();
    throw thrown;
  }
}

function stopOrBug(signal: AbortSignal): { code: string; family: 'job' | 'bug' } {
  return signal.aborted ? { code: 'RUN_STOPPED', family: 'job' } : { code: 'PIPELINE_THREW', family: 'bug' };
}
