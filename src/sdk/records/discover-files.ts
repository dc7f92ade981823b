import { toProblem } from '../../lib/problem.ts';
import { batchText } from '../batch.ts';
import type { Column } from '../column.ts';
import type { Dataset } from '../dataset.ts';
import { withDefaults } from '../option.ts';
import type { DeclaredColumn } from './column-formats.ts';
import { fileOptions } from './file-options.ts';
import { formatOfFile, type ReadFilesOptions, readFiles } from './files.ts';
import type { RecordInput } from './input.ts';
import { sniffFile } from './sniff-file.ts';
import { type SniffedColumn, sniffColumns } from './sniff-types.ts';
import { compressedEnding } from './unzip.ts';
import { sheetNames } from './xlsx-book.ts';

type Scratch = ReadFilesOptions['scratch'];

/** Number of rows on which suggested column types are based. */
const headRows = 1000;

/** Whether a file can be read, judging by its extension. */
export function isReadableName(name: string): boolean {
  return formatOfFile(name) !== undefined || isArchiveName(name);
}

const archiveName = new RegExp(`\\.(?:zip|tgz|tzst|tar${compressedEnding})$`, 'i');

function isArchiveName(name: string): boolean {
  return archiveName.test(name);
}

interface Discovering extends Pick<ReadFilesOptions, 'scratch'> {
  readonly signal: AbortSignal;
}

/**
 * The tables in files: one per file, or one per sheet of a workbook. A broken file doesn't prevent the others from
 * being listed.
 */
export async function discoverFiles(
  inputs: readonly RecordInput[],
  { signal, scratch }: Discovering,
): Promise<Dataset[]> {
  const found: Dataset[] = [];
  for (const input of inputs) {
    found.push(...(await tablesOf(input, scratch)));
    signal.throwIfAborted();
  }
  return found;
}

async function tablesOf(input: RecordInput, scratch: Scratch): Promise<Dataset[]> {
  const base = { name: input.name, kind: 'file', query: { path: input.name } } as const;
  try {
    const sheets = formatOfFile(input.name) === 'xlsx' ? await sheetNames(input) : [];
    if (sheets.length === 0) return [await describe(input, base, scratch)];
    return await Promise.all(sheets.map((sheet) => describe(input, sheetOf(input, sheet), scratch)));
  } catch (thrown) {
    return [{ ...base, problem: toProblem(thrown, { code: 'CONNECTOR_THREW', family: 'bug' }) }];
  }
}

function sheetOf({ name: path }: RecordInput, sheet: string): Dataset {
  return { name: `${path}#${sheet}`, kind: 'sheet', query: { path, sheet } };
}

async function describe(input: RecordInput, dataset: Dataset, scratch: Scratch): Promise<Dataset> {
  try {
    const isText = dataset.kind === 'file' && !isArchiveName(input.name);
    const { query, notes, shape } = isText ? await sniffFile(input) : { query: {}, notes: [], shape: undefined };
    const tail = shape?.rows ?? [];
    return await withColumns(input, { ...dataset, query: { ...dataset.query, ...query } }, { notes, tail, scratch });
  } catch (thrown) {
    return { ...dataset, problem: toProblem(thrown, { code: 'CONNECTOR_THREW', family: 'bug' }) };
  }
}

interface Sniffed {
  readonly notes: readonly string[];
  /** Rows near the end of the file, in addition to the rows read from its beginning. */
  readonly tail: readonly (readonly string[])[];
  readonly scratch: Scratch;
}

async function withColumns(input: RecordInput, dataset: Dataset, { notes, tail, scratch }: Sniffed): Promise<Dataset> {
  const { columns, rows } = await readHead(input, dataset.query, scratch);
  const format = dataset.query.format ?? formatOfFile(input.name);
  const found = sniffColumns(
    columns.map(({ name }) => name),
    [...rows, ...tail.map((row) => row.map((cell) => (cell === '' ? null : cell)))],
  );
  // Strings in JSON and in workbooks are meant to be strings, unless they look like numbers or dates in a local format.
  const isLoose = format === 'csv' || format === 'xml';
  const typed = columns.map((column, c): DeclaredColumn & Column => {
    const isKept = column.type !== 'text' || (!isLoose && found[c]!.format === undefined);
    return isKept ? column : { name: column.name, ...declaredOf(found[c]!) };
  });
  const declared = typed.filter((_, c) => columns[c]!.type === 'text').filter(({ type }) => type !== 'text');
  const types = Object.fromEntries(
    declared.map(({ name, ...one }) => [name, one.format === undefined ? one.type : one]),
  );
  const remarks = [...notes, ...columns.flatMap(({ name }, c) => notesOn(name, columns[c]!.type, found[c]!))];
  return {
    ...dataset,
    columns: typed.map(({ name, type, format }) => ({ name, type, ...(format === undefined ? {} : { format }) })),
    query: { ...dataset.query, ...(declared.length > 0 ? { types } : {}) },
    ...(remarks.length === 0 ? {} : { notes: remarks }),
  };
}

/** The column's declaration, without the property that only the notes use. */
function declaredOf({ either: _, ...declared }: SniffedColumn): Omit<SniffedColumn, 'either'> {
  return declared;
}

function notesOn(name: string, type: string, { either, first_year }: SniffedColumn): string[] {
  if (type !== 'text') return [];
  if (first_year !== undefined)
    return [
      `${name}: two-digit years mean ${first_year} to ${first_year + 99}, as \`first_year\` declares; correct it if that's wrong.`,
    ];
  if (either === undefined) return [];
  const [one, other] = either.map(
    ({ type: each, format }) => `{type: ${each}${format ? `, format: "${format}"` : ''}}`,
  );
  const what = either.some(({ type: each }) => each === 'integer' || each === 'decimal')
    ? 'thousands and decimals'
    : 'day and month';
  return [
    `${name}: ${what} can't be told apart, so the column stays text; in \`types\`, declare either ${one} or ${other}.`,
  ];
}

async function readHead(input: RecordInput, query: Dataset['query'], scratch: Scratch) {
  const { columns, batches } = await readFiles([input], withDefaults(fileOptions, query), { scratch });
  const rows: (string | null)[][] = [];
  for await (const batch of batches) {
    rows.push(...batchText(batch));
    if (rows.length >= headRows) break;
  }
  return { columns, rows: rows.slice(0, headRows) };
}
