import { bold, bullet, example, item, paragraph, roff, subheading } from './roff.ts';

/**
 * Converts the Markdown of Sluice's docs to roff: paragraphs, lists, code blocks and tables. A heading starts a
 * subsection. A table row becomes a term (its first cell), followed by the text of the other cells.
 */
export function roffOf(markdown: string): string {
  const blocks = markdown.match(/^```[\s\S]*?^```$|^(?:.+\n?)+/gm) ?? [];
  return blocks.flatMap(blockOf).join('\n');
}

/** The sections of a page, each starting at its heading. Text before the first heading is omitted. */
export function sectionsOf(page: string): { readonly title: string; readonly text: string }[] {
  const [, ...sections] = page.split(/^## /m);
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    return { title, text: lines.join('\n') };
  });
}

function blockOf(block: string): string[] {
  const lines = block.trimEnd().split('\n');
  const [first = ''] = lines;
  if (first.startsWith('```')) return [example(lines.slice(1, -1).join('\n'))];
  if (first.startsWith('#')) return [subheading(first.replace(/^#+ /, ''))];
  if (first.startsWith('|')) return rowsOf(lines);
  if (/^(-|\d+\.) /.test(first)) return listOf(block.trimEnd());
  return [paragraph(inline(block))];
}

function listOf(block: string): string[] {
  return block.split(/^(?=(?:-|\d+\.) )/m).map((entry) => {
    const [, mark = '', text = ''] = /^(-|\d+\.) ([\s\S]*)$/.exec(entry) ?? [];
    return bullet(mark === '-' ? '\\(bu' : mark, inline(text));
  });
}

function rowsOf([head = '', , ...rows]: readonly string[]): string[] {
  const titles = cellsOf(head);
  return rows.map((row) => {
    const [term = '', ...cells] = cellsOf(row);
    const texts = cells.flatMap((cell, i) => (cell === '' ? [] : [textOf(cell, titles[i + 1]!, cells.length)]));
    return item(inline(term), texts.join(' '));
  });
}

/** A cell's text is preceded by its column's title, unless the column has no title or the cell is the only one. */
function textOf(cell: string, title: string, count: number): string {
  if (title === '' || count === 1) return inline(cell);
  return cell === '**required**' ? `${bold('required')}.` : `${roff(title)}: ${inline(cell)}.`;
}

function cellsOf(row: string): string[] {
  return row
    .replaceAll(/^\|\s*|\s*\|$/g, '')
    .split(/\s*(?<!\\)\|\s*/)
    .map((cell) => cell.replaceAll('\\|', '|'));
}

/** Code and strong text become bold. Only the text of a link is kept. */
export function inline(markdown: string): string {
  const parts = markdown.replaceAll(/\[([^\]]+)\]\([^)\s]+\)/g, '$1').split(/(`[^`]+`|\*\*[^*]+\*\*)/);
  return parts
    .map((part, i) => (i % 2 === 0 ? roff(part) : bold(part.replaceAll(/^(`|\*\*)|(`|\*\*)$/g, ''))))
    .join('');
}
