import type { OAuthDescription } from '../oauth.ts';
import type { OptionSet } from '../option.ts';
import type { RecordInput } from '../records/input.ts';
import type { RecordQuery } from '../records/options.ts';
import type { AnswerPath, ServiceAnswer } from './answer.ts';
import type { Columns } from './column-data.ts';
import type { Paging } from './paging-data.ts';
import type { ValuePath } from './path.ts';
import type { RequestData } from './request-data.ts';
import type { Budget, ErrorRule } from './rules.ts';
import type { Scope, Template } from './template.ts';

/**
 * A third-party service, described as data. Templates may use source and query options by name, `login.token`,
 * `login.kept.NAME` and `login.client_id`, `page.number`, `page.offset`, `page.token`, `window.from`, `window.to`,
 * `since`, `state`, `partition.NAME`, `job.NAME`, `fields`, and dates (`today - 7d`).
 */
export interface ServiceDescription {
  /** The service's name in the config, which is also its file name. */
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** The source's options, in addition to the common ones (`api_url`, `api_version`, `timezone` …). */
  readonly options?: OptionSet;
  /** Base URL; may contain templates (`https://{{ shop }}.example.com/api/{{ api_version }}`). */
  readonly base: Template;
  /** The default of the `api_version` option. If there is no default, the option doesn't exist. */
  readonly version?: string;
  /** One or several logins. The first login whose `when` option is set applies. */
  readonly login: LoginData | readonly LoginData[];
  /** Headers that are sent with every request to the service's own origin. */
  readonly headers?: Readonly<Record<string, Template>>;
  readonly query?: Readonly<Record<string, Template>>;
  /** The streams by name, as used in `query.stream`. The first stream is the default. */
  readonly streams: Readonly<Record<string, StreamData>>;
  /**
   * Rules that classify responses. The first matching rule applies; if none matches, the default rules for the status
   * apply.
   */
  readonly errors?: readonly ErrorRule[];
  readonly budget?: Budget;
  /**
   * A minimal call that verifies the address and the credentials, and a template for its result, such as `logged in as
   * {{ answer.name }}`.
   */
  readonly check: { readonly request: RequestData; readonly message: Template; readonly decode?: Decoding };
  /** For the reference page: see {@link Connector}. */
  readonly limits?: readonly string[];
  readonly example?: string;
}

interface Placed {
  /** Applies only if this option of the source is set. */
  readonly when?: string;
  /**
   * Headers that contain the credentials. If there is a token, the default is `authorization: Bearer {{ login.token
   * }}`.
   */
  readonly headers?: Readonly<Record<string, Template>>;
  /** Query parameters that contain the credentials. */
  readonly query?: Readonly<Record<string, Template>>;
}

/** How requests are authenticated. */
export type LoginData = Placed &
  (
    | { readonly kind: 'none' }
    | { readonly kind: 'oauth'; readonly oauth: OAuthDescription }
    | { readonly kind: 'basic'; readonly user: Template; readonly password: Template }
    /** The login consists only of `headers` or `query`, filled from options. */
    | { readonly kind: 'key' }
    /** A login call returns a session token. If the service refuses the token, a new one is requested. */
    | {
        readonly kind: 'session';
        readonly call: RequestData;
        readonly token: AnswerPath | ((answer: ServiceAnswer) => string | undefined);
        /** The token's location, for messages. Required if `token` is a function. */
        readonly place?: string;
        /** Called when the run ends. */
        readonly logout?: RequestData;
      }
  );

/** One kind of record that a service returns: the request, and how to read the response. */
export interface StreamData {
  /** One sentence for the reference page. */
  readonly about: string;
  /** The `query` options for this stream. `required` applies only to this stream. */
  readonly options?: OptionSet;
  readonly request: RequestData;
  /** The response's format; default: JSON. `raw`: the response is one record, with the text in its `content` field. */
  readonly decode?: Decoding;
  readonly records: RecordsAt;
  /** A path that every response contains. Set it if the vendor omits empty lists; `''` accepts any object. */
  readonly absent?: ValuePath;
  /** Converts a record to zero or more records. Use it for conversions that can't be described as data. */
  readonly each?: (record: Fields, scope: Scope) => Fields | readonly Fields[] | undefined;
  /** Keeps only records with these values at these paths. */
  readonly only?: Readonly<Record<string, unknown>>;
  /**
   * A record's key. Set it if the service may return the same record on several pages, so that duplicates are dropped.
   */
  readonly distinct?: ValuePath;
  /** Fields to exclude if the columns are discovered from the records. */
  readonly drop?: readonly string[];
  readonly columns: Columns;
  /** The key columns, if they differ from `incremental.key`. */
  readonly key?: readonly string[];
  readonly paging?: Paging;
  /** One request is made for each combination of these partitions; the last one changes fastest. */
  readonly partitions?: Readonly<Record<string, Partition>>;
  readonly window?: Window;
  readonly incremental?: Incremental;
  readonly job?: JobData;
  /** Rules that take precedence over the service's rules. */
  readonly errors?: readonly ErrorRule[];
}

/** How to read the body of a response. */
export type Decoding =
  /** A custom function reads the records from the spooled response, chunk by chunk. */
  | { readonly as: 'stream'; readonly read: (input: RecordInput, scope: Scope) => AsyncIterable<Fields> }
  | 'json'
  | 'jsonl'
  | 'xml'
  | 'raw'
  | 'csv'
  /** `drop_nul`: drops NUL characters, which some vendors' files contain although they aren't valid text. */
  | ({ readonly as: 'csv'; readonly drop_nul?: boolean } & Partial<
      Pick<RecordQuery, 'delimiter' | 'quote' | 'encoding' | 'header' | 'null_text' | 'skip_rows'>
    >)
  /**
   * The response is a whole file. The SDK's `fileOptions` become options of the stream, and the columns are discovered.
   */
  | FileDecoding;

/** One record: a JSON object, a CSV row or an XML element. */
export type Fields = Readonly<Record<string, unknown>>;

/** Where the records are in a response. */
export type RecordsAt =
  /** The path of a list. If a response lacks the path, the read fails. `*` goes through lists: `*.results`. */
  | ValuePath
  /** A single record at that path. */
  | { readonly one: ValuePath }
  /** A list of rows, which are also lists. The first row contains the names. */
  | { readonly at: ValuePath; readonly table: 'header_row' }
  /** Records as lists of values, with the names in separate lists. */
  | { readonly at: ValuePath; readonly zip: readonly { readonly names: ValuePath; readonly values: ValuePath }[] }
  | ((answer: ServiceAnswer, scope: Scope) => Iterable<Fields>);

/** A stream's partitions. Each partition is read with its own series of requests. */
export type Partition =
  /** One partition for each item of a list option. Text is split at commas. */
  | { readonly option: string }
  | { readonly values: readonly unknown[] }
  /** One partition for each record of another stream. `partition.NAME.FIELD` is a field of that record. */
  | { readonly stream: string; readonly fields: Readonly<Record<string, ValuePath>>; readonly given?: string }
  /** Each record of one call. */
  | {
      readonly request: RequestData;
      readonly records: RecordsAt;
      readonly absent?: ValuePath;
      readonly fields: Readonly<Record<string, ValuePath>>;
      readonly paging?: Paging;
      /**
       * The name of an option. If the option is set, its items are the values of the first field, and no request is
       * made.
       */
      readonly given?: string;
    };

/** Splits the period from `start_date` to `end_date` into steps. Each step sets `window.from` and `window.to`. */
export interface Window {
  /**
   * The step's length: a duration such as `30d`, or a calendar `week`, `month`, `quarter` or `year`. Default: the whole
   * period.
   */
  readonly step?: string;
  /** The default of `start_date`. If this isn't set, the default is 30 days ago. */
  readonly start?: string;
  /**
   * Whether the service treats the end as inclusive. If so, `window.to` is the last day or instant inside the window;
   * otherwise, it's the first one after the window.
   */
  readonly end?: 'inside' | 'outside';
  /**
   * An incremental run starts this long before the end of the last run's period, because vendors restate recent
   * metrics.
   */
  readonly look_back?: string;
}

/** How to read only the changes since the last run. */
export type Incremental =
  /**
   * Reads the records that have changed since the last run: those from `since` on, which is the last watermark minus
   * `look_back`.
   */
  | {
      /**
       * A column whose values only increase, such as a modification time or a number. May be a template, such as `{{
       * changed_field }}`.
       */
      readonly column: string;
      /** A record's key, which identifies duplicates at the boundary. */
      readonly key?: ValuePath;
      readonly look_back?: string;
      /**
       * Maximum delay until changes become visible, possibly out of order. The watermark always stays at least this far
       * before the start of the run.
       */
      readonly settles?: string;
      /**
       * Maximum number of records that a query returns. If a query returns that many, the service is queried again,
       * starting at the last record.
       */
      readonly cap?: number;
    }
  /**
   * For services that return resume tokens: `state` is the token's location in the last response, and `onward` is the
   * request that sends the token.
   */
  | { readonly state: AnswerPath; readonly onward?: RequestData };

/**
 * An asynchronous report, which is created, polled and then fetched. The stream's own request fetches the report, with
 * the kept values in `job.NAME`.
 */
export interface JobData {
  readonly create: RequestData;
  /** Values to keep from the response, such as `{ id: 'report_run_id' }`. */
  readonly keep: Readonly<Record<string, AnswerPath>>;
  /** The call that starts the report job, if the vendor requires a separate call. */
  readonly start?: RequestData;
  readonly poll: RequestData;
  /** Values to keep from the last poll response, such as the URL of the result. */
  readonly result?: Readonly<Record<string, AnswerPath>>;
  /**
   * The kept value that is needed to fetch the report, such as a file URL. If the value is null, the report has no
   * rows.
   */
  readonly needs?: string;
  readonly state: AnswerPath;
  readonly done: readonly string[];
  readonly failed: readonly string[];
  /** Poll interval; default: 5 seconds. */
  readonly every?: string;
  /** Maximum total wait; default: one hour. */
  readonly patience?: string;
}

/** Responses that are files. */
export interface FileDecoding {
  readonly as: 'file';
  /** The file's name, whose extension determines the format. */
  readonly name: Template;
  /** The file's modification time, if it's known before the file is fetched. An unchanged file isn't fetched again. */
  readonly modified?: Template;
}

/** A stream's file description; undefined if its responses aren't files. */
export function fileDecoding({ decode }: Pick<StreamData, 'decode'>): FileDecoding | undefined {
  return typeof decode === 'object' && decode.as === 'file' ? decode : undefined;
}
