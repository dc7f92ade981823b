import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

export interface Picture {
  /** Relative to the page. */
  readonly path: string;
  /** The text for people who don't see it. */
  readonly alt: string;
}

/** Commands on a page that a reader runs one after another. */
export interface CommandBlock {
  /** `docs/operate.md:11`. */
  readonly place: string;
  readonly text: string;
  /** The picture after the block, which shows what these commands print. */
  readonly picture?: Picture;
}

export interface Page {
  readonly file: string;
  readonly blocks: readonly CommandBlock[];
  /** Commands in backticks in a sentence or a table. */
  readonly inline: readonly CommandBlock[];
}

const fence = /^```(\w*)\n(.*?)^```$(?:\n\n!\[([^\]]*)\]\((pictures\/[\w-]+\.svg)\))?/gms;

/** The README and every page in docs/, with their commands. A code block without a language throws an error. */
export function readPages(): Page[] {
  const files = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()];
  return files.map((file) => {
    const text = readFileSync(resolve(root, file), 'utf8');
    return { file, blocks: blocksOf(file, text), inline: inlineOf(file, text) };
  });
}

function blocksOf(file: string, text: string): CommandBlock[] {
  return [...text.matchAll(fence)].flatMap(([, language = '', content = '', alt = '', path], i) => {
    if (language === '') throw new Error(`${file}: code block ${i + 1} names no language (sh, console, text, yaml …)`);
    if (language !== 'sh' && language !== 'console') return [];
    const place = `${file}:${lineOf(text, content)}`;
    const typed = language === 'sh' ? content : typedIn(content);
    return [{ place, text: typed, ...(path === undefined ? {} : { picture: { path, alt } }) }];
  });
}

/** In a console block, only the typed lines; the rest is output. */
function typedIn(content: string): string {
  const typed = content.split('\n').filter((line) => line.startsWith('$ '));
  return `${typed.map((line) => line.slice(2)).join('\n')}\n`;
}

const programs =
  'sluice|npm|npx|node|docker|podman|buildah|systemctl|journalctl|psql|curl|sudo|apt|apt-get|chown|echo|git|openssl|pip|tar';
const commandLine = new RegExp(`^(?:[A-Z_]+=\\S+ )*(?:${programs}) `);

function inlineOf(file: string, text: string): CommandBlock[] {
  const prose = text.replaceAll(fence, (block) => block.replaceAll(/[^\n]/g, ''));
  return [...prose.matchAll(/(?<!`)`([^`]+)`(?!`)/g)].flatMap(({ 1: words = '', index }) => {
    const command = words.replaceAll(/\s+/g, ' ').replaceAll('\\|', '|');
    if (!commandLine.test(command)) return [];
    return [{ place: `${file}:${prose.slice(0, index).split('\n').length}`, text: command }];
  });
}

const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split('\n').length;
