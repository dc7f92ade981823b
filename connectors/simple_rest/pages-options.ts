import type {
  ConnectorLog,
  HttpClient,
  KeptColumn,
  PageJournal,
  PageSpool,
  PreviewLimits,
  ReportOrders,
  RunWarning,
} from '#sdk';
import type { Parent } from './for-each.ts';
import type { MyTurn } from './in-order.ts';
import type { IncrementalRead } from './incremental-read.ts';
import type { RestQuery } from './options.ts';
import type { RestClient } from './rest-client.ts';

/** What reading the pages of a query needs. */
export interface PagesOptions {
  readonly asking: RestClient;
  readonly client: HttpClient;
  readonly query: RestQuery;
  readonly spool: PageSpool;
  readonly log: ConnectorLog;
  readonly warn: (warning: RunWarning) => void;
  /** Called after each page. */
  readonly alive: () => void;
  /** The watermark of conditional requests. */
  readonly watermark: string | undefined;
  /** The columns of the job's kept rows. */
  readonly keptColumns: readonly KeptColumn[] | undefined;
  /** Set if the query has a `cursor`. */
  readonly incremental: IncrementalRead | undefined;
  readonly signal: AbortSignal;
  /** Reports that were started, by this attempt or an earlier one. */
  readonly orders: ReportOrders;
  /** Set to request only the first page. */
  readonly preview: PreviewLimits | undefined;
  /** Set to read only some parents. */
  readonly isDryRun?: boolean | undefined;
  /** Set if the query has `for_each`. */
  readonly parents?: readonly Parent[] | undefined;
  /** The pages of this attempt and earlier ones, if the query can be resumed. */
  readonly journal?: PageJournal | undefined;
  /** Set for the pages of one parent. */
  readonly myTurn?: MyTurn;
}
