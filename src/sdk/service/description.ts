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
 * A third-party service, said as data. Templates may use: the options of the source and of the query by their names,
 * `login.token`, `login.kept.NAME` and `login.client_id`, `page.number`, `page.offset`, `page.token`, `window.from`,
 * `window.to`, `since`, `state`, `partition.NAME`, `job.NAME`, `fields`, and dates (`today - 7d`).
 */
export interface ServiceDescription {
  /** The word in the config, and the name of the file. */
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** Options of the source, beside those that every service has (`api_url`, `api_version`, `timezone` …). */
  readonly options?: OptionSet;
  /** Start of every path; may hold templates (`https://{{ shop }}.example.com/api/{{ api_version }}`). */
  readonly base: Template;
  /** The default of the option `api_version`; the option is there only where this is. */
  readonly version?: string;
  /** One login, or several of which the first applies whose option `when` is set. */
  readonly login: LoginData | readonly LoginData[];
  /** Sent with every request to the service's own origin. */
  readonly headers?: Readonly<Record<string, Template>>;
  readonly query?: Readonly<Record<string, Template>>;
  /** By the word in `query.stream`; the first one is the usual one. */
  readonly streams: Readonly<Record<string, StreamData>>;
  /** What answers mean, before the usual meaning of their status; the first that fits counts. */
  readonly errors?: readonly ErrorRule[];
  readonly budget?: Budget;
  /** The smallest call that proves address and credentials, and what it found: `logged in as {{ answer.name }}`. */
  readonly check: { readonly request: RequestData; readonly say: Template; readonly decode?: Decoding };
  /** For the reference page: see {@link Connector}. */
  readonly limits?: readonly string[];
  readonly example?: string;
}

interface Placed {
  /** Applies only where this option of the source is set. */
  readonly when?: string;
  /** Headers that carry the credentials; `authorization: Bearer {{ login.token }}` where a token is and nothing is said. */
  readonly headers?: Readonly<Record<string, Template>>;
  /** The same in the query. */
  readonly query?: Readonly<Record<string, Template>>;
}

/** How requests show who asks. */
export type LoginData = Placed &
  (
    | { readonly kind: 'none' }
    | { readonly kind: 'oauth'; readonly oauth: OAuthDescription }
    | { readonly kind: 'basic'; readonly user: Template; readonly password: Template }
    /** Nothing but the headers or the query above, filled from options. */
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

/** One kind of record that a service has: how it is asked for, and what becomes of the answer. */
export interface StreamData {
  /** One sentence for the reference page. */
  readonly about: string;
  /** Options of the query that this stream takes. `required` counts for this stream alone. */
  readonly options?: OptionSet;
  readonly request: RequestData;
  /** What the answer is; JSON unless said otherwise. `raw`: one record with the text as `content`. */
  readonly decode?: Decoding;
  readonly records: RecordsAt;
  /** Where the vendor leaves the list out if it is empty: what then is in the answer all the same. `''`: any object. */
  readonly absent?: ValuePath;
  /** Changes a record, makes several of it, or none. For what data cannot say. */
  readonly each?: (record: Fields, scope: Scope) => Fields | readonly Fields[] | undefined;
  /** Only records in which these paths hold these values. */
  readonly only?: Readonly<Record<string, unknown>>;
  /** What tells records apart, where the service may give one on several pages: it then comes once. */
  readonly distinct?: ValuePath;
  /** Members that are no columns, where the columns are what the records have. */
  readonly drop?: readonly string[];
  readonly columns: Columns;
  /** Columns that tell rows apart, if that is not the column of `incremental.key`. */
  readonly key?: readonly string[];
  readonly paging?: Paging;
  /** Once for every combination of these; the inner one changes fastest. */
  readonly partitions?: Readonly<Record<string, Partition>>;
  readonly window?: Window;
  readonly incremental?: Incremental;
  readonly job?: JobData;
  /** Before those of the service. */
  readonly errors?: readonly ErrorRule[];
}

/** How the body of an answer is read. */
export type Decoding =
  /** Records that the service's own code reads out of the answer as it lies on the disk, a piece at a time. */
  | { readonly as: 'stream'; readonly read: (input: RecordInput, scope: Scope) => AsyncIterable<Fields> }
  | 'json'
  | 'jsonl'
  | 'xml'
  | 'raw'
  | 'csv'
  /** `drop_nul` where the vendor's files have been seen to hold NUL characters, which are no text. */
  | ({ readonly as: 'csv'; readonly drop_nul?: boolean } & Partial<
      Pick<RecordQuery, 'delimiter' | 'quote' | 'encoding' | 'header' | 'null_text' | 'skip_rows'>
    >)
  /** A whole file, read by the `fileOptions` of the SDK, which stand among the stream's options; its columns are found. */
  | FileDecoding;

/** One record: a JSON object, a row of a csv, an element of XML. */
export type Fields = Readonly<Record<string, unknown>>;

/** Where the records stand in an answer. */
export type RecordsAt =
  /** A list at that path: an answer without it is an error. `*` goes through lists: `*.results`. */
  | ValuePath
  /** A single record at that path. */
  | { readonly one: ValuePath }
  /** A list of lists whose first row holds the names. */
  | { readonly at: ValuePath; readonly table: 'header_row' }
  /** Records that are lists of values beside lists of names, put together. */
  | { readonly at: ValuePath; readonly zip: readonly { readonly names: ValuePath; readonly values: ValuePath }[] }
  | ((answer: ServiceAnswer, scope: Scope) => Iterable<Fields>);

/** By name. `discovered`: whatever the records have, found by reading all of them first. */
export type Columns =
  | Readonly<Record<string, ColumnType | ColumnData>>
  | ((scope: Scope) => Readonly<Record<string, ColumnType | ColumnData>>)
  | 'discovered'
  | Discovery;

/** One column of a stream: its type, and where its value comes from. */
export interface ColumnData {
  readonly type: ColumnType;
  /** Where it stands in the record; at its name unless said otherwise. */
  readonly at?: ValuePath;
  /** Instead: a name of the scope, such as `partition.survey.id`. */
  readonly scope?: string;
  /** How the service writes this date. */
  readonly date?: DateFormat;
  /** IANA zone of the service for days and for times without a zone. Default: the zone of the run. */
  readonly zone?: string;
}

/** A call that tells the columns. Their names are `fields` in the templates of the stream's request. */
export interface Discovery {
  readonly request: RequestData;
  /** The list of fields in its answer, and in each of them name and type. */
  readonly records: ValuePath;
  readonly name: ValuePath;
  readonly type: ValuePath;
  /** The service's types in ours; text where nothing is said. */
  readonly types: Readonly<Record<string, ColumnType | ColumnData>>;
  /** Only fields for which this holds. */
  readonly only?: Readonly<Record<string, unknown>>;
  /** Names of the fields that the user asks for, in that order; all of them where it has no value. */
  readonly wanted?: Template;
  /** The member of a record that holds their values; the record itself unless said otherwise. */
  readonly within?: string;
  /** Columns before those, which every record has. They are not among the `fields`. */
  readonly always?: Readonly<Record<string, ColumnType | ColumnData>>;
}

/** What a stream is asked for one by one. */
export type Partition =
  /** Each item of a list option (a text is split at commas). */
  | { readonly option: string }
  | { readonly values: readonly unknown[] }
  /** Each record of another stream; `partition.NAME.FIELD` then is a field of it. */
  | { readonly stream: string; readonly fields: Readonly<Record<string, ValuePath>>; readonly given?: string }
  /** Each record of one call. */
  | {
      readonly request: RequestData;
      readonly records: RecordsAt;
      readonly absent?: ValuePath;
      readonly fields: Readonly<Record<string, ValuePath>>;
      readonly paging?: Paging;
      /** An option: if set, its items are the first fields, and no request is made. */
      readonly given?: string;
    };

/** From `start_date` to `end_date`, in steps. Gives `window.from` and `window.to`. */
export interface Window {
  /** `30d`, or `week`, `month`, `quarter`, `year` of the calendar; one request for all of it unless said otherwise. */
  readonly step?: string;
  /** What `start_date` is where the user says nothing; 30 days ago. */
  readonly start?: string;
  /** How the service means the end: `window.to` is the last day or instant inside, or the first one outside. */
  readonly end?: 'inside' | 'outside';
  /** An incremental run begins this much before the end of the last one, because recent figures are restated. */
  readonly look_back?: string;
}

/** How a stream is asked only for what the last run has not seen. */
export type Incremental =
  /** Records that changed since; `since` is what the last run had got to, less `look_back`. */
  | {
      /** A column whose value only grows: a time of change, a number. May be a template: `{{ changed_field }}`. */
      readonly column: string;
      /** Tells records apart, so that those at the very edge do not come twice. */
      readonly key?: ValuePath;
      readonly look_back?: string;
      /**
       * Changes may show up this late, or in another order than that of the column: the watermark never comes nearer to
       * the start of the run than this.
       */
      readonly settles?: string;
      /** After so many records the service gives no more: it is asked again from the last one on. */
      readonly cap?: number;
    }
  /** The service keeps our place: `state` is what stood there in the last answer; `onward` asks with it. */
  | { readonly state: AnswerPath; readonly onward?: RequestData };

/** Create, poll, fetch. The stream's own request fetches, with `job.NAME` of what was kept. */
export interface JobData {
  readonly create: RequestData;
  /** What to keep of the answer: `{ id: 'report_run_id' }`. */
  readonly keep: Readonly<Record<string, AnswerPath>>;
  /** Where the vendor wants the job started by a call of its own. */
  readonly start?: RequestData;
  readonly poll: RequestData;
  /** What to keep of the poll's last answer, such as the address of the result. */
  readonly result?: Readonly<Record<string, AnswerPath>>;
  /** The one of these without which there is nothing to fetch: the address of a file, which is null where there are no rows. */
  readonly needs?: string;
  readonly state: AnswerPath;
  readonly done: readonly string[];
  readonly failed: readonly string[];
  /** Between two polls; 5 seconds. */
  readonly every?: string;
  /** Longest wait altogether; one hour. */
  readonly patience?: string;
}

/** Answers that are files. */
export interface FileDecoding {
  readonly as: 'file';
  /** Its name, whose ending tells what is in it. */
  readonly name: Template;
  /** When it was last modified, where that is known before the file is fetched: it then need not be fetched again. */
  readonly modified?: Template;
}

/** How the answers of a stream are files; undefined where they are none. */
export function fileDecoding({ decode }: Pick<StreamData, 'decode'>): FileDecoding | undefined {
  return typeof decode === 'object' && decode.as === 'file' ? decode : undefined;
}
