import type { Extract } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { KeptColumn } from '../sdk/column.ts';
import type { AttemptFacts, ConnectorLog } from '../sdk/connector.ts';
import type { Range } from '../sdk/extraction.ts';
import type { LogIn } from '../sdk/log-in.ts';
import type { TokenSource } from '../sdk/oauth.ts';
import type { PreviewLimits } from '../sdk/preview.ts';
import type { JobRowsReader } from './job-rows-reader.ts';

export interface SourceReaderOptions {
  readonly extract: Extract;
  /** The config file's folder, which paths in options are relative to. */
  readonly folder: string;
  /** The run's private folder, created when the connector first uses it. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: ConnectorLog;
  /** Receives the source's warnings. */
  readonly warn: (warning: RunWarning) => void;
  /** Tokens for a source that logs in with OAuth. */
  readonly login?: TokenSource;
  /** Decides whether the source may log in, and records the result. If absent, the source may log in. */
  readonly guard?: LoginGuard;
  /** The run's logical time, epoch milliseconds. Default: now. */
  readonly logicalAt?: number;
  readonly watermark?: string;
  /** The columns of the job's kept rows. */
  readonly keptColumns?: readonly KeptColumn[];
  /** The run's attempt facts, if it may have more than one attempt. */
  readonly attemptFacts?: AttemptFacts;
  readonly isDryRun?: boolean;
  /** A range to read instead of new rows. */
  readonly range?: Range;
  /** Set to read only the first page. */
  readonly preview?: PreviewLimits;
  /** Disk budget for the run's folder. Default: no limit. */
  readonly room?: DiskSpace;
  /** Reads the last rows of other jobs. Absent if the source can't belong to a job. */
  readonly rowsOf?: JobRowsReader;
}

/** A connector's login. */
export interface LogInContext {
  readonly login?: TokenSource;
  readonly logIn?: LogIn;
}

/** Opens a source whose login may be on hold. Throws `LOGIN_ON_HOLD` if it is; records a refusal thrown by `open`. */
export type LoginGuard = <T>(
  given: { readonly signal: AbortSignal; readonly login?: TokenSource | undefined },
  open: (logIn: LogInContext) => Promise<T>,
) => Promise<T>;
