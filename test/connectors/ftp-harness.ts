import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import ftp from '../../connectors/ftp/index.ts';
import { batchText, type Column } from '../../src/sdk/index.ts';
import type { FileServer } from '../servers/file-server.ts';
import { contextOf } from './harness.ts';

export interface FtpRun {
  readonly query: Record<string, unknown>;
  readonly source: Record<string, unknown>;
  readonly watermark?: string | undefined;
  readonly signal?: AbortSignal;
  /** Receives every warning. */
  readonly warn?: (message: string, facts?: object) => void;
}

export interface FtpTable {
  readonly columns: readonly Column[];
  readonly rows: (string | null)[][];
  readonly watermark: string | undefined;
  readonly unchanged: boolean;
}

/** A folder for this test's own files, deleted after it. */
export function ownFolder(): () => string {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-ftp-'));
  });
  afterEach(async () => await rm(folder, { recursive: true, force: true }));
  return () => folder;
}

export function ftpContext(run: FtpRun, folder: string) {
  const { source, query, watermark, signal, warn } = run;
  const context = contextOf(ftp, {
    source,
    query: { settle_seconds: 0, ...query },
    folder,
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    ...context,
    ...(watermark === undefined ? {} : { watermark }),
    ...(warn === undefined ? {} : { log: { ...context.log, warn } }),
  };
}

/** Everything that one extract returns. By default, it doesn't wait for files to settle. */
export async function readFtp(run: FtpRun): Promise<FtpTable> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-ftp-run-'));
  try {
    const { columns, batches, ...rest } = await ftp.extract(ftpContext(run, folder));
    const rows: (string | null)[][] = [];
    for await (const batch of batches) rows.push(...batchText(batch));
    return { columns, rows, watermark: rest.watermark?.(), unchanged: rest.unchanged?.() ?? false };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes a file where the server's clients see it. `modified` is in seconds since 1970. */
export async function putFile(
  { files }: FileServer,
  name: string,
  content: string | Buffer,
  modified?: number,
): Promise<string> {
  const path = join(files, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  if (modified !== undefined) await utimes(path, modified, modified);
  return path;
}

/** Empties the folder that the server's clients see. */
export async function clearFiles({ files }: FileServer): Promise<void> {
  await rm(files, { recursive: true });
  await mkdir(files);
}
