import { countOf } from '../../lib/count-text.ts';
import type { FileFormat } from './file-options.ts';
import { formatOfFile, isTabbedName } from './files.ts';
import type { RecordInput } from './input.ts';
import type { RecordFormat } from './options.ts';
import { type CsvShape, shapeOf } from './sniff-csv.ts';
import { sampleOf, type TextSample } from './sniff-sample.ts';

interface SniffFileResult {
  /** The options for reading the file, besides `path` and `types`. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
  /** csv: undefined if the file has no rows. */
  readonly shape: CsvShape | undefined;
  readonly sample: TextSample;
  readonly format: FileFormat;
}

/** How to read a file, judging by its first and last 64 kB. */
export async function sniffFile(input: RecordInput): Promise<SniffFileResult> {
  const sample = await sampleOf(input);
  const named = formatOfFile(input.name);
  const format = named ?? kindOf(sample.head);
  const shape = format === 'csv' ? shapeOf(sample) : undefined;
  const query = {
    ...(named === undefined ? { format } : {}),
    ...(sample.encoding === undefined || format === 'xml' ? {} : { encoding: sample.encoding }),
    ...(shape === undefined ? {} : csvQuery(shape, isTabbedName(input.name) ? '\t' : ',')),
  };
  return { query, notes: notesOf(sample, shape), shape, sample, format };
}

/**
 * Detects the format of a file whose name doesn't indicate it. JSON, JSON Lines and XML begin with a character that no
 * table begins with.
 */
function kindOf(head: string): RecordFormat {
  const start = head.trimStart();
  if (start.startsWith('<')) return 'xml';
  if (/^\{.*\}\s*\n\s*\{/.test(start)) return 'jsonl';
  return /^[[{]/.test(start) ? 'json' : 'csv';
}

function csvQuery({ delimiter, skipRows, skipFooter, header }: CsvShape, usual: string) {
  return {
    ...(delimiter === undefined || delimiter === usual ? {} : { delimiter }),
    ...(skipRows === 0 ? {} : { skip_rows: skipRows }),
    ...(skipFooter === 0 ? {} : { skip_footer: skipFooter }),
    ...(header ? {} : { header }),
  };
}

function notesOf({ compression, isWhole, encoding, isGuess, tail }: TextSample, shape: CsvShape | undefined): string[] {
  const notes = [
    compression === undefined ? '' : `The file is compressed with ${compression}.`,
    isGuess ? `The encoding can't be determined from the bytes; ${encoding} is a guess. Check words with accents.` : '',
    shape !== undefined && shape.skipRows > 0 ? `Skipped ${countOf(shape.skipRows, 'line')} above the header.` : '',
    shape !== undefined && shape.skipFooter > 0 ? `Skipped ${countOf(shape.skipFooter, 'line')} at the end.` : '',
    shape?.header === false ? 'No header found: the first row contains values.' : '',
    shape !== undefined && !isWhole && tail === undefined
      ? "The end of the file wasn't examined; it may have a footer."
      : '',
  ];
  return notes.filter((note) => note !== '');
}
