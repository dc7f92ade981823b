import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../lib/problem.ts';
import type { Extraction } from '../extraction.ts';
import { type FileQuery, readFiles } from '../records/files.ts';
import type { RecordInput } from '../records/input.ts';
import type { RecordOptions } from '../records/options.ts';
import { storedBytes } from '../records/stored-bytes.ts';
import { fileDecoding, type StreamData } from './description.ts';
import { readMoment } from './moment.ts';
import type { StreamReader } from './stream-reader.ts';
import { renderText, type Scope } from './template.ts';

interface FileTableOptions extends Pick<RecordOptions, 'warn' | 'keptColumns'> {
  readonly title: string;
  readonly reading: StreamReader;
  readonly stream: StreamData;
  readonly scope: Scope;
  /** The run's private folder. */
  readonly scratch: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly watermark?: string | undefined;
}

/**
 * The table of a stream's files, one file per partition. If no file has changed, an incremental run ends as unchanged;
 * otherwise all files are read completely.
 * @throws Problem if there is no file, because a missing file doesn't mean an empty table.
 */
export async function fileTable(given: FileTableOptions): Promise<Extraction> {
  const { title, reading, stream, scope, query, watermark } = given;
  const parts = await Array.fromAsync(reading.parts(stream, scope));
  const version = query.incremental === true ? versionOf(stream, parts) : undefined;
  if (version !== undefined && version === watermark) return unchanged(version);
  const files: RecordInput[] = [];
  for (const part of parts) files.push(...(await fetched(given, part, files.length)));
  if (files.length === 0) throw noFile(title);
  const table = await readFiles(files, query as FileQuery, { ...given, scratch: () => given.scratch });
  return version === undefined ? table : { ...table, watermark: () => version };
}

/** The files and their versions; undefined if the service doesn't report versions. */
function versionOf(stream: StreamData, parts: readonly Scope[]): string | undefined {
  const { modified = '' } = fileDecoding(stream)!;
  if (parts.length === 0 || parts.some((part) => (renderText(modified, part) ?? '') === '')) return undefined;
  const known = JSON.stringify(parts.map(({ partition }) => partition));
  return JSON.stringify({ files: createHash('sha256').update(known).digest('hex') });
}

function unchanged(version: string): Extraction {
  return { columns: [], batches: (async function* () {})(), watermark: () => version, unchanged: () => true };
}

/** Downloads a partition's files to the run's folder, because reading archives and workbooks starts at their end. */
async function fetched({ reading, stream, scratch, signal }: FileTableOptions, part: Scope, before: number) {
  const files: RecordInput[] = [];
  for await (const { records, scope } of reading.part(stream, part)) {
    for (const { file } of records) {
      const path = join(scratch, `file-${before + files.length + 1}`);
      await writeFile(path, (file as RecordInput).open());
      files.push({ ...nameAndTime(stream, scope), local: path, open: () => storedBytes(path, { signal }) });
    }
  }
  return files;
}

function nameAndTime(stream: StreamData, scope: Scope): Pick<RecordInput, 'name' | 'modified'> {
  const { name, modified = '' } = fileDecoding(stream)!;
  const time = readMoment(renderText(modified, scope) ?? '', 'UTC');
  return {
    name: renderText(name, scope) ?? 'the file',
    modified: time === undefined ? undefined : new Date(time.at.epochMilliseconds),
  };
}

function noFile(title: string): Problem {
  return new Problem({
    code: 'SERVICE_NO_FILE',
    family: 'job',
    message: `${title} has no file for this query`,
    next: 'check the query; the instance keeps its data, because a missing file does not mean an empty result',
  });
}
