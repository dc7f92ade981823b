import type { Extract } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import { toProblem } from '../lib/problem.ts';
import type { Column } from '../sdk/column.ts';
import type { ConnectorLog } from '../sdk/connector.ts';
import type { Login } from '../sdk/oauth.ts';
import { type Carried, carry } from './carry.ts';
import type { PipelineEvents } from './events.ts';
import type { Payload } from './payload.ts';
import { progressReporter } from './progress.ts';
import { SpoolFile } from './spool-file.ts';

export interface PipelineGiven {
  readonly extract: Extract;
  /** Folder of the config file: relative paths in options are meant from here. */
  readonly folder: string;
  /** Folder that payloads are kept in; made where it is missing. */
  readonly spool: string;
  /** Stops the run: it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly emit: Emit<PipelineEvents>;
  readonly log: ConnectorLog;
  /** Tokens, for a source that logs in by OAuth. */
  readonly login?: Login;
  /** Names of the job and of this firing of it, for events, problems and the scratch folder. */
  readonly job: string;
  readonly run: string;
}

/** A payload fresh from the pipeline, with the columns that its rows have. */
export type FreshPayload = Payload & { readonly columns: readonly Column[] };

/**
 * One run's way from source to payload: extract, transform, encode, hash and write, sync, rename to the hash. Resolves
 * once a crash can no longer lose the payload. Zero rows are a payload like any other; whether it may be sent is for
 * the caller. However it fails, no file is left that could be taken for a payload; it rejects with a Problem that names
 * the job, or with the signal's reason.
 */
export async function runPipeline(given: PipelineGiven): Promise<FreshPayload> {
  const { extract, clock, emit, job, run } = given;
  const asOf = clock.now();
  const began = clock.monotonic();
  let last: Pick<Carried, 'rowsRead' | 'bytes'> = { rowsRead: 0, bytes: 0 };
  const report = progressReporter(given);
  emit('extract.started', { job, run, source: extract.source.name, connector: extract.source.connector.id, at: asOf });
  try {
    const onProgress = (carried: Carried) => {
      last = carried;
      report(carried);
    };
    const { payload, rowsRead, reused } = await spooled({ ...given, asOf, onProgress });
    report({ columns: payload.columns, rowsRead, rows: payload.rows, bytes: payload.bytes }, true);
    const { columns: _, ...facts } = payload;
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
  given: PipelineGiven & { readonly asOf: number; readonly onProgress: (carried: Carried) => void },
): Promise<Spooled> {
  const { extract, asOf } = given;
  const file = await SpoolFile.open(given.spool);
  try {
    const { columns, rows, rowsRead } = await carry({ ...given, sink: file });
    given.signal.throwIfAborted();
    const { reused, ...sealed } = await file.seal(extract.format.fileEnding);
    return { payload: { ...sealed, rows, format: extract.format.id, asOf, columns }, rowsRead, reused };
  } catch (thrown) {
    await file.discard();
    throw thrown;
  }
}

function stopOrBug(signal: AbortSignal): { code: string; family: 'job' | 'bug' } {
  return signal.aborted ? { code: 'RUN_STOPPED', family: 'job' } : { code: 'PIPELINE_THREW', family: 'bug' };
}
