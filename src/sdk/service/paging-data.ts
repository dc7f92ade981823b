import type { AnswerPath } from './answer.ts';
import type { ValuePath } from './path.ts';
import type { RequestData } from './request-data.ts';
import type { Template } from './template.ts';

/**
 * What says that the pages end. Without any of these: the first page without records (`page`, `offset`), or a next page that
 * is null, false or empty (`token`, `link`). A place that is missing is no end, unless this says so.
 */
export interface Stop {
  /** True while there is more. An answer without it is an error. */
  readonly more?: AnswerPath;
  /** True on the last page. An answer without it is an error. */
  readonly last?: AnswerPath;
  /** There is more while something stands there: the vendor leaves it out of the last page. */
  readonly present?: AnswerPath;
  /** Beside `present`: what every page with records has, the last one too. An answer without it is an error. */
  readonly always?: AnswerPath;
  /** Number of all records. What came is compared with the last one that was told. */
  readonly total?: AnswerPath;
  /** Number of all pages, compared as well. */
  readonly pages?: AnswerPath;
  /** Number of the records from this page on, if each page is a search of its own for what follows. */
  readonly remaining?: AnswerPath;
  /** Records on a full page: a shorter one is the last. Only where the service never gives fewer by itself. */
  readonly size?: number;
  /** The end when this is 0 (`chunk_size`), whatever the page held. An answer without it is an error. */
  readonly empty?: AnswerPath;
  /**
   * What it means that the place of the next page (`token`, `link`) is missing: `end` if the vendor leaves it out of the last
   * page, `single` if it leaves it out only where there is but one page, `error` if it is on every page. Otherwise it is the end
   * only if something else says so.
   */
  readonly missing?: 'end' | 'single' | 'error';
}

/** How the next page is asked for, and when there is none. */
export type Paging = Stop &
  (
    | { readonly by: 'page'; readonly first?: number }
    /** Counts records, or goes on from a value of the last record. */
    | { readonly by: 'offset'; readonly first?: number; readonly last_record?: ValuePath }
    /** `onward`: another request for all pages but the first. */
    | { readonly by: 'token'; readonly at: AnswerPath; readonly first?: Template; readonly onward?: RequestData }
    /** The next page's address; from the Link header where no place is named. */
    | { readonly by: 'link'; readonly at?: AnswerPath }
  );
