import type { AnswerPath } from './answer.ts';
import type { ValuePath } from './path.ts';
import type { RequestData } from './request-data.ts';
import type { Template } from './template.ts';

/**
 * The end of the pages. By default: the first page without records (`page`, `offset`), or a next page that is null, false or empty
 * (`token`, `link`). A missing path is not the end, unless this declares it.
 */
export interface Stop {
  /** True if more pages follow. A response without it is an error. */
  readonly more?: AnswerPath;
  /** True on the last page. A response without it is an error. */
  readonly last?: AnswerPath;
  /** More pages follow while it has a value: the vendor omits it on the last page. */
  readonly present?: AnswerPath;
  /** With `present`: a path that every page with records has, including the last. A response without it is an error. */
  readonly always?: AnswerPath;
  /** Total of records. The number of records is checked against the last reported total. */
  readonly total?: AnswerPath;
  /** Total of pages, checked too. */
  readonly pages?: AnswerPath;
  /** Number of remaining records from this page on, if each page is a separate search. */
  readonly remaining?: AnswerPath;
  /** Records on a full page: a shorter page is the last. Only if the service never returns fewer otherwise. */
  readonly size?: number;
  /** The end if this is 0 (`chunk_size`), regardless of the records. A response without it is an error. */
  readonly empty?: AnswerPath;
  /**
   * Meaning of a missing path of the next page (`token`, `link`): `end` if the vendor omits it on the last page, `single` if it omits
   * it only if there is a single page, `error` if it is on every page. By default, it is only the end if something else confirms it.
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
