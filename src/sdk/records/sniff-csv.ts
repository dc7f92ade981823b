import type { TextSample } from './sniff-sample.ts';
import { isValue } from './sniff-types.ts';

/** The options for reading a text as CSV, and its rows. */
export interface CsvShape {
  /** The delimiter; absent if a `sep=` line sets it. */
  readonly delimiter?: string;
  /** Lines above the header. */
  readonly skipRows: number;
  /** Lines below the last row. */
  readonly skipFooter: number;
  readonly header: boolean;
  /** The rows at the start and the end of the file, without header and footer. */
  readonly rows: readonly (readonly string[])[];
}

interface TextRow {
  readonly cells: readonly string[];
  /** Number of lines, including line breaks in the row and blank lines before it. */
  readonly lines: number;
}

const delimiters = [',', ';', '\t', '|', '\x01', '\x1f'];
/** If a row's first cell contains only such a word, it's a totals row. */
const totalWords = /^(?:grand total|total|sum|summe|gesamt|gesamtsumme|totale|totaal|suma|somme)\s*:?$/i;
const maxFooterRows = 20;

/** A CSV text's delimiter, title rows, header and footer; undefined if it has no rows. */
export function shapeOf({ head, tail, isWhole }: Pick<TextSample, 'head' | 'tail' | 'isWhole'>): CsvShape | undefined {
  const [line, declared] = /^"?sep=([\t -!#-~])"?\r?\n/i.exec(head) ?? [];
  const text = head.slice(line?.length ?? 0);
  const delimiter = declared ?? likelyDelimiter(text, isWhole);
  const rows = wholeRows(text, delimiter, isWhole);
  if (rows.length === 0) return undefined;
  const width = typicalWidth(rows);
  const first = firstRow(rows, width);
  const last = tail === undefined ? [] : wholeRows(tail, delimiter, true);
  const end = footerRows(tail === undefined && isWhole ? rows.slice(first + 1) : last, width);
  const table = rows.slice(first, tail === undefined && isWhole ? rows.length - end : undefined);
  const header = isHeader(table);
  const titleLines = rows.slice(0, first).reduce((sum, row) => sum + row.lines, 0);
  const ending = tail === undefined ? rows : last;
  const shown = [...table.slice(header ? 1 : 0), ...last.slice(0, last.length - end)];
  return {
    ...(declared === undefined ? { delimiter } : {}),
    skipRows: titleLines === 0 ? 0 : titleLines + (line === undefined ? 0 : 1),
    skipFooter: end === 0 ? 0 : ending.slice(-end).reduce((sum, row) => sum + 1 + breaksIn(row.cells), 0),
    header,
    rows: shown.filter(({ cells }) => cells.length === width).map(({ cells }) => cells),
  };
}

/**
 * The delimiter that splits the most rows into the same number of cells or, if several do, into the most cells. If
 * there is only one column, a delimiter that no value contains.
 */
function likelyDelimiter(text: string, isWhole: boolean): string {
  const scored = delimiters.map((delimiter) => {
    const rows = wholeRows(text, delimiter, isWhole);
    const width = typicalWidth(rows);
    const first = firstRow(rows, width);
    // Lines above a table that has no header aren't a title: they're the header of a single column.
    const isTable = width > 1 && (first === 0 || isHeader(rows.slice(first)));
    const count = isTable ? rows.filter(({ cells }) => cells.length === width).length : 0;
    return { delimiter, count, width, isUnused: rows.every(({ cells }) => cells.length === 1) };
  });
  const best = scored.reduce((a, b) => (b.count > a.count || (b.count === a.count && b.width > a.width) ? b : a));
  return best.count > 0 ? best.delimiter : (scored.find(({ isUnused }) => isUnused)?.delimiter ?? ',');
}

/** The most frequent number of cells in a row; if several numbers are equally frequent, the largest. */
function typicalWidth(rows: readonly TextRow[]): number {
  const counts = new Map<number, number>();
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [best] = [...counts].toSorted(([a, n], [b, m]) => m - n || b - a);
  return best?.[0] ?? 0;
}

/** The header: the first row of the usual width in which at least half of the cells have a value. */
function firstRow(rows: readonly TextRow[], width: number): number {
  const full = Math.max(1, Math.ceil(width / 2));
  const found = rows.findIndex(
    ({ cells }) => cells.length === width && cells.filter((cell) => cell !== '').length >= full,
  );
  return Math.max(0, found);
}

/**
 * Counts only rows at the very end: anywhere else, a row with a different width is an error in the file, because data
 * follows it.
 */
function footerRows(rows: readonly TextRow[], width: number): number {
  const end = rows.slice(-maxFooterRows);
  const isFooter = ({ cells }: TextRow) => cells.length !== width || totalWords.test(cells[0]!.trim());
  return end.length - 1 - end.findLastIndex((row) => !isFooter(row));
}

/** Whether the first row is a header: its names are unique, and none looks like a value. */
function isHeader(table: readonly TextRow[]): boolean {
  const names = table[0]!.cells.filter((name) => name !== '');
  const isUnique = new Set(names).size === names.length;
  return isUnique && !names.some((name) => isValue(name.trim()));
}

const breaksIn = (cells: readonly string[]): number => cells.join('').match(/\r\n|[\r\n]/g)?.length ?? 0;

/**
 * The rows of a text. Includes the last row only if the text is complete. Returns none if other characters follow a
 * closing quote.
 */
function wholeRows(text: string, delimiter: string, isComplete: boolean): TextRow[] {
  const rows: TextRow[] = [];
  let cells: string[] = [];
  let lines = 1;
  let cell = '';
  const end = () => {
    cells.push(cell);
    if (cells.length > 1 || cell !== '') {
      rows.push({ cells, lines });
      lines = 0;
    }
    cells = [];
    cell = '';
    lines += 1;
  };
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === '"' && cell === '') {
      const close = closingQuote(text, i + 1);
      if (close < 0) break;
      cell = text.slice(i + 1, close).replaceAll('""', '"');
      lines += breaksIn([cell]);
      i = close;
      if (i + 1 < text.length && ![delimiter, '\n', '\r'].includes(text[i + 1]!)) return [];
    } else if (character === delimiter) {
      cells.push(cell);
      cell = '';
    } else if (character === '\n' || character === '\r') {
      if (character === '\r' && text[i + 1] === '\n') i++;
      end();
    } else cell += character;
  }
  if (isComplete && (cell !== '' || cells.length > 0)) end();
  return rows;
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}
