import { httpProblem, parseExact, parsePath, type SpooledPage, shownUrl, valuesAt } from '#sdk';
import type { RestQuery } from './options.ts';
import { isCounted, totalOf } from './paging.ts';

/**
 * Whether a page may be the same as the previous one. This is possible if all of its records are identical and the
 * response reports the total number of records or pages. Otherwise, a repeated page shows that the server ignores the
 * page parameter.
 */
export async function mayEqual(page: SpooledPage, { paging, records = '' }: RestQuery): Promise<boolean> {
  if (!isCounted(paging) || (totalOf(paging) ?? paging.pages) === undefined) return false;
  const list = valuesAt(await parsed(page), parsePath(records) as readonly string[]).flat();
  return list.length > 0 && new Set(list.map((record) => JSON.stringify(record))).size === 1;
}

async function parsed({ input }: SpooledPage): Promise<unknown> {
  const bytes = Buffer.concat(await Array.fromAsync(input.open()));
  try {
    return parseExact(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The problem to report for a repeated page. */
export function repeatedPage(url: URL, page: number) {
  return httpProblem('REST_PAGES_REPEAT', 'job', `page ${page} is identical to the previous page`, {
    seen: shownUrl(url),
    next: 'check `paging`, because the server seems to ignore the paging parameter; to allow identical pages, set `total`; no data was sent',
  });
}
