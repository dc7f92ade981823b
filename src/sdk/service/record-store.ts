import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { openScratchFile } from '../../lib/scratch-file.ts';
import type { Extraction } from '../extraction.ts';
import { withDefaults } from '../option.ts';
import { type RecordOptions, type RecordQuery, recordOptions } from '../records/options.ts';
import { readRecords } from '../records/reader.ts';
import { storedBytes } from '../records/stored-bytes.ts';
import type { Fields } from './description.ts';

interface RecordStoreOptions {
  readonly signal: AbortSignal;
  /** Fields to exclude. */
  readonly drop: readonly string[];
}

/** Stores all of a run's records on disk, so that unknown columns can be inferred from all records. */
export class RecordStore {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #init: RecordStoreOptions;

  private constructor(path: string, file: FileHandle, init: RecordStoreOptions) {
    this.#path = path;
    this.#file = file;
    this.#init = init;
  }

  static async create(folder: string, init: RecordStoreOptions): Promise<RecordStore> {
    const path = join(folder, 'records.jsonl');
    return new RecordStore(path, await openScratchFile(path), init);
  }

  async add(records: readonly Fields[]): Promise<void> {
    this.#init.signal.throwIfAborted();
    const { drop } = this.#init;
    const lines = records.map((record) => `${JSON.stringify(drop.length === 0 ? record : without(record, drop))}\n`);
    await this.#file.appendFile(lines.join(''));
  }

  /** Discards all records. */
  async close(): Promise<void> {
    await this.#file.close();
  }

  /** The table of all records. No more records can be added after this call. */
  async table(
    given: { title: string; flatten: unknown; types: unknown } & Pick<RecordOptions, 'keptColumns'>,
  ): Promise<Extraction> {
    await this.#file.close();
    const { signal } = this.#init;
    const input = { name: given.title, open: () => storedBytes(this.#path, { signal }) };
    const { flatten, types } = given as Pick<RecordQuery, 'flatten' | 'types'>;
    const { keptColumns } = given;
    return readRecords([input], { ...withDefaults(recordOptions, {}), flatten, types, keptColumns, format: 'jsonl' });
  }
}

function without(record: Fields, drop: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !drop.includes(name)));
}
