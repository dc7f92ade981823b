import { toProblem } from '../lib/problem.ts';
import type { DraftPayload, Payload } from './payload.ts';
import { type ProgressReporterOptions, progressReporter } from './progress.ts';
import { Spool } from './spool.ts';
import { type StreamProgress, type StreamRowsOptions, streamRows } from './stream-rows.ts';

/** `job` and `run`: the names to use in events, problems and the scratch folder. `spool`: the folder for payloads. */
export interface PipelineOptions
  extends Omit<StreamRowsOptions, 'sink' | 'asOf' | 'onProgress'>,
    ProgressReporterOptions {
  /** Whether the payload must survive a power loss. Default: true. */
  readonly durable?: boolean;
}

/** The source has no changes since the watermark, so there is no result. The watermark may still have advanced. */
export interface Unchanged {
  readonly unchanged: true;
  readonly watermark?: string;
}

/**
 * Processes one run from the source to the result: extract, transform, encode, hash and write. Zero rows are a valid
 * result; the caller decides whether to send it. On failure, leaves no file behind and rejects with a Problem that
 * names the job, or with the signal's reason.
 */
export async function runPipeline(given: PipelineOptions): Promise<DraftPayload | Unchanged> {
  const { extract, clock, emit, job, run } = given;
  const at = clock.now();
  // A report that an earlier attempt requested contains data from the time of that attempt.
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

/** Returns the functions that end a result, of which the caller must call one. */
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
