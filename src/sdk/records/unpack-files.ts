import { open } from 'node:fs/promises';
import picomatch from 'picomatch';
import { type ArchiveMember, membersOf } from './archive.ts';
import { faultIn, type RecordInput } from './input.ts';

interface Unpacking {
  /** Name or glob of the archive members to read. */
  readonly member: string | undefined;
  /** The files' format, if the query sets it. */
  readonly format: string | undefined;
}

/** The inputs, with each zip archive replaced by its members, ordered by name. Workbooks aren't unpacked. */
export async function unpackFiles(inputs: readonly RecordInput[], given: Unpacking): Promise<readonly RecordInput[]> {
  const unpacked: RecordInput[] = [];
  for (const input of inputs) {
    if (await isArchive(input, given)) unpacked.push(...(await wantedMembers(input, given)));
    else unpacked.push(input);
  }
  return unpacked;
}

/** The signatures that start an archive with members and an empty archive (APPNOTE 4.3.7, 4.3.16). */
const signatures = new Set([0x504b0304, 0x504b0506]);

/** Detects a zip archive by its first bytes, whatever its name. Workbooks start with the same bytes. */
async function isArchive({ name, local }: RecordInput, { format }: Unpacking): Promise<boolean> {
  if (local === undefined || /\.xlsx$/i.test(name)) return false;
  if (format === 'xlsx' && !/\.zip$/i.test(name)) return false;
  const file = await open(local, 'r');
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return bytesRead === 4 && signatures.has(buffer.readUInt32BE());
  } finally {
    await file.close();
  }
}

async function wantedMembers(input: RecordInput, { member }: Unpacking): Promise<RecordInput[]> {
  const members = await membersOf(input);
  refuseOffice(input, members);
  const wanted = members.filter(isWanted(members, member));
  if (wanted.length === 0) throw nothingIn(input, members, member);
  return wanted
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, open: openMember }) => ({
      name: `${input.name}/${name}`,
      file: input.file,
      modified: input.modified,
      open: openMember,
    }));
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

/** If `member` isn't set, all files except operating system metadata (`__MACOSX/`) and dot files are read. */
function isWanted(members: readonly ArchiveMember[], member: string | undefined): (member: ArchiveMember) => boolean {
  if (member === undefined) return ({ name }) => !/(?:^|\/)(?:__MACOSX\/|\.)/.test(name);
  if (members.some(({ name }) => name === member)) return ({ name }) => name === member;
  const matches = picomatch(member);
  return ({ name }) => matches(name);
}

function nothingIn(input: RecordInput, members: readonly ArchiveMember[], member: string | undefined) {
  const names = members.slice(0, 10).map(({ name }) => name);
  return faultIn(input, {
    code: 'RECORDS_ZIP_EMPTY',
    message: member === undefined ? 'the archive contains no files' : 'no file in the archive matches `member`',
    seen: member,
    ...(names.length === 0 ? {} : { allowed: names.join(', ') }),
  });
}
