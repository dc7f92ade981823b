import { rm } from 'node:fs/promises';
import { compareTables, type TableDifference } from '../../compare/compare-tables.ts';
import { type PayloadFile, PayloadTable } from '../../compare/payload-table.ts';
import type { Job } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import type { OutboxRow } from '../../state/tables.ts';

/** How two payloads differ as tables, or why that cannot be told. */
export type Compared = { readonly difference: TableDifference } | { readonly note: string };

/** Both payloads, and the job that made them, if the config still has it. */
interface Pair {
  readonly last: PayloadFile | undefined;
  readonly now: PayloadFile;
  readonly job: Job | undefined;
}

/** Where a payload is and how it is read, with the options that its job has now. */
export function payloadFileOf({ path, format }: Pick<OutboxRow, 'path' | 'format'>, job: Job | undefined): PayloadFile {
  const { extract } = job ?? {};
  return { path, format, options: extract?.format.id === format ? extract.formatOptions : {} };
}

/** Compares two payloads by the key that the job declares, else as {@link compareTables} does. Memory does not grow with the rows. */
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

/** Files may be gone, and documents of another time may have been made with other options. Anything else is thrown. */
function noteOf(thrown: unknown): string {
  if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') {
    return 'Nothing to compare: the file of one of the payloads is no longer on disk.';
  }
  if (thrown instanceof Problem && thrown.family !== 'bug') {
    return `The payloads cannot be compared as tables: ${thrown.message}.`;
  }
  throw thrown;
}
