import { type Canvas, paint, type Tone } from './paint.ts';

/** How one column of a table stands. */
export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** The colour of a cell by what stands in it. */
  readonly tone?: (text: string) => Tone | undefined;
}

/** Where a table is shown: a terminal gets colours and no line wider than itself. */
export interface Paper extends Canvas {
  readonly columns?: number;
}

export interface TableOptions {
  /** Cells are cut to this many terminal cells; 60 unless told. */
  readonly widest?: number;
  readonly paper?: Paper;
}

let segmenter: Intl.Segmenter | undefined;

/** What a person takes for one character. Made for the first text that needs it: its tables take ten milliseconds to load. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]|\p{Emoji_Presentation}/u;
/** A column is not made narrower than this for the sake of a narrow terminal. */
const narrowest = 8;

/** Terminal cells that a text takes: East Asian and emoji count two, combining marks nothing. */
export function cellsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of graphemesOf(text)) cells += wide.test(segment) ? 2 : 1;
  return cells;
}

/** Replaces control characters with visible symbols. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (c) => {
    const code = c.codePointAt(0) ?? 0;
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    return code === 127 ? '␡' : '�';
  });
}

/** Cuts to at most `width` terminal cells, the last one an ellipsis when something is missing. */
export function clip(text: string, width: number): string {
  if (cellsOf(text) <= width) return text;
  let out = '';
  let cells = 0;
  for (const { segment } of graphemesOf(text)) {
    const next = wide.test(segment) ? 2 : 1;
    if (cells + next > width - 1) break;
    out += segment;
    cells += next;
  }
  return `${out}…`;
}

/** A plain table: titles, a rule, one line a row, two spaces between columns. */
export function renderTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  { widest = 60, paper }: TableOptions = {},
): string {
  const texts = rows.map((row) => columns.map((_, c) => clip(printable(row[c] ?? ''), widest)));
  const natural = columns.map(({ title }, c) => Math.max(cellsOf(title), ...texts.map((row) => cellsOf(row[c]!))));
  const widths = fitted(natural, paper);
  const line = (cells: readonly string[], tones: boolean): string =>
    columns
      .map(({ align = 'left', tone }, c) => {
        const text = clip(cells[c]!, widths[c]!);
        const space = ' '.repeat(Math.max(0, widths[c]! - cellsOf(text)));
        const shown = tones ? paint(text, tone?.(cells[c]!), paper) : text;
        return align === 'right' ? space + shown : shown + space;
      })
      .join('  ')
      .trimEnd();
  const titles = line(
    columns.map(({ title }) => title),
    false,
  );
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [titles, rule, ...texts.map((row) => line(row, true))].join('\n');
}

/** On a terminal that is too narrow the widest column gives way, again and again, until all fits or none can. */
function fitted(natural: readonly number[], paper: Paper | undefined): number[] {
  const widths = [...natural];
  const room = paper?.isTTY === true ? paper.columns || 80 : Number.POSITIVE_INFINITY;
  for (let over = total(widths) - room; over > 0; over = total(widths) - room) {
    const most = Math.max(...widths);
    if (most <= narrowest) break;
    const next = Math.max(narrowest, most - over, ...widths.filter((width) => width < most));
    widths[widths.lastIndexOf(most)] = next === most ? most - 1 : next;
  }
  return widths;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + 2, -2);
}
