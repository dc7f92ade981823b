import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import picomatch from 'picomatch';
import { type ArchiveMember, membersOf } from './archive.ts';
import { foreignHeadBytes, localHead, tarSignature } from './foreign.ts';
import { faultIn, type RecordInput } from './input.ts';
import { storedBytes } from './stored-bytes.ts';
import { compressionOf, openUnzipped } from './unzip.ts';

interface Unpacking {
  /** Name or glob of the archive members to read. */
  readonly member: string | undefined;
  /** The files' format, if the query sets it. */
  readonly format: string | undefined;
  /** Creates, if needed, a private folder for the members of tar archives. */
  scratch(): string;
}

/** The inputs, with each archive replaced by its members, ordered by name. Workbooks aren't unpacked. */
export async function unpackFiles(inputs: readonly RecordInput[], given: Unpacking): Promise<readonly RecordInput[]> {
  const unpacked: RecordInput[] = [];
  for (const input of inputs) {
    const kind = await archiveKind(input, given);
    if (kind === 'zip') unpacked.push(...(await zipMembers(input, given)));
    else if (kind === 'tar') unpacked.push(...(await tarMembers(input, given)));
    else unpacked.push(input);
  }
  return unpacked;
}

/** The signatures that start a zip archive with members and an empty one (APPNOTE 4.3.7, 4.3.16). */
const zipSignatures = new Set([0x504b0304, 0x504b0506]);

/** Detects an archive by its first bytes, whatever its name. Workbooks start with the same bytes as zip archives. */
async function archiveKind(input: RecordInput, { format }: Unpacking): Promise<'zip' | 'tar' | undefined> {
  const { name, local } = input;
  if (local === undefined || /\.xlsx$/i.test(name)) return undefined;
  const head = await localHead(local);
  if (head.length >= 4 && zipSignatures.has(head.readUInt32BE())) {
    return format === 'xlsx' && !/\.zip$/i.test(name) ? undefined : 'zip';
  }
  const unzipped = compressionOf(head) === undefined ? head : await unzippedHead(input);
  return tarSignature.test(unzipped.toString('latin1')) ? 'tar' : undefined;
}

async function unzippedHead(input: RecordInput): Promise<Buffer> {
  let head = Buffer.alloc(0);
  for await (const chunk of openUnzipped(input)) {
    head = Buffer.concat([head, chunk]);
    if (head.length >= foreignHeadBytes) break;
  }
  return head.subarray(0, foreignHeadBytes);
}

async function zipMembers(input: RecordInput, { member }: Unpacking): Promise<RecordInput[]> {
  const members = await membersOf(input);
  refuseOffice(input, members);
  return wanted(input, members, member).map(({ name, open }) => ({ ...memberOf(input, name), open }));
}

/** The members of a tar archive, unpacked, because its format allows no access to a single member. */
async function tarMembers(input: RecordInput, { member, scratch }: Unpacking): Promise<RecordInput[]> {
  const { untar } = await import('./untar.ts');
  const folder = await mkdtemp(join(scratch(), 'tar-'));
  const members = await untar(input, { folder, isWanted: nameTest(member) });
  return wanted(input, members, member).map(({ name, local }) => ({
    ...memberOf(input, name),
    local: local!,
    open: () => storedBytes(local!),
  }));
}

function memberOf({ name: archive, file, modified }: RecordInput, name: string) {
  return { name: `${archive}/${name}`, file, modified };
}

/** The members that the query selects, ordered by name. Throws if there are none. */
function wanted<M extends { readonly name: string }>(
  input: RecordInput,
  members: readonly M[],
  member: string | undefined,
): readonly M[] {
  const isExact = members.some(({ name }) => name === member);
  const isWanted = isExact ? (name: string) => name === member : nameTest(member);
  const found = members.filter(({ name }) => isWanted(name));
  if (found.length === 0) throw nothingIn(input, members, member);
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Whether a name equals or matches `member`. If that isn't set, all files except operating system metadata
 * (`__MACOSX/`) and dot files are read.
 */
function nameTest(member: string | undefined): (name: string) => boolean {
  if (member === undefined) return (name) => !/(?:^|\/)(?:__MACOSX\/|\.)/.test(name);
  const matches = picomatch(member);
  return (name) => name === member || matches(name);
}

/** Office files are zip archives too, but must not be unpacked, even if their extension is different. */
function refuseOffice(input: RecordInput, members: readonly ArchiveMember[]): void {
  const has = (path: string) => members.some(({ name }) => name === path);
  const isOpenDocument = has('mimetype') && has('content.xml');
  if (!isOpenDocument && !has('_rels/.rels')) return;
  throw faultIn(input, {
    code: 'RECORDS_FORMAT',
    message: isOpenDocument ? 'the data is an OpenDocument file' : 'the data is an Office file, possibly a workbook',
    next: isOpenDocument ? 'save the file as xlsx or csv' : 'set `format: xlsx` if it is a workbook',
  });
}

function nothingIn(input: RecordInput, members: readonly { readonly name: string }[], member: string | undefined) {
  const names = members.slice(0, 10).map(({ name }) => name);
  return faultIn(input, {
    code: 'RECORDS_ARCHIVE_EMPTY',
    message: member === undefined ? 'the archive contains no files' : 'no file in the archive matches `member`',
    seen: member,
    ...(names.length === 0 ? {} : { allowed: names.join(', ') }),
  });
}
