import type { RunWarning } from '../lib/run-warnings.ts';
import type { KeptColumn } from './column.ts';
import type { Dataset } from './dataset.ts';
import type { AfterDeliveryResult, DeliveredRead } from './delivered-read.ts';
import type { Extraction, Range } from './extraction.ts';
import type { JobReference, RowsOf } from './job-rows.ts';
import type { LogIn, SourceAccount } from './log-in.ts';
import type { OAuthDescription, TokenSource } from './oauth.ts';
import type { OptionSet, OptionValues } from './option.ts';
import type { PreviewLimits } from './preview.ts';

/** Writes one line to the log: a constant message, with variable values in fields. Both are redacted. */
export interface ConnectorLog {
  debug(message: string, facts?: object): void;
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
}

/** The context that every connector call receives. */
export interface SourceContext<S extends OptionSet> {
  /** The source's options: validated, with defaults filled in. */
  readonly source: OptionValues<S>;
  /** The config file's folder, for relative paths in options. */
  readonly folder: string;
  /** Aborted when the run is stopped: close everything and throw the signal's reason within a second. */
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  /** Present only if the connector describes an OAuth login for the source. */
  readonly login?: TokenSource;
  /**
   * Wrap each login that uses credentials from the options in this function, including reconnects, and each request
   * that contains credentials (`isRequest`). An account's concurrent logins wait for the first one, and are refused if
   * it was, so that a wrong password doesn't lock the account.
   */
  readonly logIn?: LogIn;
}

/** The context of an extract. */
export interface ExtractContext<S extends OptionSet, Q extends OptionSet> extends SourceContext<S> {
  /** The job's `query`: validated, with defaults filled in. */
  readonly query: OptionValues<Q>;
  /** A private, empty folder for this run, created on first use and deleted when the run ends. */
  readonly scratch: string;
  /**
   * Resets the runner's stall timer even if there are no rows yet. Call this after each page, for example; otherwise, a
   * long wait for the first row looks like a stalled source.
   */
  readonly alive?: () => void;
  /**
   * Adds a warning to the run. `sync` and `explain` show it, and the history keeps it. Duplicates count once, and a run
   * keeps the first twenty warnings.
   */
  readonly warn: (warning: RunWarning) => void;
  /** The IANA time zone that defines the job's days, if the job sets one. */
  readonly timezone?: string;
  /**
   * The run's logical time in epoch milliseconds, if it isn't the current time, as in a catch-up run for a missed
   * firing. Relative dates ("today", "the last seven days") are based on it.
   */
  readonly logicalAt?: number;
  /**
   * The watermark of the last run whose payload was delivered or is in the outbox: exactly the string that
   * `watermark()` returned. Absent on the first run, after `sluice state clear`, and for connectors that can't resume.
   */
  readonly watermark?: string;
  /**
   * The columns of the job's kept rows. A connector that finds its columns in the records reads them as if earlier
   * records had these columns: a column that no record has is null, and types fit the earlier values too. Otherwise, the
   * columns would depend on which records happen to be new. Other connectors ignore this, so a lost column is an error.
   */
  readonly keptColumns?: readonly KeptColumn[];
  /**
   * The range to read instead of new rows, regardless of earlier runs; the extraction then returns no watermark. Only
   * for connectors with {@link Connector.rangesBy}. May be set together with the watermark.
   */
  readonly range?: Range;
  /**
   * True for a dry run, which only shows the rows. A connector that repeats its query many times may then do so only a
   * few times, and sets {@link Extraction.isSample}.
   */
  readonly isDryRun?: boolean;
  /**
   * The key columns, if the job deletes the kept rows whose keys the source no longer has. The extraction then has
   * {@link Extraction.readKeys}. Only for queries with {@link Connector.readsKeys}.
   */
  readonly comparedKey?: readonly string[];
  /** Opens the last rows of a job that {@link Connector.readsJobs} returned. Absent if the query doesn't belong to a job. */
  readonly rowsOf?: RowsOf;
  /** Memory shared by the run's attempts. Absent if there is only one attempt. */
  readonly attemptFacts?: AttemptFacts;
  /**
   * Set if a user wants to see what the query returns before its first run. Connectors that read pages then request only
   * the first one, without retries, and use a login at most once.
   */
  readonly preview?: PreviewLimits;
}

/**
 * Data shared by a run's attempts, so that a retry can wait for a report that the vendor is already generating instead
 * of requesting another one.
 */
export interface AttemptFacts {
  /**
   * Strings to remember, such as a report ID, under keys that the connector chooses. After a transient error, the run's
   * next attempt gets the same strings. The strings are stored encrypted and deleted with the run. If the login or the
   * config has changed, the attempt starts without strings. Each key must identify what its string refers to, for
   * example by a hash of the report request.
   */
  readonly texts: Map<string, string>;
  /**
   * The time that the run's data reflects, in epoch milliseconds: the start of this attempt or, if earlier attempts
   * left strings, the start of the attempt that stored the first string. Use this time as the current time if
   * `logicalAt` is absent.
   */
  readonly since: number;
  /**
   * A private folder for files that the next attempt needs. A connector that needs it creates it. It's deleted with the
   * run. The next attempt may run on another machine, without the files, so a file counts only if a string in `texts`
   * says so.
   */
  readonly folder: string;
}

/** The context of a discovery. */
export interface DiscoverContext<S extends OptionSet> extends SourceContext<S> {
  /**
   * If set, only datasets whose name equals or matches this glob are listed. A file's name is its path relative to the
   * source's folder.
   */
  readonly pattern?: string;
  /** A private folder, empty at first and deleted after the discovery. */
  readonly scratch: string;
}

/** What a job reads. */
export interface ReadInput<S extends OptionSet, Q extends OptionSet> {
  readonly source: OptionValues<S>;
  readonly query: OptionValues<Q>;
  /** The absolute folder of the config file. */
  readonly folder: string;
}

/**
 * The plugin for one kind of source. `id` is the connector's file name and its name in the config. Don't make
 * asynchronous calls for each row. Throw {@link Problem}s, so that the runner knows whether to retry, ask for a login
 * or give up.
 */
export interface Connector<S extends OptionSet = OptionSet, Q extends OptionSet = OptionSet> {
  readonly id: string;
  readonly title: string;
  /** One sentence that says what the connector reads. */
  readonly summary: string;
  /** The source's options: address and credentials. */
  readonly source: S;
  /** The options of a job's `query`: what to read. */
  readonly query: Q;
  /** The `query` option that the short form `query: text` sets. */
  readonly shorthand?: keyof Q & string;
  /** How the connector resumes: one sentence about the watermark. Absent if every run reads all rows. */
  readonly resumes?: string;
  /**
   * The `query` option that makes an extract incremental; undefined if every run reads everything. By default, these
   * rows replace all rows of the target, so `sluice check` warns about such jobs.
   */
  givesOnlyNewBy?(query: OptionValues<Q>): string | undefined;
  /**
   * The `query` option that wants something done in the source once the rows have been delivered, such as moving the
   * files that were read. Undefined if the query only reads. What is left to do must be part of the watermark.
   */
  actsAfterDeliveryBy?(query: OptionValues<Q>): string | undefined;
  /**
   * Whether two queries may read the same data, so that one mustn't remove it. `folder` is the config's folder. Required
   * with {@link actsAfterDeliveryBy}.
   */
  mayShareInput?(one: ReadInput<S, Q>, other: ReadInput<S, Q>): boolean;
  /** Whether something is left to do. Doesn't contact the source. */
  isActionDue?(read: DeliveredRead<Q>): boolean;
  /**
   * Does what is left to do. It may have been done before: the process may end before the new watermark is stored. A run
   * of the job may be in progress.
   */
  afterDelivery?(context: SourceContext<S> & DeliveredRead<Q>): Promise<AfterDeliveryResult>;
  /**
   * The columns that identify a row in this query, for advice about `write`. Empty if there are none; undefined if only
   * the user knows them.
   */
  rowKey?(query: OptionValues<Q>): readonly string[] | undefined;
  /**
   * The column or options that define the range if the query can read a past range again, such as `updated_at` or
   * `start_date to end_date`. Undefined if the query can't read past ranges.
   */
  rangesBy?(query: OptionValues<Q>): string | undefined;
  /** Whether the query can list the keys of all rows: {@link Extraction.readKeys}. */
  readsKeys?(query: OptionValues<Q>): boolean;
  /**
   * The other jobs whose last rows this query reads. `sluice check` checks that they exist and have the columns, and
   * their newest payloads are kept. Absent if the connector never reads other jobs' rows.
   */
  readsJobs?(query: OptionValues<Q>): readonly JobReference[];
  /**
   * Parses the string passed to `sluice state set`: a whole watermark, or only the part that differs from the current
   * watermark. Throws a Problem if the string is invalid. Without this function, any string is accepted, and an invalid
   * one makes the next run fail.
   */
  readsOnFrom?(text: string, given: { readonly former: string; readonly query: OptionValues<Q> }): string;
  /**
   * True if opening an extract determines its columns without reading rows. `sluice check --connect` then opens the
   * queries of jobs that refer to columns by name, and reports missing columns.
   */
  readonly columnsFirst?: boolean;
  /** For the reference page, in Markdown: the columns, or how they're determined. */
  readonly columns?: string;
  /** For the reference page: missing features, the vendor's limits and caveats, in one sentence each. */
  readonly limits?: readonly string[];
  /** For the reference page, as YAML: an example with `sources` and `jobs`. A test loads it as part of a config. */
  readonly example?: string;
  /** Only for a discontinued service, which can no longer be read: when and why it ended, and the alternatives. */
  readonly retired?: string;
  /**
   * The account that the options identify. If the account's login is refused, all sources that use the account are put
   * on hold. Undefined if the source has no login.
   */
  account?(source: OptionValues<S>): SourceAccount | undefined;
  /**
   * True if every request with credentials goes through `logIn`, so opening a source doesn't prove that the credentials
   * are valid.
   */
  readonly logsInByRequest?: true;
  /** The source's OAuth login; undefined if its options contain other credentials. */
  oauth?(source: OptionValues<S>): OAuthDescription | undefined;
  /**
   * Checks combinations of options, because a schema can't express these rules. Returns problems of the `config` family
   * and makes no requests.
   */
  validate?(given: {
    source: OptionValues<S>;
    query?: OptionValues<Q>;
  }): readonly { option: string; message: string }[];
  /** A minimal call that verifies the address and credentials. Resolves to one sentence about the result. */
  check(context: SourceContext<S>): Promise<string>;
  /**
   * Lists what can be read from the source, sorted by name. Without this function, users have to look in the vendor's
   * documentation.
   */
  discover?(context: DiscoverContext<S>): Promise<readonly Dataset[]>;
  extract(context: ExtractContext<S, Q>): Promise<Extraction>;
}

/** Declares a connector. An identity function that infers the option types. */
export function defineConnector<const S extends OptionSet, const Q extends OptionSet>(
  connector: Connector<S, Q>,
): Connector<S, Q> {
  return connector;
}
