import type { AnswerPath } from './answer.ts';
import type { ValuePath } from './path.ts';
import type { RequestData } from './request-data.ts';
import type { Template } from './template.ts';

/**
 * What ends the pages. By default: the first page without records (`page`, `offset`), or a next page that is null,
 * false or empty (`token`, `link`). A missing path is not the end, unless this declares it.
 */
export interface Stop {
  /** True if more pages follow. If a response lacks it, the read fails. */
  readonly more?: AnswerPath;
  /** True on the last page. If a response lacks it, the read fails. */
  readonly last?: AnswerPath;
  /** More pages follow as long as it has a value: the vendor omits it on the last page. */
  readonly present?: AnswerPath;
  /**
   * With `present`: a path that every page with records has, including the last. If a response lacks it, the read
   * fails.
   */
  readonly always?: AnswerPath;
  /** Total number of records. The number of records read is checked against the last reported total. */
  readonly total?: AnswerPath;
  /** Total number of pages, also checked. */
  readonly pages?: AnswerPath;
  /** Number of records left, including this page's, if each page is a separate search. */
  readonly remaining?: AnswerPath;
  /**
   * Number of records on a full page: a shorter page is the last one. Set it only if the service never returns fewer
   * records on other pages.
   */
  readonly size?: number;
  /** The pages end if this is 0 (`chunk_size`), regardless of the records. If a response lacks it, the read fails. */
  readonly empty?: AnswerPath;
  /**
   * Meaning of a missing path of the next page (`token`, `link`): `end` if the vendor omits it on the last page,
   * `single` if it omits it only if there is a single page, `error` if every page has it. By default, it only means the
   * end if something else confirms that.
   */
  readonly missing?: 'end' | 'single' | 'error';
}

/** How to request the next page, and how the pages end. */
export type Paging = Stop &
  (
    | { readonly by: 'page'; readonly first?: number }
    /** Counts records, or continues from a value of the last record. */
    | { readonly by: 'offset'; readonly first?: number; readonly last_record?: ValuePath }
    /** `onward`: another request for all pages but the first. */
    | { readonly by: 'token'; readonly at: AnswerPath; readonly first?: Template; readonly onward?: RequestData }
    /** The next page's URL; without a path, from the Link header. */
    | { readonly by: 'link'; readonly at?: AnswerPath }
  );
