import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { escapeHtml } from '../../src/lib/html.ts';
import type { Picture } from './command-lines.ts';
import type { Walk } from './machine.ts';

/** A piece of text in one style, and where it starts. */
interface Piece {
  readonly column: number;
  readonly text: string;
  readonly style: string;
}

const columns = 116;
const cellWidth = 7.2;
const lineHeight = 18;
const margin = 16;
const width = Math.ceil(columns * cellWidth + 2 * margin);
const styles: Readonly<Record<string, string>> = { '0': '', '2': 'quiet', '31': 'bad', '32': 'good', '33': 'waiting' };

/** The control character ESC as a visible one. */
const visibleEscape = '␛';

/** What differs each time or on each machine. */
const normal: readonly (readonly [RegExp, string])[] = [
  [/\/[\w./-]*sluice-journey-\w+/g, '/home/ann/shop'],
  [/127\.0\.0\.1:\d+\/api/g, '127.0.0.1:8080/api'],
  [/\b[0-9a-f]{40}\b/g, '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c'],
  [/\b[0-9a-f]{32}\b/g, '4d1f0a6b7c8e4f2a9b3c5d7e8f901234'],
  [/(\d{8}-\d{6}-)[0-9a-f]{6}\b/g, '$17c41e9'],
  [/\bprocess \d+/g, 'process 4711'],
  [/pid=\d+/g, 'pid=4711'],
  [/\b0 ms ago/g, '412 ms ago'],
  // A time server may set the machine's clock at any time.
  [/[^\n]*\bclock\.set\b[^\n]*\n/g, ''],
  // The column of durations in the table that `sync` prints.
  [/(requests) +(time {2}result)/g, '$1    $2'],
  [/(─{8}) {2}─+( {2}─{9})\r/g, '$1  ──────$2\r'],
  [/(\d) +[\d.]+ m?s( {2}␛)/g, '$1  412 ms$2'],
];

const normalized = (text: string): string => normal.reduce((all, [from, to]) => all.replaceAll(from, to), text);

/**
 * What a terminal shows or, if the commands wrote a page with the picture's name, what a browser shows. The viewer's
 * color scheme decides whether the picture is light or dark.
 */
export function pictureOf(
  { place, path, alt }: Picture & { readonly place: string },
  { output, folder }: Walk,
): string {
  const page = join(folder, `${basename(path, '.svg')}.html`);
  if (existsSync(page)) return browserPicture(alt, normalized(readFileSync(page, 'utf8')));
  const titled = output
    .replaceAll('\u001b', visibleEscape)
    .split(`${visibleEscape}]0;`)
    .filter((part) => part.startsWith(`${place}\u0007`));
  return terminalPicture(alt, normalized(titled.map((part) => part.slice(place.length + 1)).join('')));
}

function terminalPicture(alt: string, output: string): string {
  const lines = linesOf(output);
  const height = lines.length * lineHeight + 2 * margin;
  const texts = lines.flatMap((pieces, row) => pieces.map((piece) => textAt(piece, margin + (row + 0.7) * lineHeight)));
  const style = `
:root { --ground: #f6f8fa; --line: #d1d9e0; --ink: #1f2328; --quiet: #59636e; --good: #116329; --bad: #a40e26; --waiting: #7d4e00; }
@media (prefers-color-scheme: dark) { :root { --ground: #151b23; --line: #3d444d; --ink: #f0f6fc; --quiet: #9198a1;
  --good: #56d364; --bad: #ff8f87; --waiting: #e3b341; } }
text { fill: var(--ink); font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
.typed { font-weight: 700; } .quiet { fill: var(--quiet); } .good { fill: var(--good); } .bad { fill: var(--bad); } .waiting { fill: var(--waiting); }
`;
  return framed({ alt, width, height, style, content: texts.join('\n') });
}

interface Frame {
  readonly alt: string;
  readonly width: number;
  readonly height: number;
  readonly style: string;
  readonly content: string;
}

const framed = ({ alt, width, height, style, content }: Frame): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${escapeHtml(alt)}</title>
<style>${style}
rect { fill: var(--ground); stroke: var(--line); }</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${content}
</svg>
`;

/** Every word has a fixed position, so that columns are aligned in any font. */
function textAt({ column, text, style }: Piece, y: number): string {
  const kind = style === '' ? '' : ` class="${style}"`;
  return `<text x="${rounded(margin + column * cellWidth)}" y="${rounded(y)}" textLength="${rounded(text.length * cellWidth)}"${kind}>${escapeHtml(text)}</text>`;
}

const rounded = (length: number): number => Math.round(length * 10) / 10;

/** The screen after the output, because progress is drawn over earlier lines. */
function linesOf(output: string): Piece[][] {
  const lines: Piece[][] = [];
  let [row, column, style] = [0, 0, ''];
  // Adds an empty line before each prompt, unless it follows another prompt.
  const spaced = output.replaceAll(/(?<=\n(?!\$ )[^\n]*\n)(?=\$ )/g, '\n');
  for (const [token, count, command] of spaced.matchAll(/␛\[(\d*)([A-Za-z])|\r|\n|[^␛\r\n]+/g)) {
    lines[row] ??= [];
    if (token === '\n') row++;
    else if (token === '\r') column = 0;
    else if (command === 'A') row -= Number(count);
    else if (command === 'K') lines[row] = [];
    else if (command === 'm') style = styles[count!]!;
    else if (command === undefined) {
      lines[row]!.push(...piecesOf(token, { column, style: token.startsWith('$ ') ? 'typed' : style }));
      column += token.length;
    }
  }
  while (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

/** Spaces are left out. */
function piecesOf(text: string, { column, style }: Omit<Piece, 'text'>): Piece[] {
  return [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: words, index }) => ({
    column: column + index,
    text: words,
    style,
  }));
}

/** The page as XHTML in a picture. */
function browserPicture(alt: string, page: string): string {
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  const [, body = ''] = /<body>(.*?)<\/body>/s.exec(page) ?? [];
  const wellFormed = body.replaceAll('&nbsp;', '&#160;').replaceAll(/<(br|input)([^>]*)>/g, '<$1$2/>');
  const [width, height] = [1100, 500];
  const content = `<foreignObject width="${width}" height="${height}"><body xmlns="http://www.w3.org/1999/xhtml" style="background: none">${wellFormed}</body></foreignObject>`;
  return framed({ alt, width, height, style, content });
}
