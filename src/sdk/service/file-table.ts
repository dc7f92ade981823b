import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../lib/problem.ts';
import type { Extraction } from '../connector.ts';
import { type FileQuery, readFiles } from '../records/files.ts';
import type { RecordInput } from '../records/input.ts';
import { storedBytes } from '../records/stored-bytes.ts';
import type { StreamData } from './description.ts';
import { readMoment } from './moment.ts';
import type { Chunk } from './reading.ts';
import { renderText, type Scope, type Template } from './template.ts';

/** Answers that are files. */
export interface FileDecoding {
  readonly as: 'file';
  /** Its name, whose ending tells what is in it. */
  readonly name: Template;
  /** When it was last modified. */
  readonly modified?: Template;
}

interface Given {
  readonly title: string;
  /** The run's private folder. */
  readonly scratch: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** How the answers of a stream are files; undefined where they are none. */
export function fileDecoding({ decode }: Pick<StreamData, 'decode'>): FileDecoding | undefined {
  return typeof decode === 'object' && decode.as === 'file' ? decode : undefined;
}

/** The table in the files that a stream answers with. @throws Problem where none came: it is no empty table. */
export async function fileTable(
  chunks: AsyncIterable<Chunk>,
  decoding: FileDecoding,
  { title, scratch, query, signal }: Given,
): Promise<Extraction> {
  const files: RecordInput[] = [];
  for await (const { records, scope } of chunks) {
    for (const { file } of records) {
      const path = join(scratch, `file-${files.length + 1}`);
      // Archives and workbooks are read from their end, so each file needs one of its own.
      await writeFile(path, (file as RecordInput).open());
      files.push({ ...told(decoding, scope), local: path, open: () => storedBytes(path, { signal }) });
    }
  }
  if (files.length === 0) throw noFile(title);
  return readFiles(files, query as FileQuery);
}

function told({ name, modified }: FileDecoding, scope: Scope): Pick<RecordInput, 'name' | 'modified'> {
  const time = modified === undefined ? undefined : readMoment(renderText(modified, scope) ?? '', 'UTC');
  return {
    name: renderText(name, scope) ?? 'the file',
    ...(time === undefined ? {} : { modified: new Date(time.at.epochMilliseconds) }),
  };
}

function noFile(title: string): Problem {
  return new Problem({
    code: 'SERVICE_NO_FILE',
    family: 'job',
    message: `${title} has no file for this`,
    next: 'look at what the query asks for; nothing is sent, because an export that did not come is no empty one',
  });
}
