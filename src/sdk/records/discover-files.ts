import { Problem, toProblem } from '../../lib/problem.ts';
import { batchText } from '../batch.ts';
import type { Column, ColumnType } from '../column.ts';
import type { Dataset } from '../dataset.ts';
import { withDefaults } from '../option.ts';
import { canonicalText } from './canonical.ts';
import { otherDelimiterIn } from './csv-header.ts';
import { fileOptions } from './file-options.ts';
import { formatOfFile, readFiles } from './files.ts';
import type { RecordInput } from './input.ts';
import { sheetNames } from './xlsx-book.ts';

/** Types of csv cells are suggested from this many rows. */
const headRows = 1000;

/** Whether the extension says that files of this name can be read. */
export function isReadableName(name: string): boolean {
  return formatOfFile(name) !== undefined || /\.zip$/i.test(name);
}

/** The tables in files: one per file, or one per sheet of a workbook. A broken file doesn't hide the others. */
export async function discoverFiles(inputs: readonly RecordInput[], signal: AbortSignal): Promise<Dataset[]> {
  const found: Dataset[] = [];
  for (const input of inputs) {
    found.push(...(await tablesOf(input)));
    signal.throwIfAborted();
  }
  return found;
}

async function tablesOf(input: RecordInput): Promise<Dataset[]> {
  const base = { name: input.name, kind: 'file', query: { path: input.name } } as const;
  try {
    const sheets = formatOfFile(input.name) === 'xlsx' ? await sheetNames(input) : [];
    if (sheets.length === 0) return [await describe(input, base)];
    return await Promise.all(sheets.map((sheet) => describe(input, sheetOf(input, sheet))));
  } catch (thrown) {
    return [{ ...base, problem: toProblem(thrown, { code: 'CONNECTOR_THREW', family: 'bug' }) }];
  }
}

function sheetOf({ name: path }: RecordInput, sheet: string): Dataset {
  return { name: `${path}#${sheet}`, kind: 'sheet', query: { path, sheet } };
}

async function describe(input: RecordInput, dataset: Dataset): Promise<Dataset> {
  try {
    return await withColumns(input, dataset);
  } catch (thrown) {
    const delimiter = delimiterAfter(thrown);
    if (delimiter !== undefined && dataset.query.delimiter === undefined)
      return describe(input, { ...dataset, query: { ...dataset.query, delimiter } });
    return { ...dataset, problem: toProblem(thrown, { code: 'CONNECTOR_THREW', family: 'bug' }) };
  }
}

/** The delimiter that the data seems to have, if the default one was refused. */
function delimiterAfter(thrown: unknown): string | undefined {
  const isOther = thrown instanceof Problem && thrown.code === 'CSV_DELIMITER';
  return isOther ? otherDelimiterIn(thrown.seen ?? '') : undefined;
}

async function withColumns(input: RecordInput, dataset: Dataset): Promise<Dataset> {
  const { columns, rows } = await readHead(input, dataset.query);
  if (formatOfFile(input.name) !== 'csv') return { ...dataset, columns };
  const typed = columns.map(({ name }, c): Column => ({ name, type: typeOf(rows.map((row) => row[c] ?? null)) }));
  const types = Object.fromEntries(typed.filter(isTyped).map(({ name, type }) => [name, type]));
  return { ...dataset, columns: typed, query: { ...dataset.query, ...(typed.some(isTyped) ? { types } : {}) } };
}

const isTyped = ({ type }: Column): boolean => type !== 'text';

async function readHead(input: RecordInput, query: Dataset['query']) {
  const { columns, batches } = await readFiles([input], withDefaults(fileOptions, query));
  const rows: (string | null)[][] = [];
  for await (const batch of batches) {
    rows.push(...batchText(batch));
    if (rows.length >= headRows) break;
  }
  return { columns, rows: rows.slice(0, headRows) };
}

const guesses: readonly (readonly [ColumnType, (text: string) => boolean])[] = [
  // A number with a leading zero or a plus sign is a code: a postcode, an article, a telephone.
  ['integer', (text) => /^-?(0|[1-9]\d{0,17})$/.test(text)],
  ['decimal', (text) => /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)],
  ['boolean', (text) => /^(true|false)$/i.test(text)],
  ...(['date', 'timestamp', 'timestamptz', 'uuid'] as const).map(
    (type) => [type, (text: string) => canonicalText(text, type) !== undefined] as const,
  ),
];

/** The narrowest type that all values have; text if there are none. */
function typeOf(cells: readonly (string | null)[]): ColumnType {
  const values = cells.filter((cell) => cell !== null);
  if (values.length === 0) return 'text';
  return guesses.find(([, fits]) => values.every(fits))?.[0] ?? 'text';
}
