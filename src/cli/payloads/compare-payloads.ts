import { rm } from 'node:fs/promises';
import { compareTables, type TableDifference } from '../../compare/compare-tables.ts';
import type { Job } from '../../config/config.ts';
import { type PayloadFile, PayloadTable } from '../../formats/payload-table.ts';
import { Problem } from '../../lib/problem.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';

/** Two payloads' differences as tables, or the reason why the payloads can't be compared. */
export type Compared = { readonly difference: TableDifference } | { readonly note: string };

/** Both payloads, and their job if the config still contains it. */
interface Pair {
  readonly last: PayloadFile | undefined;
  readonly now: PayloadFile;
  readonly job: Job | undefined;
}

/**
 * Compares two payloads by the job's declared key. Without a key, compares them like {@link compareTables}. Uses
 * constant memory.
 */
export async function comparePayloads({ last, now, job }: Pair): Promise<Compared> {
  if (last === undefined) return { note: 'No previous payload to compare with.' };
  const folder = await makeTempFolder(`compare-${process.pid}`);
  try {
    const tables = { last: await PayloadTable.open(last), now: await PayloadTable.open(now) };
    return { difference: await compareTables(tables, { key: job?.extract?.write?.key, folder }) };
  } catch (thrown) {
    return { note: noteOf(thrown) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The file may have been deleted, or may not be a table. Rethrows all other errors. */
function noteOf(thrown: unknown): string {
  if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') {
    return 'Nothing to compare: the file of one of the payloads is no longer on disk.';
  }
  if (thrown instanceof Problem && thrown.family !== 'bug') {
    return `The payloads cannot be compared as tables: ${thrown.message}.`;
  }
  throw thrown;
}
