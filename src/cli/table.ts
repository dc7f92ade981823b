/** How one column of a table stands. */
export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60]|\p{Emoji_Presentation}/u;

/** Terminal cells that a text takes: East Asian and emoji count two, combining marks nothing. */
export function cellsOf(text: string): number {
  let cells = 0;
  for (const { segment } of segments.segment(text)) cells += wide.test(segment) ? 2 : 1;
  return cells;
}

/** Control characters would move the cursor of whoever looks at it; they are shown as pictures instead. */
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
  for (const { segment } of segments.segment(text)) {
    const next = wide.test(segment) ? 2 : 1;
    if (cells + next > width - 1) break;
    out += segment;
    cells += next;
  }
  return `${out}…`;
}

/** A plain table: titles, a rule, one line a row, two spaces between columns. Cells are clipped to `widest`. */
export function renderTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  widest = 60,
): string {
  const shown = rows.map((row) => row.map((cell) => clip(printable(cell), widest)));
  const widths = columns.map((column, c) =>
    Math.max(cellsOf(column.title), ...shown.map((row) => cellsOf(row[c] ?? ''))),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map((column, c) => pad(cells[c] ?? '', widths[c]!, column.align ?? 'left'))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [line(columns.map((column) => column.title)), rule, ...shown.map(line)].join('\n');
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - cellsOf(text)));
  return align === 'right' ? space + text : text + space;
}
