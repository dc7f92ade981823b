import { rm } from 'node:fs/promises';
import { compareTables, type TableDifference } from '../../compare/compare-tables.ts';
import { type PayloadFile, PayloadTable } from '../../compare/payload-table.ts';
import type { Job } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import type { OutboxRow } from '../../state/tables.ts';

/** The differences between two payloads as tables, or the reason why they can't be compared. */
export type Compared = { readonly difference: TableDifference } | { readonly note: string };

/** Both payloads and their job, if it's still in the config. */
interface Pair {
  readonly last: PayloadFile | undefined;
  readonly now: PayloadFile;
  readonly job: Job | undefined;
}

/** A payload's path, and how to read it according to the job's current options. */
export function payloadFileOf({ path, format }: Pick<OutboxRow, 'path' | 'format'>, job: Job | undefined): PayloadFile {
  const { extract } = job ?? {};
  return { path, format, options: extract?.format.id === format ? extract.formatOptions : {} };
}

/**
 * Compares two payloads by the job's declared key; without a key, works like {@link compareTables}. Uses constant
 * memory.
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

/**
 * A file may have been deleted, and an older document may have been written with different options. Other errors are
 * rethrown.
 */
function noteOf(thrown: unknown): string {
  if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') {
    return 'Nothing to compare: the file of one of the payloads is no longer on disk.';
  }
  if (thrown instanceof Problem && thrown.family !== 'bug') {
    return `The payloads cannot be compared as tables: ${thrown.message}.`;
  }
  throw thrown;
}
