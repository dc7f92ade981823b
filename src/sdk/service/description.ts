import type { ColumnType } from '../column.ts';
import type { OAuthDescription } from '../oauth.ts';
import type { OptionSet } from '../option.ts';
import type { RecordInput } from '../records/input.ts';
import type { RecordQuery } from '../records/options.ts';
import type { AnswerPath, ServiceAnswer } from './answer.ts';
import type { DateFormat } from './moment.ts';
import type { Paging } from './paging-data.ts';
import type { ValuePath } from './path.ts';
import type { RequestData } from './request-data.ts';
import type { Budget, ErrorRule } from './rules.ts';
import type { Scope, Template } from './template.ts';

/**
 * A third-party service, described as data. Templates may use: the options of the source and of the query by name,
 * `login.token`, `login.kept.NAME` and `login.client_id`, `page.number`, `page.offset`, `page.token`, `window.from`,
 * `window.to`, `since`, `state`, `partition.NAME`, `job.NAME`, `fields`, and dates (`today - 7d`).
 */
export interface ServiceDescription {
  /** The name in the config and of the file. */
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** Options of the source, besides the common ones (`api_url`, `api_version`, `timezone` …). */
  readonly options?: OptionSet;
  /** Base URL; may contain templates (`https://{{ shop }}.example.com/api/{{ api_version }}`). */
  readonly base: Template;
  /** The default of the option `api_version`, which only exists if this is set. */
  readonly version?: string;
  /** One login, or several: the first one whose option `when` is set applies. */
  readonly login: LoginData | readonly LoginData[];
  /** Sent with every request to the service's own origin. */
  readonly headers?: Readonly<Record<string, Template>>;
  readonly query?: Readonly<Record<string, Template>>;
  /** By the names for `query.stream`; the first one is the default. */
  readonly streams: Readonly<Record<string, StreamData>>;
  /** Rules for responses, before the default rules for their status; the first match applies. */
  readonly errors?: readonly ErrorRule[];
  readonly budget?: Budget;
  /** A minimal call that verifies address and credentials, and its result: `logged in as {{ answer.name }}`. */
  readonly check: { readonly request: RequestData; readonly say: Template; readonly decode?: Decoding };
  /** For the reference page: see {@link Connector}. */
  readonly limits?: readonly string[];
  readonly example?: string;
}

interface Placed {
  /** Applies only if this option of the source is set. */
  readonly when?: string;
  /** Headers with the credentials. Default if there is a token: `authorization: Bearer {{ login.token }}`. */
  readonly headers?: Readonly<Record<string, Template>>;
  /** Query parameters with the credentials. */
  readonly query?: Readonly<Record<string, Template>>;
}

/** The authentication of requests. */
export type LoginData = Placed &
  (
    | { readonly kind: 'none' }
    | { readonly kind: 'oauth'; readonly oauth: OAuthDescription }
    | { readonly kind: 'basic'; readonly user: Template; readonly password: Template }
    /** Only the headers or query parameters above, filled from options. */
    | { readonly kind: 'key' }
    /** A call returns a session token; requested again if it is refused. */
    | {
        readonly kind: 'session';
        readonly call: RequestData;
        readonly token: AnswerPath;
        /** Called when the run ends. */
        readonly logout?: RequestData;
      }
  );

/** One kind of record of a service: its request, and how to read the response. */
export interface StreamData {
  /** One sentence for the reference page. */
  readonly about: string;
  /** Options of the query for this stream. `required` only applies to this stream. */
  readonly options?: OptionSet;
  readonly request: RequestData;
  /** Format of the response; default: JSON. `raw`: one record with the text as `content`. */
  readonly decode?: Decoding;
  readonly records: RecordsAt;
  /** Set it if the vendor omits an empty list: a path that is always in the response. `''`: any object. */
  readonly absent?: ValuePath;
  /** Converts a record to one, several or no records, if that can't be described as data. */
  readonly each?: (record: Fields, scope: Scope) => Fields | readonly Fields[] | undefined;
  /** Only records with these values at these paths. */
  readonly only?: Readonly<Record<string, unknown>>;
  /** Key of a record, if the service may return the same record on several pages: duplicates are dropped. */
  readonly distinct?: ValuePath;
  /** Fields to exclude, if the columns are discovered from the records. */
  readonly drop?: readonly string[];
  readonly columns: Columns;
  /** Key columns, if they differ from `incremental.key`. */
  readonly key?: readonly string[];
  readonly paging?: Paging;
  /** One request per combination of these; the last one changes fastest. */
  readonly partitions?: Readonly<Record<string, Partition>>;
  readonly window?: Window;
  readonly incremental?: Incremental;
  readonly job?: JobData;
  /** Rules before those of the service. */
  readonly errors?: readonly ErrorRule[];
}

/** How to read the body of a response. */
export type Decoding =
  /** The service's own code reads the records from the spooled response, chunk by chunk. */
  | { readonly as: 'stream'; readonly read: (input: RecordInput, scope: Scope) => AsyncIterable<Fields> }
  | 'json'
  | 'jsonl'
  | 'xml'
  | 'raw'
  | 'csv'
  /** `drop_nul`: for vendors whose files contain NUL characters, which are not valid text. */
  | ({ readonly as: 'csv'; readonly drop_nul?: boolean } & Partial<
      Pick<RecordQuery, 'delimiter' | 'quote' | 'encoding' | 'header' | 'null_text' | 'skip_rows'>
    >)
  /**
   * A whole file, read with the SDK's `fileOptions`, which become options of the stream; its columns are discovered.
   */
  | FileDecoding;

/** One record: a JSON object, a row of a csv, an element of XML. */
export type Fields = Readonly<Record<string, unknown>>;

/** Location of the records in a response. */
export type RecordsAt =
  /** A list at that path; if a response lacks it, the read fails. `*` goes through lists: `*.results`. */
  | ValuePath
  /** A single record at that path. */
  | { readonly one: ValuePath }
  /** A list of lists; the first row has the names. */
  | { readonly at: ValuePath; readonly table: 'header_row' }
  /** Records as lists of values, with separate lists of names. */
  | { readonly at: ValuePath; readonly zip: readonly { readonly names: ValuePath; readonly values: ValuePath }[] }
  | ((answer: ServiceAnswer, scope: Scope) => Iterable<Fields>);

/** Columns by name. `discovered`: the fields of all records, which are read first. */
export type Columns =
  | Readonly<Record<string, ColumnType | ColumnData>>
  | ((scope: Scope) => Readonly<Record<string, ColumnType | ColumnData>>)
  | 'discovered'
  | Discovery;

/** One column of a stream: its type and the location of its value. */
export interface ColumnData {
  readonly type: ColumnType;
  /** Path in the record; default: its name. */
  readonly at?: ValuePath;
  /** Instead of `at`: a template variable, such as `partition.survey.id`. */
  readonly scope?: string;
  /** Date format of the service. */
  readonly date?: DateFormat;
  /** IANA zone of the service for days and for times without a zone. Default: the run's zone. */
  readonly zone?: string;
}

/** A call that returns the columns. Their names are `fields` in the templates of the stream's request. */
export interface Discovery {
  readonly request: RequestData;
  /** Path of the list of fields in the response, and paths of the name and the type in each field. */
  readonly records: ValuePath;
  readonly name: ValuePath;
  readonly type: ValuePath;
  /** Sluice types by the service's types; default: text. */
  readonly types: Readonly<Record<string, ColumnType | ColumnData>>;
  /** Only fields that match this. */
  readonly only?: Readonly<Record<string, unknown>>;
  /** The option with the names of the fields that the user selects, in order; without a value, all fields. */
  readonly wanted?: Template;
  /** Path of their values in a record; default: the record itself. */
  readonly within?: string;
  /** Additional first columns, which every record has. They are not in `fields`. */
  readonly always?: Readonly<Record<string, ColumnType | ColumnData>>;
}

/** The partitions of a stream: one request series for each. */
export type Partition =
  /** Each item of a list option (text is split at commas). */
  | { readonly option: string }
  | { readonly values: readonly unknown[] }
  /** Each record of another stream; `partition.NAME.FIELD` is then one of its fields. */
  | { readonly stream: string; readonly fields: Readonly<Record<string, ValuePath>>; readonly given?: string }
  /** Each record of one call. */
  | {
      readonly request: RequestData;
      readonly records: RecordsAt;
      readonly absent?: ValuePath;
      readonly fields: Readonly<Record<string, ValuePath>>;
      readonly paging?: Paging;
      /** An option: if set, its items are the values of the first field, and no request is made. */
      readonly given?: string;
    };

/** From `start_date` to `end_date`, in steps. Sets `window.from` and `window.to`. */
export interface Window {
  /** `30d`, or a calendar `week`, `month`, `quarter` or `year`; default: one request for the whole period. */
  readonly step?: string;
  /** Default of `start_date`: 30 days ago. */
  readonly start?: string;
  /**
   * Whether the service treats the end as inclusive: `window.to` is then the last day or instant inside, otherwise the
   * first one outside.
   */
  readonly end?: 'inside' | 'outside';
  /** An incremental run starts this long before the end of the last one, because vendors restate recent metrics. */
  readonly look_back?: string;
}

/** How to read only the changes since the last run. */
export type Incremental =
  /** Reads the records that changed since the last run, from `since` on: the last watermark minus `look_back`. */
  | {
      /**
       * A column that only increases, such as a time of change or a number. May be a template: `{{ changed_field }}`.
       */
      readonly column: string;
      /** Key of a record, to drop duplicates at the boundary. */
      readonly key?: ValuePath;
      readonly look_back?: string;
      /**
       * Maximum delay until changes become visible, possibly not in the column's order: the watermark always stays at
       * least this far before the start of the run.
       */
      readonly settles?: string;
      /**
       * Maximum number of records that a query returns; after that many, the service is queried again, starting at the
       * last record.
       */
      readonly cap?: number;
    }
  /**
   * The service returns resume tokens: `state` is the token's location in the last response; `onward` is the request
   * that sends it.
   */
  | { readonly state: AnswerPath; readonly onward?: RequestData };

/** An asynchronous report: create, poll, fetch. The stream's own request fetches it, with the kept values in `job.NAME`. */
export interface JobData {
  readonly create: RequestData;
  /** Values to keep from the response: `{ id: 'report_run_id' }`. */
  readonly keep: Readonly<Record<string, AnswerPath>>;
  /** The call that starts the job, if the vendor requires a separate one. */
  readonly start?: RequestData;
  readonly poll: RequestData;
  /** Values to keep from the last poll response, such as the URL of the result. */
  readonly result?: Readonly<Record<string, AnswerPath>>;
  /**
   * The kept value without which there is nothing to fetch, such as the URL of a file, which is null if there are no
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
  /** Its name; the extension determines its format. */
  readonly name: Template;
  /** Its modification time, if it is known before the fetch: an unchanged file is not fetched again. */
  readonly modified?: Template;
}

/** The file description of a stream; undefined if its responses are not files. */
export function fileDecoding({ decode }: Pick<StreamData, 'decode'>): FileDecoding | undefined {
  return typeof decode === 'object' && decode.as === 'file' ? decode : undefined;
}
