import { cutText, type Problem } from '#sdk';
import { make } from './problems.ts';
import type { DirectoryEntry } from './session.ts';

/**
 * A listing: either the reply to MLSD, whose format is defined in RFC 3659, or the reply to LIST, whose format depends
 * on the server.
 */
export type ListingForm = 'MLSD' | 'LIST';

/**
 * The entries in a listing. Throws if a line can't be parsed. The line must not be skipped, because it may describe the
 * wanted file.
 */
export function parseListing(text: string, { form, folder }: { form: ListingForm; folder: string }): DirectoryEntry[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const rows = form === 'LIST' && isTotal(lines) ? lines.slice(1) : lines;
  const parse = form === 'MLSD' ? machineEntry : listedEntry;
  return rows.flatMap((line) => {
    const entry = parse(line);
    if (entry === undefined || (entry !== 'itself' && entry.name.includes('/'))) throw unknownLine(folder, line);
    return entry === 'itself' || entry.name === '.' || entry.name === '..' ? [] : [entry];
  });
}

/** The first line of `ls -l` contains the number of blocks, in the server's language. */
function isTotal([first = '', ...others]: readonly string[]): boolean {
  if (/^total:? [\d.,]+[KMGTP]?$/i.test(first)) return true;
  return others.length > 0 && /^[\p{L}\p{M}]+:? [\d.,]+[KMGTP]?$/u.test(first);
}

function unknownLine(folder: string, line: string): Problem {
  return make('FTP_LISTING', 'job', {
    message: `cannot parse a line in the listing of ${folder}`,
    seen: cutText(line, 200),
    allowed: 'MLSD (RFC 3659), or LIST in Unix (ls -l) or DOS (dir) format',
    next: 'enable MLSD on the server, or set the path to one file instead of a pattern, so that no listing is needed',
  });
}

/** Parses `fact=value;fact=value; name` (RFC 3659, 7.2). The names of facts and types are case-insensitive. */
function machineEntry(line: string): DirectoryEntry | 'itself' | undefined {
  const parts =
    /^((?:[^=;\s]+=[^;]*;)*) (.+)$/s.exec(line) ?? /^((?:[^=;\s]+=[^;\s]*)(?:;[^=;\s]+=[^;\s]*)*) (.+)$/s.exec(line);
  if (parts === null) return undefined;
  const [, factsText = '', name = ''] = parts;
  const facts = new Map(factsText.split(';').map((fact) => splitFact(fact)));
  const type = facts.get('type')?.toLowerCase();
  if (type === 'cdir' || type === 'pdir') return 'itself';
  const modified = timeOf(facts.get('modify') ?? '');
  return {
    name,
    ...kindOfType(type, facts.get('type')),
    ...sizeOf(facts.get('size') ?? ''),
    modified,
  };
}

function splitFact(fact: string): [name: string, value: string] {
  const at = fact.indexOf('=');
  return [fact.slice(0, at).toLowerCase(), fact.slice(at + 1)];
}

/** Symbolic links have no standard type. Servers send `OS.unix=slink:target` or `OS.unix=symlink`. */
function kindOfType(type: string | undefined, typeText = ''): Pick<DirectoryEntry, 'kind' | 'target'> {
  if (type === 'file') return { kind: 'file' };
  if (type === 'dir') return { kind: 'folder' };
  const link = /^os\.unix=s(?:ym)?link(?::(.+))?$/i.exec(typeText);
  if (link === null) return { kind: 'unknown' };
  return { kind: 'link', ...(link[1] === undefined ? {} : { target: link[1] }) };
}

/** Parses a UTC time as defined in RFC 3659, 2.3: `YYYYMMDDHHMMSS[.sss]`. Returns milliseconds since 1970. */
export function timeOf(text: string): number | undefined {
  const [, year, month, day, hour, minute, second, fraction = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d+))?/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second), ms);
}

function sizeOf(text: string): Pick<DirectoryEntry, 'size'> {
  return /^\d+$/.test(text) ? { size: Number(text) } : {};
}

function listedEntry(line: string): DirectoryEntry | undefined {
  return unixEntry(line) ?? dosEntry(line);
}

const date = String.raw`\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|[\p{L}\p{M}.]{2,8}\s+\d{1,2}[.,]?|\d{1,2}\.?\s+[\p{L}\p{M}.]{2,8}|\d{1,2}[月월]\s*\d{1,2}[日일]?`;
const time = String.raw`\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s[-+]\d{4})?|\d{4}[年년]?`;
const size = String.raw`\d+(?:[.,]\d+)?[KMGTPE]?|\d+,\s*\d+|\?`;

/**
 * Matches permissions, some words (link count, owner, group), size, date and name. `ls` appends a character to the
 * permissions for ACLs (+), SELinux (.) and macOS (@).
 */
const unixLine = (words: string) =>
  new RegExp(
    String.raw`^[\s\d]*([a-z?-])[-rwxstl?]{9}[.+@]?\s*(?:\S+\s+)${words}(${size})\s+(?:${date})\s+(?:${time})\s(.+)$`,
    'ius',
  );

/**
 * The first pattern requires at least two words, so that it doesn't mistake an owner `14` and a group `staff` for a
 * date. The second pattern, for lines that don't match the first, requires only one word.
 */
const unixLines = [unixLine('{2,16}?'), unixLine('{1}')];

/** Matches an entry that `ls` wasn't allowed to inspect: `-????????? ? ? ? ? ? name`. */
const unseenLine = /^([a-z?-])\?{9}(?:\s+\?){4,6}\s(.+)$/is;

const kindsOfUnix: Readonly<Record<string, DirectoryEntry['kind']>> = {
  '-': 'file',
  f: 'file',
  d: 'folder',
  l: 'link',
  e: 'link',
  b: 'other',
  c: 'other',
  p: 'other',
  s: 'other',
};

/** Ignores times, because they have no zone and often no year. They therefore don't show when a file was modified. */
function unixEntry(line: string): DirectoryEntry | undefined {
  const [, type, sizeText, text] = unixLines.map((form) => form.exec(line)).find((found) => found !== null) ?? [];
  const [, unseenType, unseen] = type === undefined ? (unseenLine.exec(line) ?? []) : [];
  const name = text ?? unseen;
  if (name === undefined) return undefined;
  const kind = kindsOfUnix[(type ?? unseenType)!.toLowerCase()] ?? 'unknown';
  if (kind !== 'link') return { name, kind, ...sizeOf(sizeText ?? '') };
  const arrow = name.indexOf(' -> ');
  return arrow < 0 ? { name, kind } : { name: name.slice(0, arrow), kind, target: name.slice(arrow + 4) };
}

const dosLine =
  /^\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\s+\d{1,2}:\d\d(?::\d\d)?\s*(?:[AP]M?)?\s+(?:<([A-Z]+)>|([\d.,]+))\s+(\S.*)$/is;

/** The format of `dir` and Internet Information Services. Links and junctions may refer to files or folders. */
function dosEntry(line: string): DirectoryEntry | undefined {
  const [, mark, sizeText = '', name] = dosLine.exec(line) ?? [];
  if (name === undefined) return undefined;
  if (mark === undefined) return { name, kind: 'file', ...sizeOf(sizeText) };
  if (mark.toUpperCase() === 'DIR') return { name, kind: 'folder' };
  const [, link = name, target] = /^(.+) \[(.+)\]$/.exec(name) ?? [];
  return { name: link, kind: 'unknown', target };
}
