/** The head of a manual page. */
export interface PageHead {
  readonly name: string;
  readonly section: number;
  /** The description that `whatis` and `apropos` show. */
  readonly about: string;
  readonly version: string;
  /** The page's date as `YYYY-MM-DD`; empty if it's unknown. */
  readonly date: string;
}

/** A manual page with the `man` macros, which groff and mandoc can read (groff_man(7), man(7)). */
export function manPage({ name, section, about, version, date }: PageHead, parts: readonly string[]): string {
  const title = `.TH ${roff(name.toUpperCase())} ${section} ${date || '""'} "Sluice ${roff(version)}" "Sluice manual"`;
  // Text isn't justified or hyphenated, so that options and paths are easier to read and to copy. groff 1.23 reads the
  // adjustment of each paragraph from the AD string.
  const text = [
    title,
    '.nh',
    '.ad l',
    '.ds AD l',
    heading('Name'),
    filled(`${roff(name)} \\- ${roff(about)}`),
    ...parts,
    '',
  ].join('\n');
  // A heading begins a paragraph.
  return text.replaceAll(/^(\.S[HS] .*\n)\.PP\n/gm, '$1');
}

export const heading = (title: string): string => `.SH ${roff(title.toUpperCase())}`;
export const subheading = (title: string): string => `.SS ${roff(title)}`;
export const bold = (text: string): string => `\\fB${roff(text)}\\fR`;
export const italic = (text: string): string => `\\fI${roff(text)}\\fR`;

/** A paragraph. The text must already be roff. */
export const paragraph = (text: string): string => `.PP\n${filled(text)}`;

/** A term, and below it a text. Both must already be roff. */
export const item = (term: string, text: string): string => `.TP\n${filled(term)}\n${filled(text || '\\&')}`;

/** A paragraph that starts with a mark, such as a bullet. */
export const bullet = (mark: string, text: string): string => `.IP ${mark} 3\n${filled(text)}`;

/** A block of lines that are displayed unchanged. */
export function example(text: string): string {
  return `.PP\n.RS 4\n.EX\n${text.split('\n').map(exact).join('\n')}\n.EE\n.RE`;
}

const maxLine = 78;
/** Words that are longer may be broken after certain characters. */
const maxWord = 40;
const breaks = /[,/:?&=](?=.)/g;

/** Escapes plain text, so that roff doesn't interpret any of it as a request and doesn't change hyphens or quotes. */
export function roff(text: string): string {
  return text
    .replaceAll(/\S+/g, (word) => (word.length > maxWord ? word.replaceAll(breaks, '$&\u0000') : word))
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('"', '\\(dq')
    .replaceAll('\u0000', '\\:')
    .replaceAll(
      /[^\n\x20-\x7e]/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}

/** Breaks text into short lines that don't look like requests. roff joins these lines again. */
function filled(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > maxLine) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map(unlikeRequest).join('\n');
}

/** A single line. If it's long, it's continued with backslashes. */
function exact(line: string): string {
  const parts: string[] = [''];
  for (const word of roff(line).split(/(?<= )/)) {
    if (parts.at(-1)!.length + word.length > maxLine) parts.push(word);
    else parts[parts.length - 1] += word;
  }
  return parts.map(unlikeRequest).join('\\\n');
}

const unlikeRequest = (line: string): string => (line.startsWith('.') ? `\\&${line}` : line);
