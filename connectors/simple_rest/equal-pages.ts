import { batchText, httpProblem, type RecordOptions, readRecords, type SpooledPage, shownUrl } from '#sdk';
import type { RestQuery } from './options.ts';
import { isCounted, totalOf } from './paging.ts';

/**
 * Whether a page may be the same as the previous one. This is possible if all of its records are identical, including
 * values that aren't among the job's columns, and the response reports the total number of records or pages. Otherwise,
 * a repeated page shows that the server ignores the page parameter.
 */
export async function mayEqual(
  { input }: SpooledPage,
  { paging }: RestQuery,
  settings: RecordOptions,
): Promise<boolean> {
  if (!isCounted(paging) || (totalOf(paging) ?? paging.pages) === undefined) return false;
  const whole = { ...settings, columns: [], types: {}, factColumns: [], warn: undefined };
  const records = new Set<string>();
  for await (const batch of (await readRecords([input], whole)).batches) {
    for (const row of batchText(batch)) records.add(JSON.stringify(row));
    if (records.size > 1) return false;
  }
  return records.size === 1;
}

/** The problem to report for a repeated page. */
export function repeatedPage(url: URL, page: number) {
  return httpProblem('REST_PAGES_REPEAT', 'job', `page ${page} is identical to the previous page`, {
    seen: shownUrl(url),
    next: 'check `paging`, because the server seems to ignore the paging parameter; to allow identical pages, set `total`; no data was sent',
  });
}
