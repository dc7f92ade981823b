import type { RunWarning } from '../../lib/run-warnings.ts';
import type { ConnectorLog } from '../connector.ts';

/** One read of all pages, complete or not. */
export interface PagesRead {
  /** Whether the reported total changed. */
  readonly hasChanged: boolean;
  /** Number of pages read, if a long read shouldn't be repeated. */
  readonly pages?: number;
  /** The error that ended it early. */
  readonly problem: unknown;
}

/** A read of this many pages isn't repeated, because the data would change again. */
const maxPages = 20;

interface ReadTwiceOptions {
  /** Discards the records of the first read. */
  readonly forget: () => void | Promise<void>;
  readonly log: ConnectorLog;
}

/**
 * Reads all pages into a store. If the reported total changed during the read, rows may be missing or duplicated
 * because they moved between pages, so all pages are read again, unless there are many. Any problem in the first read, such as too few
 * records, is then ignored. The second read is final.
 * @returns the read that counts.
 * @throws the problem of that read.
 */
export async function readTwice<T extends PagesRead>(read: () => Promise<T>, given: ReadTwiceOptions): Promise<T> {
  let done = await read();
  if (done.hasChanged && (done.pages ?? 0) < maxPages) {
    given.log.info('the total changed while the pages were being read; reading all pages again');
    await given.forget();
    done = await read();
  }
  if (done.problem !== undefined) throw done.problem;
  return done;
}

/**
 * The prefix of the warning's code and the subject of its message: `REST` and `The server`, or `SERVICE` and the
 * vendor.
 */
interface Teller {
  readonly code: 'REST' | 'SERVICE';
  readonly title: string;
}

/**
 * The warning if the total doesn't match the records; undefined if it matches.
 * @param surplus number of records in excess of the last reported total.
 */
export function totalWarning(
  { code, title }: Teller,
  { hasChanged, surplus }: { readonly hasChanged: boolean; readonly surplus: number },
): RunWarning | undefined {
  const refuses = 'to reject such results, set `guards: {complete: true}`';
  if (hasChanged) {
    return {
      code: `${code}_TOTAL_CHANGED`,
      message: `${title} reported different totals while its pages were being read: rows may be missing or duplicated`,
      next:
        code === 'REST'
          ? `sort the records by a key that does not change, or page by a cursor; ${refuses}`
          : `run the job when the data changes less often; ${refuses}`,
      incomplete: true,
    };
  }
  if (surplus <= 0) return undefined;
  return {
    code: `${code}_TOTAL_EXCEEDED`,
    message: `${title} returned ${surplus} more records than the total that it reported: some may be duplicates`,
    next:
      code === 'REST'
        ? `check that \`paging.total\` is the path of the total number of records; ${refuses}`
        : `run the job again; ${refuses}`,
    incomplete: true,
  };
}
