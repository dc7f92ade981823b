import { Problem } from '../../lib/problem.ts';
import type { Extraction } from '../extraction.ts';
import type { OptionValues } from '../option.ts';
import { declaredColumns } from './columns.ts';
import type { FileFormat, fileOptions } from './file-options.ts';
import type { RecordInput } from './input.ts';
import { formatOfName, type RecordOptions } from './options.ts';
import { readRecords } from './reader.ts';
import { unpackFiles } from './unpack-files.ts';
import { compressedEnding } from './unzip.ts';

/** The values of `fileOptions`, with defaults. */
export type FileQuery = OptionValues<typeof fileOptions>;

/** What {@link readFiles} needs besides the query. */
export interface ReadFilesOptions extends Pick<RecordOptions, 'warn' | 'keptColumns'> {
  /** Creates, if needed, a private folder for unpacked files. */
  scratch(): string;
  /** Whether to compare the query with the first file, and to warn if they don't fit. */
  readonly isPreview?: boolean | undefined;
}

/** Reads whole files as one table. Their extensions determine the format, unless the query sets it. */
export async function readFiles(
  files: readonly RecordInput[],
  query: FileQuery,
  { warn, keptColumns, isPreview = false, scratch }: ReadFilesOptions,
): Promise<Extraction> {
  if (files.length === 0) return { columns: declaredColumns(query), batches: none() };
  const inputs = await unpackFiles(files, { ...query, scratch });
  const isTabbed = query.delimiter === ',' && inputs.every(({ name }) => isTabbedName(name));
  const format = formatOf(inputs, query);
  if (isPreview && format !== 'xlsx') {
    const { shapeWarning } = await import('./compare-shape.ts');
    const found = await shapeWarning(inputs[0]!, { ...query, format });
    if (found !== undefined) warn?.(found);
  }
  return await readRecords(inputs, {
    ...query,
    format,
    delimiter: isTabbed ? '\t' : query.delimiter,
    inputColumn: query.path_column,
    modifiedColumn: query.modified_column,
    warn,
    keptColumns,
  });
}

async function* none(): AsyncGenerator<never> {}

const tabbedName = new RegExp(`\\.tsv${compressedEnding}$`, 'i');

/** Whether a file's extension indicates that its delimiter is a tab. */
export function isTabbedName(name: string): boolean {
  return tabbedName.test(name);
}

/** The format that the extension indicates, if any. */
export function formatOfFile(name: string): FileFormat | undefined {
  return /\.xlsx$/i.test(name) ? 'xlsx' : formatOfName(name);
}

function formatOf(inputs: readonly RecordInput[], { format }: FileQuery): FileFormat {
  if (format !== undefined) return format;
  const formats = new Set(inputs.map(({ name }) => formatOfFile(name)));
  const [only] = formats;
  if (formats.size === 1 && only !== undefined) return only;
  throw new Problem({
    code: 'FILE_FORMAT',
    family: 'config',
    message:
      formats.size > 1 ? 'the files have different extensions' : 'the file name extension does not identify the format',
    seen: inputs
      .slice(0, 3)
      .map(({ name }) => name)
      .join(', '),
    allowed:
      '.csv, .tsv, .json, .jsonl, .ndjson, .xml, or one of these with .gz or .zst; .xlsx; .zip or .tar with such files',
    next: 'set `format`',
  });
}
