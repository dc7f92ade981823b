import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadEntry } from 'tar/read-entry';
import { archiveFault, refuseBomb } from './archive-faults.ts';
import type { RecordInput } from './input.ts';
import { openUnzipped } from './unzip.ts';

/** A file in a tar archive, by its path in the archive. */
export interface TarMember {
  readonly name: string;
  /** Where the file was unpacked; undefined if it isn't wanted. */
  readonly local: string | undefined;
}

interface Untarring {
  /** An empty folder for the unpacked files. */
  readonly folder: string;
  readonly isWanted: (name: string) => boolean;
}

/**
 * Unpacks the wanted files of a tar archive (POSIX.1-2017, pax; GNU tar), which may be compressed, and lists all its
 * files. As in tar itself, the last of several files with the same path counts. Refuses archives without an end marker,
 * because one that was truncated between two files looks complete otherwise.
 */
export async function untar(input: RecordInput, { folder, isWanted }: Untarring): Promise<readonly TarMember[]> {
  await input.unchanged?.();
  const packedBytes = (await stat(input.local!)).size;
  const unpacking = new Unpacking({ folder, isWanted });
  const parser = await unpacking.parser();
  let bytes = 0;
  try {
    for await (const chunk of openUnzipped(input)) {
      bytes += chunk.length;
      refuseBomb(input, { bytes, packedBytes });
      // After the end marker, the parser would only collect what it gets. The rest is read for its checksum.
      if (unpacking.isEnded) continue;
      parser.write(chunk);
      await unpacking.flush();
    }
    parser.end();
    await unpacking.flush();
  } catch (error) {
    throw broken(input, error);
  } finally {
    await unpacking.close();
  }
  await input.unchanged?.();
  return unpacking.members;
}

/** The parser emits its events synchronously; they're queued here and applied before it gets the next bytes. */
class Unpacking {
  readonly #init: Untarring;
  readonly #members = new Map<string, TarMember>();
  readonly #queue: (() => Promise<unknown>)[] = [];
  #file: FileHandle | undefined;
  #files = 0;
  /** Whether the end marker has been read. */
  isEnded = false;
  #error: unknown;

  constructor(init: Untarring) {
    this.#init = init;
  }

  get members(): readonly TarMember[] {
    return [...this.#members.values()];
  }

  async parser() {
    const { Parser } = await import('tar/parse');
    const parser = new Parser({ strict: true, gzip: false, onReadEntry: (entry) => this.#enter(entry) });
    parser.on('eof', () => (this.isEnded = true));
    parser.on('error', (error) => (this.#error ??= error));
    parser.on('ignoredEntry', ({ path, type }: ReadEntry) => {
      if (type === 'SparseFile') this.#error ??= unsupported(path, 'is a sparse file');
    });
    parser.on('end', () => {
      if (!this.isEnded) this.#error ??= new Error('the end marker is missing');
    });
    return parser;
  }

  #enter(entry: ReadEntry): void {
    const { type, path } = entry;
    const name = path.replace(/^(?:\.?\/)+/, '');
    const { folder, isWanted } = this.#init;
    if (type === 'Directory' || !isWanted(name)) {
      if (type !== 'Directory') this.#members.set(name, { name, local: undefined });
      entry.resume();
      return;
    }
    const isFile = type === 'File' || type === 'OldFile' || type === 'ContiguousFile';
    if (!isFile) this.#error ??= unsupported(path, `isn't a regular file (${type})`);
    // GNU tar's name for the data of a sparse file in pax format.
    if (/(?:^|\/)GNUSparseFile\.\d+\//.test(path)) this.#error ??= unsupported(path, 'is a sparse file');
    const former = this.#members.get(name)?.local;
    const local = join(folder, String(this.#files++));
    this.#members.set(name, { name, local });
    this.#queue.push(async () => {
      if (former !== undefined) await rm(former);
      this.#file = await open(local, 'wx', 0o600);
    });
    entry.on('data', (data) => this.#queue.push(() => this.#file!.writeFile(data)));
    entry.on('end', () => this.#queue.push(() => this.close()));
  }

  /** Writes what the parser has emitted, and throws what it has found wrong. */
  async flush(): Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    for (const step of this.#queue.splice(0)) await step();
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

function unsupported(path: string, what: string): Error {
  return new Error(`${path} ${what}`);
}

function broken(input: RecordInput, error: unknown): unknown {
  return archiveFault(input, error, {
    code: 'RECORDS_TAR',
    message: 'the tar archive is damaged, truncated or unsupported',
    next: 'write the archive again, with regular files only',
  });
}
