import { type Canvas, paint, type Tone } from './paint.ts';

/** The layout of one column of a table. */
export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Returns a cell's color, depending on its text. */
  readonly tone?: (text: string) => Tone | undefined;
}

/**
 * The stream that a table is written to. On a terminal, the table is colored and its lines fit the terminal's width.
 */
export interface Paper extends Canvas {
  readonly columns?: number;
}

export interface TableOptions {
  /** Maximum width of a cell in terminal columns; default 60. */
  readonly widest?: number;
  readonly paper?: Paper;
}

let segmenter: Intl.Segmenter | undefined;

/**
 * Splits strings into user-perceived characters. The segmenter is created on first use, because loading its tables
 * takes ten milliseconds.
 */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]|\p{Emoji_Presentation}/u;
/** Minimum width of a column on a narrow terminal. */
const narrowest = 8;

/**
 * The width of a string in terminal columns. East Asian characters and emoji count as two columns, combining marks as
 * zero.
 */
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

/** Truncates text to at most `width` terminal columns, and marks the cut with an ellipsis. */
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

/** Formats a plain table: titles, a rule, and one line per row, with two spaces between columns. */
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

/** Formats a result's first rows as a table. A null is shown as `∅`. */
export function renderRows(
  columns: readonly { readonly name: string; readonly type: string }[],
  rows: readonly (readonly (string | null)[])[],
): string {
  const titles = columns.map(({ name, type }) => ({ title: `${name} (${type})` }));
  const cells = rows.map((row) => row.map((cell) => cell ?? '∅'));
  return renderTable(titles, cells, { widest: 32, paper: process.stdout });
}

/** If the terminal is too narrow, repeatedly shrinks the widest column until the table fits or no column can shrink. */
function fitted(natural: readonly number[], paper: Paper | undefined): number[] {
  const widths = [...natural];
  const room = paper?.isTTY === true ? paper.columns || 80 : Number.POSITIVE_INFINITY;
  for (let over = total(widths) - room; over > 0; over = total(widths) - room) {
    const widest = Math.max(...widths);
    if (widest <= narrowest) break;
    const next = Math.max(narrowest, widest - over, ...widths.filter((width) => width < widest));
    widths[widths.lastIndexOf(widest)] = next === widest ? widest - 1 : next;
  }
  return widths;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + 2, -2);
}
