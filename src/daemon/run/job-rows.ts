import { copyFile, link, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { wholePayload } from '../../delivery/whole-payload.ts';
import { PayloadTable } from '../../formats/payload-table.ts';
import { countOf } from '../../lib/count-text.ts';
import { Problem } from '../../lib/problem.ts';
import { durationText, instantText } from '../../lib/time-text.ts';
import type { JobRowsReader } from '../../pipeline/job-rows-reader.ts';
import type { Batch } from '../../sdk/batch.ts';
import type { JobRows } from '../../sdk/job-rows.ts';
import type { GoodPayload, JobPayload } from '../../state/outbox/good-payloads.ts';
import type { Store } from '../../state/store.ts';
import { payloadFileOf } from './payload-file.ts';

type JobRowsStore = Pick<Store, 'goodPayloads' | 'blobs' | 'clock'>;

/** Reads jobs' last rows from their payloads. `store` is undefined if there's no state yet. */
export function jobRowsFrom(store: JobRowsStore | undefined): JobRowsReader {
  return async (job, { maxAgeMs, folder }) => {
    for (;;) {
      const last = await store?.goodPayloads.ofJob(job);
      if (store === undefined || last === undefined) throw noRows(job);
      checkAge(last, { maxAgeMs, now: store.clock.now() });
      const state = await wholePayload(last.row, store);
      if (state !== 'whole') {
        // A newer payload may have replaced this one, whose file was then deleted.
        if ((await store.goodPayloads.ofJob(job))?.row.id !== last.row.id) continue;
        throw lostRows(last.row, state);
      }
      const path = join(folder, `rows-of-job-${last.row.id}`);
      if (!(await linkOrCopy(last.row.path, path))) continue;
      const table = await PayloadTable.open({ ...payloadFileOf(last.row), path });
      const { columns, batches } = table.extraction();
      return { columns, batches: allOf(batches, last.row), asOf: last.asOf };
    }
  };
}

/** Throws at the end if these aren't all rows of the payload, because a part of them must not count as the whole. */
async function* allOf(batches: JobRows['batches'], row: GoodPayload): AsyncGenerator<Batch> {
  let rows = 0;
  for await (const batch of batches) {
    rows += batch.length;
    yield batch;
  }
  if (rows !== row.row_count) throw unreadRows(row, rows);
}

/**
 * Gives a payload's file a second name in the run's own folder, so that the file lasts as long as the run, even if a
 * newer payload is delivered meanwhile. Returns false if the file no longer exists.
 */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  try {
    await rm(to, { force: true });
    await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
      // The folder is on another disk, or its disk has no hard links.
      if (error.code === 'ENOENT') throw error;
      await copyFile(from, to);
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function checkAge(
  { row, asOf }: JobPayload,
  { maxAgeMs = Number.POSITIVE_INFINITY, now }: { maxAgeMs: number | undefined; now: number },
): void {
  const ageMs = now - asOf;
  if (ageMs <= maxAgeMs) return;
  throw new Problem({
    code: 'JOB_ROWS_OLD',
    family: 'job',
    message: `The last rows of job ${row.job} are too old`,
    seen: `${countOf(row.row_count, 'row')}, read ${durationText(ageMs)} ago (${instantText(asOf)})`,
    allowed: `at most ${durationText(maxAgeMs)}`,
    next: `sluice sync ${row.job}`,
  });
}

function noRows(job: string): Problem {
  return new Problem({
    code: 'JOB_ROWS_NONE',
    family: 'job',
    message: `Job ${job} has not delivered any rows yet`,
    next: `sluice sync ${job}`,
  });
}

function lostRows({ job, path }: GoodPayload, state: 'missing' | 'damaged'): Problem {
  return new Problem({
    code: 'JOB_ROWS_LOST',
    family: 'job',
    message: `The last rows of job ${job} are ${state}`,
    seen: path,
    // A missing file is created again even if the rows are unchanged.
    next: state === 'missing' ? `sluice sync ${job}` : `set always: true in job ${job} for one run: sluice sync ${job}`,
  });
}

function unreadRows({ job, row_count }: GoodPayload, read: number): Problem {
  return new Problem({
    code: 'JOB_ROWS_LOST',
    family: 'job',
    message: `The last rows of job ${job} cannot be read from its payload`,
    seen: countOf(read, 'row'),
    allowed: countOf(row_count, 'row'),
    next: `use another format in job ${job}`,
  });
}
