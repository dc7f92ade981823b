import { Problem } from '../lib/problem.ts';

/** Limits of a preview, which ends with the first page that has records. */
export interface PreviewLimits {
  /**
   * Whether requests for data may use methods other than GET and HEAD, which might change something at the source or
   * start a report.
   */
  readonly allowsAnyMethod: boolean;
}

/** What a preview found on the first page that has records. */
export interface FirstPage {
  readonly records: number;
  /** Whether a run would request another page, or something else that the preview has skipped. */
  readonly hasNext: boolean;
}

/** Throws `PREVIEW_METHOD` if a preview must not send a request for data with this method. */
export function checkPreviewMethod(preview: PreviewLimits | undefined, method: string): void {
  if (preview === undefined || preview.allowsAnyMethod || /^(?:get|head)$/i.test(method)) return;
  throw new Problem({
    code: 'PREVIEW_METHOD',
    family: 'config',
    message: `Not requested: the query sends ${method.toUpperCase()}, which might change data or start a report`,
    allowed: 'GET, HEAD',
    next: 'if the request only reads data, add --yes: sluice check --connect --yes JOB',
  });
}
