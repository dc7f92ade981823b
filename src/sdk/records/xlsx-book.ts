import { posix } from 'node:path';
import { type ArchiveMember, membersOf } from './archive.ts';
import { faultIn, type RecordInput } from './input.ts';
import { type Elements, localName, walk } from './xlsx-parts.ts';
import { type NumberStyle, styleOf } from './xlsx-values.ts';

/** All sheets of a workbook refer to one list of shared strings. The list is kept in memory, so its size is limited. */
const maxTextBytes = 128 * 1024 * 1024;

/** The workbook parts that are needed to read one sheet. */
export interface Sheet {
  readonly name: string;
  readonly part: ArchiveMember;
  readonly texts: readonly string[];
  /** By style index in cells. */
  readonly styles: readonly NumberStyle[];
  readonly from1904: boolean;
}

/** The names of the sheets that aren't hidden, in order. */
export async function sheetNames(input: RecordInput): Promise<string[]> {
  const { sheets } = await openBook(input);
  return sheets.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
}

/** The sheet to read: its name, a pattern, or its position among the visible sheets; by default, the first of these. */
type WantedSheet = string | number | undefined;

/** Opens the wanted sheet. */
export async function openSheet(input: RecordInput, wanted: WantedSheet): Promise<Sheet> {
  const { members, relations, sheets, from1904 } = await openBook(input);
  const partOf = (kind: string) => members.get(relations.find(({ type }) => type === kind)?.target ?? '');
  const [sheet, ...others] = wantedSheets(sheets, wanted);
  if (others.length > 0) throw severalSheets(input, wanted, [sheet!, ...others]);
  const part = members.get(relations.find(({ id }) => id === sheet?.id)?.target ?? '');
  if (sheet === undefined || part === undefined) throw noSheet(input, wanted, sheets);
  const texts = await readTexts(input, partOf('sharedStrings'));
  return { name: sheet.name, part, texts, styles: await readStyles(input, partOf('styles')), from1904 };
}

/** Names can't contain `*` or `?`, so these are always a pattern. */
function wantedSheets(sheets: readonly Named[], wanted: WantedSheet): readonly Named[] {
  const visible = sheets.filter(({ isHidden }) => !isHidden);
  if (typeof wanted !== 'string') return visible.slice((wanted ?? 1) - 1, wanted ?? 1);
  if (!/[*?]/.test(wanted)) return sheets.filter(({ name }) => name === wanted);
  const source = wanted
    .replaceAll(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const pattern = new RegExp(`^${source}$`, 'iu');
  return visible.filter(({ name }) => pattern.test(name));
}

async function openBook(input: RecordInput) {
  const members = new Map((await membersOf(input)).map((member) => [member.name, member]));
  const bookPath = (await relationsOf(input, members, '')).find(({ type }) => type === 'officeDocument')?.target;
  const book = bookPath === undefined ? undefined : members.get(bookPath);
  if (bookPath === undefined || book === undefined) throw noWorkbook(input);
  const relations = await relationsOf(input, members, bookPath);
  return { members, relations, ...(await readBook(input, book)) };
}

async function all(input: RecordInput, part: ArchiveMember | undefined, elements: Elements): Promise<void> {
  if (part === undefined) return;
  for await (const _ of walk(input, part, elements));
}

interface Relation {
  readonly id: string;
  /** The last segment of the relationship type's URL: `worksheet`. */
  readonly type: string;
  readonly target: string;
}

/** Paths of the parts that a part (or the package, if absent) refers to (ECMA-376 part 2, 9.3). */
async function relationsOf(
  input: RecordInput,
  members: ReadonlyMap<string, ArchiveMember>,
  path: string,
): Promise<Relation[]> {
  const { dir, base } = posix.parse(path);
  const found: Relation[] = [];
  await all(input, members.get(posix.join(dir, '_rels', `${base}.rels`)), {
    open(name, { Id = '', Type = '', Target = '' }) {
      if (name !== 'Relationship') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(dir, Target);
      found.push({ id: Id, type: Type.split('/').at(-1)!, target });
    },
  });
  return found;
}

interface Named {
  readonly name: string;
  readonly id: string;
  readonly isHidden: boolean;
}

async function readBook(input: RecordInput, part: ArchiveMember): Promise<{ sheets: Named[]; from1904: boolean }> {
  const sheets: Named[] = [];
  let from1904 = false;
  await all(input, part, {
    open(name, attributes, parent) {
      if (name === 'workbookPr') from1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '');
      if (name !== 'sheet' || parent !== 'sheets') return;
      const id = Object.entries(attributes).find(([key]) => localName(key) === 'id')?.[1] ?? '';
      sheets.push({ name: attributes.name ?? '', id, isHidden: /hidden/i.test(attributes.state ?? '') });
    },
  });
  return { sheets, from1904 };
}

/** The shared strings: each item's own text, or the text of its runs without phonetic hints (`rPh`). */
async function readTexts(input: RecordInput, part: ArchiveMember | undefined): Promise<string[]> {
  if (part !== undefined && part.bytes > maxTextBytes) throw tooManyTexts(input);
  const texts: string[] = [];
  let text = '';
  await all(input, part, {
    open(name) {
      if (name === 'si') text = '';
    },
    close(name, content, parent) {
      if (name === 't' && (parent === 'si' || parent === 'r')) text += content;
      if (name === 'si') texts.push(unescaped(text));
    },
  });
  return texts;
}

/** `_x000D_` escapes a character that XML can't represent (ECMA-376 part 1, 22.9.2.19). */
export function unescaped(text: string): string {
  return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

async function readStyles(input: RecordInput, part: ArchiveMember | undefined): Promise<NumberStyle[]> {
  const codes = new Map<number, string>();
  const styles: NumberStyle[] = [];
  await all(input, part, {
    open(name, { numFmtId = '0', formatCode = '' }, parent) {
      if (name === 'numFmt' && parent === 'numFmts') codes.set(Number(numFmtId), formatCode);
      if (name === 'xf' && parent === 'cellXfs') styles.push(styleOf(Number(numFmtId), codes.get(Number(numFmtId))));
    },
  });
  return styles;
}

function noWorkbook(input: RecordInput) {
  return faultIn(input, {
    code: 'RECORDS_XLSX',
    message: 'the file is not an xlsx workbook',
    next: 'save the file as xlsx; the older xls format and the binary xlsb format are not supported',
  });
}

function noSheet(input: RecordInput, wanted: WantedSheet, sheets: readonly Named[]) {
  const missing =
    typeof wanted === 'number' ? 'the workbook has fewer visible sheets' : 'the workbook has no sheet with this name';
  return faultIn(input, {
    code: 'RECORDS_XLSX_SHEET',
    message: wanted === undefined ? 'all sheets of the workbook are hidden' : missing,
    ...(wanted === undefined ? {} : { seen: String(wanted) }),
    allowed: sheets.map(({ name }) => name).join(', '),
  });
}

function severalSheets(input: RecordInput, wanted: WantedSheet, sheets: readonly Named[]) {
  return faultIn(input, {
    code: 'RECORDS_XLSX_SHEET',
    message: 'several sheets of the workbook match',
    seen: `${wanted}: ${sheets.map(({ name }) => name).join(', ')}`,
    next: 'set `sheet` to a name, or to a pattern that matches only one sheet',
  });
}

function tooManyTexts(input: RecordInput) {
  return faultIn(input, {
    code: 'RECORDS_TOO_LARGE',
    message: `the workbook's strings exceed ${maxTextBytes / 1024 / 1024} MB`,
    next: 'save the sheet as csv, which has no size limit',
  });
}
