import type { AnswerPath } from './answer.ts';
import type { RequestData } from './request-data.ts';
import type { Template } from './template.ts';

/**
 * How to recognize the last page. By default, it's the first page without records (`page`, `offset`), or a page whose
 * next page is null, false or empty (`token`, `link`). A missing path means the end only if declared here.
 */
export interface Stop {
  /** The path of a flag that is true if more pages follow. If a response lacks the flag, the read fails. */
  readonly more?: AnswerPath;
  /** The path of a flag that is true on the last page. If a response lacks the flag, the read fails. */
  readonly last?: AnswerPath;
  /** A path that has a value as long as more pages follow, because the vendor omits it on the last page. */
  readonly present?: AnswerPath;
  /**
   * For use with `present`: a path that every page with records has, including the last page. If a page with records
   * lacks the path, the read fails.
   */
  readonly always?: AnswerPath;
  /** The total number of records. The number of records read is checked against the last reported total. */
  readonly total?: AnswerPath;
  /** The total number of pages, which is also checked. */
  readonly pages?: AnswerPath;
  /** The number of remaining records, including this page's, if each page is a separate search. */
  readonly remaining?: AnswerPath;
  /**
   * Number of records on a full page. A page with fewer records is the last one, so set this only if the service always
   * fills all other pages.
   */
  readonly size?: number;
  /**
   * Whether a page without records is the last one even if it has a token or link to another page (`token`, `link`).
   */
  readonly ends_empty?: boolean;
  /**
   * A path whose value is 0 after the last page (`chunk_size`), regardless of the records. If a response lacks the
   * path, the read fails.
   */
  readonly empty?: AnswerPath;
  /**
   * What it means if a page lacks the path to the next page (`token`, `link`). `end`: the vendor omits the path on the
   * last page. `single`: the vendor omits the path only if there is a single page. `error`: every page has the path. By
   * default, a missing path means the end only if something else confirms that.
   */
  readonly missing?: 'end' | 'single' | 'error';
}

/** How to request the next page, and how to recognize the last page. */
export type Paging = Stop &
  (
    | { readonly by: 'page'; readonly first?: number }
    /** The offset counts records. */
    | { readonly by: 'offset'; readonly first?: number }
    /**
     * `any`: the token may also be a list or an object. `onward`: the request for all pages except the first, if it
     * differs.
     */
    | {
        readonly by: 'token';
        readonly at: AnswerPath;
        readonly first?: Template;
        readonly any?: boolean;
        readonly onward?: RequestData;
      }
    /** The next page's URL is at this path or, if there is no path, in the Link header. */
    | { readonly by: 'link'; readonly at?: AnswerPath }
  );
