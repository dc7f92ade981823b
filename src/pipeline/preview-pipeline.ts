import { createHash } from 'node:crypto';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Problem, toProblem } from '../lib/problem.ts';
import { makeTempFolder } from '../lib/temp-folder.ts';
import { type Batch, batchText } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { KeptRowsOptions } from './merged-source.ts';
import { progressReporter } from './progress.ts';
import type { PipelineOptions } from './run-pipeline.ts';
import type { SourceEnd } from './source.ts';
import { type StreamRowsOptions, streamRows } from './stream-rows.ts';

export type PreviewOptions = Omit<PipelineOptions, 'spool'> & {
  /** Where the run would continue: the watermark and, for a job with kept rows, the kept rows. Neither changes. */
  readonly watermark?: string;
  readonly keptRows?: Omit<KeptRowsOptions, 'aside'>;
  /** Number of first rows to keep. */
  readonly rows: number;
  /** A new file for the bytes that would be sent. If absent, the bytes are discarded. */
  readonly payloadPath?: string;
};

/** What a run would send. */
export interface Preview {
  readonly columns: readonly Column[];
  /** The first rows as canonical text; null for absent values. */
  readonly firstRows: readonly (readonly (string | null)[])[];
  readonly rows: number;
  /** Set if the source was read to its end. */
  readonly ending?: SourceEnd;
  readonly rowsRead: number;
  readonly bytes: number;
  /** The payload's hash, which shows whether the payload is unchanged, without sending it. */
  readonly sha256: string;
  readonly format: string;
}

/** A dry run: reads, transforms, encodes and hashes every row, but leaves no files behind. */
export async function previewPipeline(given: PreviewOptions): Promise<Preview> {
  const { payloadPath } = given;
  const file = payloadPath === undefined ? undefined : onFile(payloadPath, () => openSync(payloadPath, 'wx', 0o600));
  const spool = await makeTempFolder(`preview-${process.pid}`);
  const hash = createHash('sha256');
  const firstRows: (string | null)[][] = [];
  const sink: StreamRowsOptions['sink'] = {
    write(pieces, recycle) {
      for (const piece of pieces) {
        hash.update(piece);
        if (file !== undefined) onFile(payloadPath!, () => writeFileSync(file, piece));
      }
      pieces.forEach(recycle);
      return undefined;
    },
  };
  const onBatch = (batch: Batch) => {
    given.onBatch?.(batch);
    const missing = given.rows - firstRows.length;
    if (missing > 0) firstRows.push(...batchText({ ...batch, length: Math.min(missing, batch.length) }));
  };
  try {
    const { keptRows } = given;
    const aside = keptRows === undefined ? {} : { keptRows: { ...keptRows, mustSend: true, aside: spool } };
    const carried = await streamRows({ ...given, ...aside, spool, sink, onBatch, onProgress: progressReporter(given) });
    return { ...carried, firstRows, sha256: hash.digest('hex'), format: given.extract.format.id };
  } catch (thrown) {
    if (given.signal.aborted) throw given.signal.reason;
    throw toProblem(thrown, { code: 'PIPELINE_THREW', family: 'bug' }).at({ job: given.job });
  } finally {
    if (file !== undefined) closeSync(file);
    await rm(spool, { recursive: true, force: true });
  }
}

/**
 * Runs a file operation. Its errors, such as a full disk, a missing folder or missing permissions, aren't reported as
 * bugs.
 */
function onFile<T>(path: string, use: () => T): T {
  try {
    return use();
  } catch (thrown) {
    const message = `Cannot write ${path}: ${(thrown as Error).message}`;
    const next = 'choose an existing folder that you can write to and that has enough space';
    throw new Problem({ code: 'FILE_UNWRITABLE', family: 'job', message, next, cause: thrown });
  }
}
