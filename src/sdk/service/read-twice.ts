import type { RunWarning } from '../../lib/run-warnings.ts';
import type { ConnectorLog } from '../connector.ts';

/** One read of all pages, as far as it got. */
export interface PagesRead {
  /** Whether the server told different totals on the way. */
  readonly hasChanged: boolean;
  /** What ended it early. */
  readonly problem: unknown;
}

interface ReadTwiceOptions {
  /** Forgets what the first read has kept. */
  readonly forget: () => void;
  readonly log: ConnectorLog;
}

/**
 * Reads all pages into a store, and does so a second time if the server told different totals on the way: rows have moved
 * between the pages, and the first read may lack some or have them twice. A problem of that read, such as too few records,
 * says nothing yet. The second read counts as it is.
 * @returns the read that counts.
 * @throws the problem of that read.
 */
export async function readTwice<T extends PagesRead>(read: () => Promise<T>, given: ReadTwiceOptions): Promise<T> {
  let done = await read();
  if (done.hasChanged) {
    given.log.info('the total changed while the pages were read: reading them a second time');
    given.forget();
    done = await read();
  }
  if (done.problem !== undefined) throw done.problem;
  return done;
}

/** Whose totals they are: `REST` and `The server`, or `SERVICE` and the vendor. */
interface Teller {
  readonly code: 'REST' | 'SERVICE';
  readonly title: string;
}

/**
 * The warning of pages whose totals do not fit what came; undefined if they do.
 * @param surplus records beyond the total that was told last.
 */
export function totalWarning(
  { code, title }: Teller,
  { hasChanged, surplus }: { readonly hasChanged: boolean; readonly surplus: number },
): RunWarning | undefined {
  const refuses = '`guards: {complete: true}` refuses such rows';
  if (hasChanged) {
    return {
      code: `${code}_TOTAL_CHANGED`,
      message: `${title} reported different totals in two readings: rows may be missing or duplicated`,
      next:
        code === 'REST'
          ? `Sort the answers by a key that does not change, or page by a cursor; ${refuses}`
          : `Run the job at a quieter time; ${refuses}`,
      incomplete: true,
    };
  }
  if (surplus <= 0) return undefined;
  return {
    code: `${code}_TOTAL_EXCEEDED`,
    message: `${title} returned ${surplus} more records than the total that it reported: some may be duplicates`,
    next:
      code === 'REST'
        ? `Check that \`paging.total\` is the number of all records; ${refuses}`
        : `Run the job again; ${refuses}`,
    incomplete: true,
  };
}
