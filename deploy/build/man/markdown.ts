import { bold, bullet, example, item, paragraph, roff, subheading } from './roff.ts';

/**
 * Converts the Markdown that our pages use to roff: paragraphs, lists, code blocks and tables. A heading starts a
 * subsection. A table row becomes a term (its first cell), followed by the other cells as text.
 */
export function roffOf(markdown: string): string {
  const blocks = markdown.match(/^```[\s\S]*?^```$|^(?:.+\n?)+/gm) ?? [];
  return blocks.flatMap(blockOf).join('\n');
}

/** The sections of a page, from their headings on; without what comes before the first one. */
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

/** A cell's text gets no title if it's the only cell or its column has no title. */
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

/** Code and strong text are bold; a link keeps only its text. */
export function inline(markdown: string): string {
  const parts = markdown.replaceAll(/\[([^\]]+)\]\([^)\s]+\)/g, '$1').split(/(`[^`]+`|\*\*[^*]+\*\*)/);
  return parts
    .map((part, i) => (i % 2 === 0 ? roff(part) : bold(part.replaceAll(/^(`|\*\*)|(`|\*\*)$/g, ''))))
    .join('');
}
