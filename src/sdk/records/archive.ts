import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { archiveFault, refuseBomb } from './archive-faults.ts';
import { localHead, refuseForeign } from './foreign.ts';
import { faultIn, type RecordInput } from './input.ts';

/** A file in a zip archive, by its path in the archive. */
export interface ArchiveMember {
  readonly name: string;
  readonly bytes: number;
  /**
   * Reads the member from the start. May be called again, as long as the archive hasn't changed; a second pass must
   * return the same bytes.
   */
  open(): AsyncIterable<Uint8Array>;
}

/**
 * The files in a zip archive, in the order of its central directory (APPNOTE 4.3.12). Refuses names that point outside
 * the archive, and refuses zip bombs before unpacking them.
 */
export async function membersOf(input: RecordInput): Promise<ArchiveMember[]> {
  await input.unchanged?.();
  const zip = await opened(input);
  try {
    const members: ArchiveMember[] = [];
    let bytes = 0;
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue;
      bytes += entry.uncompressedSize;
      refuseBomb(input, { bytes, packedBytes: zip.fileSize });
      members.push({ name: entry.fileName, bytes: entry.uncompressedSize, open: () => read(input, entry) });
    }
    return members;
  } catch (error) {
    throw broken(input, error);
  } finally {
    zip.close();
  }
}

async function opened(input: RecordInput): Promise<ZipFile> {
  if (input.local === undefined) {
    throw faultIn(input, {
      code: 'RECORDS_ZIP',
      message: 'archives and workbooks can only be read from files',
      next: 'read the file with the file or ftp connector; if the file is in an archive, extract it first',
    });
  }
  const { openPromise } = await import('yauzl');
  try {
    return await openPromise(input.local, { lazyEntries: true, autoClose: false });
  } catch (error) {
    // The file is only named like a workbook or archive if its first bytes show a different format.
    refuseForeign(input, await localHead(input.local), 'a zip archive or an xlsx workbook');
    throw broken(input, error);
  }
}

async function* read(input: RecordInput, entry: Entry): AsyncGenerator<Uint8Array> {
  await input.unchanged?.();
  const zip = await opened(input);
  let stream: Readable | undefined;
  let sum = 0;
  try {
    if (entry.isEncrypted()) throw new Error(`${entry.fileName} is encrypted`);
    stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (sum !== entry.crc32) throw new Error(`the checksum of ${entry.fileName} is wrong`);
    await input.unchanged?.();
  } catch (error) {
    throw broken(input, error);
  } finally {
    stream?.destroy();
    zip.close();
  }
}

function broken(input: RecordInput, error: unknown): unknown {
  return archiveFault(input, error, {
    code: 'RECORDS_ZIP',
    message: 'the archive is damaged, truncated or locked',
    next: 'fetch or write the file again, without a password',
  });
}
