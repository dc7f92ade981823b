import type { RunWarning } from '../../lib/run-warnings.ts';
import { type FileQuery, isTabbedName } from './files.ts';
import type { RecordInput } from './input.ts';
import { delimiterOf, type RecordFormat } from './options.ts';
import type { CsvShape } from './sniff-csv.ts';
import { sniffFile } from './sniff-file.ts';
import type { TextSample } from './sniff-sample.ts';

/** An option whose value doesn't fit the file. */
interface Difference {
  readonly option: string;
  readonly set: unknown;
  readonly found: unknown;
}

/**
 * A warning if a file looks as if the query's options were meant for another one, judging by the file's first and last
 * 64 kB; undefined if it fits them. A title row, a footer or another encoding can make every row wrong without an error.
 */
export async function shapeWarning(
  input: RecordInput,
  query: FileQuery & { readonly format: RecordFormat },
): Promise<RunWarning | undefined> {
  const { sample, shape, format } = await sniffFile(input);
  const all: Difference[] = [
    { option: 'format', set: query.format, found: format },
    ...encodingDifference(sample, query),
    ...(shape === undefined || query.format !== 'csv'
      ? []
      : shapeDifferences({ input, query, shape, head: sample.head })),
  ];
  const differences = all.filter(({ set, found }) => set !== found);
  if (differences.length === 0) return undefined;
  const textOf = (which: 'set' | 'found') =>
    differences.map(({ option, [which]: value }) => `${option}: ${textOfValue(value)}`).join(', ');
  return {
    code: 'FILE_LOOKS_DIFFERENT',
    message: `${input.name} doesn't look like a file with the query's options`,
    seen: textOf('set'),
    next: `compare them with the file, which looks like \`${textOf('found')}\`; \`sluice discover PATH\` shows more`,
  };
}

function textOfValue(value: unknown): string {
  return value === undefined
    ? 'utf-8'
    : typeof value === 'string' && /^[a-z]/i.test(value)
      ? value
      : JSON.stringify(value);
}

function encodingDifference(sample: TextSample, { encoding, format }: FileQuery): Difference[] {
  // An XML document declares its encoding itself, and a byte-order mark takes precedence.
  if (format === 'xml' || sample.isMarked) return [];
  const set = encoding?.toLowerCase();
  const isUtf8Set = set === undefined || /^utf-?8$/.test(set);
  if (sample.encoding === undefined) {
    const isAmbiguous = isUtf8Set || !/[^\0-\x7f]/.test(sample.head);
    return isAmbiguous ? [] : [{ option: 'encoding', set, found: 'utf-8' }];
  }
  // The bytes show that the text isn't UTF-8, but not which code page it's in.
  if (sample.isGuess && !isUtf8Set) return [];
  return [{ option: 'encoding', set, found: sample.encoding }];
}

interface Compared {
  readonly input: RecordInput;
  readonly query: FileQuery;
  readonly shape: CsvShape;
  readonly head: string;
}

/** Only files in the usual dialect can be examined. */
function shapeDifferences({ input, query, shape, head }: Compared): Difference[] {
  const { dialect, quote, escape: escaper, comment } = query;
  if (dialect !== 'csv' || quote !== '"' || escaper !== undefined || comment !== undefined) return [];
  const isTabbed = query.delimiter === ',' && isTabbedName(input.name);
  const set = isTabbed ? '\t' : delimiterOf(query.delimiter, dialect);
  // A file with one column has no delimiter.
  const hasColumns = shape.rows.some((row) => row.length > 1);
  return [
    ...(hasColumns ? [{ option: 'delimiter', set, found: shape.delimiter ?? set }] : []),
    { option: 'header', set: query.header, found: shape.header },
    ...(isBlank(head, query.skip_rows, shape.skipRows)
      ? []
      : [{ option: 'skip_rows', set: query.skip_rows, found: shape.skipRows }]),
    { option: 'skip_footer', set: query.skip_footer, found: shape.skipFooter },
  ];
}

/** Whether all lines between two line numbers are blank, so that it doesn't matter at which of them the table starts. */
function isBlank(head: string, one: number, other: number): boolean {
  const lines = head.split(/\r\n|\n|\r/).slice(Math.min(one, other), Math.max(one, other));
  return lines.every((line) => line.trim() === '');
}
