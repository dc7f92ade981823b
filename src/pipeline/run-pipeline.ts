import type { Extract } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import type { Emit } from '../lib/events.ts';
import { toProblem } from '../lib/problem.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { Batch } from '../sdk/batch.ts';
import type { AttemptFacts, ConnectorLog } from '../sdk/connector.ts';
import type { TokenSource } from '../sdk/oauth.ts';
import type { PipelineEvents } from './events.ts';
import type { KeptRowsOptions } from './merged-source.ts';
import type { DraftPayload, Payload } from './payload.ts';
import { progressReporter } from './progress.ts';
import type { LoginGuard } from './source.ts';
import { Spool } from './spool.ts';
import { type StreamProgress, streamRows } from './stream-rows.ts';

export interface PipelineOptions {
  readonly extract: Extract;
  /** Folder of the config file, to which paths in options are relative. */
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
  /** False: the payload needn't survive a power loss. */
  readonly durable?: boolean;
  /** Called with every encoded batch. */
  readonly onBatch?: (batch: Batch) => void;
  /** Names of the job and of this run, for events, problems and the scratch folder. */
  readonly job: string;
  readonly run: string;
  /** Watermark of the job's last run; absent to read from the start. */
  readonly watermark?: string;
  /** Attempt facts, if the run may have several attempts. */
  readonly attemptFacts?: AttemptFacts;
  /** For a job with kept rows: the source's rows are merged into them, and the payload contains all rows. */
  readonly keptRows?: KeptRowsOptions;
}

/** The source has no changes since the watermark: there is no result. The watermark may have advanced anyway. */
export interface Unchanged {
  readonly unchanged: true;
  readonly watermark?: string;
}

/**
 * One run from the source to its result: extract, transform, encode, hash and write. Zero rows are a valid result; the
 * caller decides whether it may be sent. On failure, it leaves no file and rejects with a Problem that names the job,
 * or with the signal's reason.
 */
export async function runPipeline(given: PipelineOptions): Promise<DraftPayload | Unchanged> {
  const { extract, clock, emit, job, run } = given;
  const at = clock.now();
  // A report ordered by an earlier attempt contains data from that time.
  const asOf = given.attemptFacts?.since ?? at;
  const began = clock.monotonic();
  let last: Pick<StreamProgress, 'rowsRead' | 'bytes'> = { rowsRead: 0, bytes: 0 };
  const report = progressReporter(given);
  emit('extract.started', { job, run, source: extract.source.name, connector: extract.source.connector.id, at });
  try {
    const onProgress = (carried: StreamProgress, isLast = false) => {
      last = carried;
      report(carried, isLast);
    };
    const result = await encodedResult({ ...given, asOf, onProgress });
    const milliseconds = clock.monotonic() - began;
    if ('unchanged' in result) emit('extract.unchanged', { job, run, milliseconds });
    else emit('extract.finished', { job, run, rows: last.rowsRead, bytes: last.bytes, milliseconds });
    return result;
  } catch (thrown) {
    const problem = toProblem(thrown, stopOrBug(given.signal)).at({ job });
    const { code, family, message } = problem;
    const milliseconds = clock.monotonic() - began;
    emit('extract.failed', { job, run, rows: last.rowsRead, bytes: last.bytes, code, family, message, milliseconds });
    throw given.signal.aborted ? given.signal.reason : problem;
  }
}

async function encodedResult(
  given: PipelineOptions & {
    readonly asOf: number;
    readonly onProgress: (carried: StreamProgress, isLast?: boolean) => void;
  },
): Promise<DraftPayload | Unchanged> {
  const { extract, asOf, onProgress } = given;
  const file = new Spool(given.spool, given);
  try {
    const { columns, rows, rowsRead, ending, manifest } = await streamRows({ ...given, sink: file });
    given.signal.throwIfAborted();
    const watermark = ending?.watermark;
    if (ending?.unchanged === true) {
      await file.discard();
      return { unchanged: true, watermark };
    }
    const whole = { ...(await file.weigh()), rows, format: extract.format.id, asOf };
    onProgress({ columns, rowsRead, rows, bytes: whole.bytes }, true);
    return { ...whole, columns, watermark, manifest, ...endsOf(file, whole, given) };
  } catch (thrown) {
    await file.discard();
    throw thrown;
  }
}

/** The two ways to end a result. */
function endsOf(
  file: Spool,
  whole: Omit<Payload, 'path'>,
  { extract, clock, emit, job, run }: PipelineOptions,
): Pick<DraftPayload, 'seal' | 'discard'> {
  let isSealed = false;
  const seal = async () => {
    const began = clock.monotonic();
    const { path, reused } = await file.seal(extract.format.fileEnding);
    isSealed = true;
    const payload = { ...whole, path };
    emit('payload.spooled', { job, run, payload, reused, milliseconds: clock.monotonic() - began });
    return payload;
  };
  return { seal, discard: async () => (isSealed ? undefined : file.discard()) };
}

function stopOrBug(signal: AbortSignal): { code: string; family: 'job' | 'bug' } {
  return signal.aborted ? { code: 'RUN_STOPPED', family: 'job' } : { code: 'PIPELINE_THREW', family: 'bug' };
}
