import type { RunWarning } from '../lib/run-warnings.ts';
import type { Batch } from './batch.ts';
import type { Column } from './column.ts';
import type { OAuthDescription, TokenSource } from './oauth.ts';
import type { OptionSet, OptionValues } from './option.ts';

/** Writes one line to the log. The text is constant, the facts go into fields; both are redacted on the way out. */
export interface ConnectorLog {
  debug(message: string, facts?: object): void;
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
}

/** What every call of a connector gets. */
export interface SourceContext<S extends OptionSet> {
  /** The source's options, checked, defaults filled in. */
  readonly source: OptionValues<S>;
  /** Relative paths in options are meant from here: the folder of the config file. */
  readonly folder: string;
  /** Aborted when the run is stopped: close everything and throw the signal's reason, within a second. */
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  /** There for a source whose connector describes an OAuth login for it, and only then. */
  readonly login?: TokenSource;
  /**
   * To be called around each attempt to log in with credentials of the options, reconnects too, and around each request that carries
   * them (`isRequest`). It lets attempts of one account wait for the first of them, and refuses where an earlier one was refused, so
   * that a wrong password does not lock the account.
   */
  readonly logIn?: LogIn;
}

export interface LogInAttemptOptions {
  /** It only leads to the login that counts, as an SSH tunnel does. */
  readonly isPart?: boolean;
  /**
   * A request that carries the credentials. Only the first one of a run may wait for those of other runs; none waits for long,
   * because an answer may take its time.
   */
  readonly isRequest?: boolean;
}

/**
 * Makes one attempt to log in. It was good if it resolves; a `Problem` that it throws says whether it was refused. Anything else that
 * it throws says nothing about the login.
 */
export type LogIn = <T>(attempt: () => Promise<T>, options?: LogInAttemptOptions) => Promise<T>;

/** Whom a source logs in as, and everything that the login rests on. */
export interface SourceAccount {
  /** The server, as people write it: `db:5432`. */
  readonly place: string;
  readonly user?: string | undefined;
  /** Secrets and options of the login; another value is another login. */
  readonly secret: unknown;
  /** Files with keys and certificates; relative paths are meant from the folder of the config. */
  readonly files?: readonly (string | undefined)[];
}

/** An attempt to log in, by way of the runner where there is one. */
export function logInBy<T>(
  { logIn }: Pick<SourceContext<OptionSet>, 'logIn'>,
  attempt: () => Promise<T>,
  options?: LogInAttemptOptions,
): Promise<T> {
  return logIn === undefined ? attempt() : logIn(attempt, options);
}

/** What an extract gets beyond that. */
export interface ExtractContext<S extends OptionSet, Q extends OptionSet> extends SourceContext<S> {
  /** The job's `query`, checked, defaults filled in. */
  readonly query: OptionValues<Q>;
  /** A private, empty folder for this run; removed when the run ends, however it ends. */
  readonly scratch: string;
  /**
   * Tells the runner that the source is at work though no rows come yet: a page has arrived, and there are more. Without
   * it, a long silence before the first row is taken for a source that hangs.
   */
  readonly alive?: () => void;
  /**
   * Adds a warning to the run: shown by `sync`, kept in the history, part of `explain`. The same warning counts once, and a
   * run keeps the first twenty.
   */
  readonly warn: (warning: RunWarning) => void;
  /** IANA zone for the days of the job, if it sets one. */
  readonly timezone?: string;
  /**
   * Logical time of the run, epoch milliseconds, if it is not the current time: a catch-up run
   * of a missed firing. Relative dates ("today", "the last seven days") are based on it.
   */
  readonly logicalAt?: number;
  /**
   * Where the last run that is safely delivered or safely owed had got to: the very text that its extraction gave as
   * `watermark()`. Absent on the first run, after `sluice state clear`, and for connectors that cannot resume.
   */
  readonly watermark?: string;
  /**
   * Instead of what is new, what lies in a range is wanted, whatever was read before; the extraction then gives no watermark.
   * Only for connectors that say {@link Connector.rangesBy}. Present beside the watermark.
   */
  readonly range?: Range;
  /** What the attempts of the run share. Absent if there is only one. */
  readonly attemptFacts?: AttemptFacts;
}

/**
 * What the attempts of a run share, so that a retry continues with what a vendor already works on instead of ordering it
 * again.
 */
export interface AttemptFacts {
  /**
   * Texts by keys of the connector's choice, such as the id of a report. If an attempt fails with a temporary error, the next
   * one finds the same texts; they are stored encrypted, and deleted with the run. Another login or another config starts
   * without any. The key must say what the text is about: a hash of the request that ordered the report.
   */
  readonly texts: Map<string, string>;
  /**
   * The instant that the data of the run dates from, epoch milliseconds: the start of this attempt or, if it was handed texts,
   * of the attempt that began with them. Use it as the current time if there is no `logicalAt`.
   */
  readonly since: number;
}

/** A stretch of time, or of numbers, as a person wrote it: from the first on, up to but without the second. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** An extract that has begun: its columns are known, its rows come as they are asked for. */
export interface Extraction {
  readonly columns: readonly Column[];
  /**
   * Batches of about a thousand rows, every one with this very `columns` array. Pulling is the back-pressure: nothing
   * is read ahead beyond a small bound. A batch may be changed by its source once the next one is asked for: who keeps
   * something of it, copies it. Leaving the loop early (`return()`) must free connection and files. A failure
   * throws; it never looks like the end.
   */
  readonly batches: AsyncIterable<Batch>;
  /**
   * The column by which it tells what is new, where its rows show it. Of two rows that are the same one at two times, the
   * one with the higher value there is the newer.
   */
  readonly cursor?: string;
  /** Where a range was asked for: which rows lie in it, by a column and canonical texts of its type. */
  readonly covers?: { readonly column: string; readonly from: string; readonly to: string };
  /**
   * How far this extract got, as an exact text of the connector's own making; asked once, after the last batch. Undefined
   * means: leave the watermark where it is.
   */
  readonly watermark?: () => string | undefined;
  /**
   * True when the source says that nothing has changed since the watermark (a 304, an empty list of changes): what the last
   * run delivered still holds, so this one makes no payload and ends as unchanged. Asked once, after the last batch.
   */
  readonly unchanged?: () => boolean;
  /**
   * Why rows are given twice, where they are: jobs that add what comes to what they have cannot be built on that. Asked
   * once, after the last batch.
   */
  readonly comesAgain?: () => RowsAgain | undefined;
}

/**
 * Why rows are given twice. `too_many`: the next run gets rows of this one, because more of them lie at the edge than the
 * watermark can remember. `columns_gone`: this run got rows of the last one, which cannot be told from new ones without the
 * columns that the source no longer gives; none are named where the watermark does not say of which columns it is.
 */
export type RowsAgain =
  | { readonly why: 'too_many' }
  | { readonly why: 'columns_gone'; readonly columns: readonly string[] };

/**
 * The plugin that reads one kind of source. `id` is the file's name and the word in the config. Nothing here may work
 * per row asynchronously; throw {@link Problem}s, so that the runner knows whether to wait, to ask for a login or to give up.
 */
export interface Connector<S extends OptionSet = OptionSet, Q extends OptionSet = OptionSet> {
  readonly id: string;
  readonly title: string;
  /** One sentence: what it reads. */
  readonly summary: string;
  /** Options of the source: where it is and who we are there. */
  readonly source: S;
  /** Options of a job's `query`: what to read. */
  readonly query: Q;
  /** The option of `query` that is meant when a job writes `query: text` instead of a map. */
  readonly shorthand?: keyof Q & string;
  /** How it resumes: one sentence about the watermark. Absent if every run reads everything. */
  readonly resumes?: string;
  /**
   * The option of `query` by which an extract gives only what is new since the last run; undefined where it gives
   * everything. What it gives replaces what the target shows, so the user is told when checking the config.
   */
  givesOnlyNewBy?(query: OptionValues<Q>): string | undefined;
  /**
   * The columns that tell the rows of this query apart, for the advice on `write`. Empty if there are none; undefined if only the
   * user knows.
   */
  rowKey?(query: OptionValues<Q>): readonly string[] | undefined;
  /**
   * What a range of rows is told by, for a query that can read a past range again: `updated_at`, `start_date to end_date`.
   * Undefined where it cannot.
   */
  rangesBy?(query: OptionValues<Q>): string | undefined;
  /**
   * The watermark that a person means who lets a job read on from elsewhere (`sluice state set`): the whole text, or as much
   * of it as tells it beside the former one. Throws a Problem for what is none. Without this any text is taken, and the next
   * run tells whether it can be read.
   */
  readsOnFrom?(text: string, given: { readonly former: string; readonly query: OptionValues<Q> }): string;
  /**
   * The columns are known once an extract is open, and opening it reads no row. `sluice check --connect` then opens the queries of jobs
   * that name columns, and says which of these are not there.
   */
  readonly columnsFirst?: boolean;
  /** For the reference page, as Markdown: which columns there are, or how they come about. */
  readonly columns?: string;
  /** For the reference page, a sentence each: what it cannot do, the vendor's limits, what a user should know beforehand. */
  readonly limits?: readonly string[];
  /** For the reference page, as YAML: `sources` and `jobs` that show it at work. A test loads it as part of a config. */
  readonly example?: string;
  /** Only where the service behind it is gone: since when, why, and what people use instead. Nothing can be read then. */
  readonly retired?: string;
  /** Whom the options log in as: sources of one account are put on hold together when their login is refused. Undefined: no login. */
  account?(source: OptionValues<S>): SourceAccount | undefined;
  /** Every request that carries credentials goes by `logIn`: that a source was opened doesn't show yet that they are good. */
  readonly logsInByRequest?: true;
  /** How this source logs in, where it does so by OAuth; undefined where its options hold credentials of another kind. */
  oauth?(source: OptionValues<S>): OAuthDescription | undefined;
  /** Rules between options that no schema can say. Returns problems of family `config`; touches no network. */
  validate?(given: {
    source: OptionValues<S>;
    query?: OptionValues<Q>;
  }): readonly { option: string; message: string }[];
  /** The smallest real call that proves address and credentials. Resolves to one sentence about what was found. */
  check(context: SourceContext<S>): Promise<string>;
  extract(context: ExtractContext<S, Q>): Promise<Extraction>;
}

/** Declares a connector; the identity function, there to infer the option types. */
export function defineConnector<const S extends OptionSet, const Q extends OptionSet>(
  connector: Connector<S, Q>,
): Connector<S, Q> {
  return connector;
}
