import type { DiskSpace } from '../lib/disk-space.ts';
import type { RunWarning } from '../lib/run-warnings.ts';
import type { Batch } from '../sdk/batch.ts';
import type { Column, KeptColumn } from '../sdk/column.ts';
import { isToCompact } from './compaction.ts';
import {
  type ColumnLayout,
  joinColumns,
  joinLayouts,
  namedColumn,
  refuseOtherTypes,
  settleTypes,
} from './kept-columns.ts';
import type { ColumnRange, Manifest, Segment, StagedRanges } from './manifest.ts';
import { Merge } from './merge.ts';
import { findNewest } from './newest-rows.ts';
import { RetentionAge } from './retention-age.ts';
import { type RowFilters, RowReader } from './row-reader.ts';
import { RowWriter } from './row-writer.ts';
import { SegmentFiles } from './segment-files.ts';
import { inOrderOfExtract, segmentReaders } from './segment-order.ts';
import { SegmentWriter } from './segment-writer.ts';
import { Sorter } from './sorter.ts';
import { SourceKeys } from './source-keys.ts';
import type { WriteRule } from './write-rule.ts';

export interface MergeRunOptions {
  readonly rule: WriteRule;
  /** Folder of the kept rows of all jobs. */
  readonly folder: string;
  /** The run's ID, which is also the name of the subfolder that it writes to. */
  readonly run: string;
  /** For a preview, the folder to write to instead. */
  readonly aside?: string;
  /** Folder for the run's temporary files. */
  readonly scratch: string;
  /** The generation that the run starts from; absent for the first run. */
  readonly current?: Manifest;
  /** Backfilled ranges to merge. */
  readonly staged?: StagedRanges;
  /** Set during a backfill, when compaction starts later. */
  readonly isHeld?: boolean;
  /** The run's start in epoch milliseconds. */
  readonly asOf: number;
  /** The job's IANA time zone. */
  readonly zone: string;
  /** Disk budget. Default: no limit. */
  readonly room?: DiskSpace;
  /** For tests: maximum number of bytes to sort in memory. */
  readonly arenaBytes?: number;
}

/** Describes the rows from a source. */
export interface IncomingRows {
  readonly columns: readonly Column[];
  /** The cursor column. */
  readonly cursor?: string;
  /** The range that the rows cover completely. Other kept rows in it are deleted. */
  readonly covers?: ColumnRange;
  /** Set if the columns were found in the records: {@link Extraction.absentColumns}. */
  readonly absentColumns?: readonly string[];
}

/**
 * Merges the rows of one run into the kept rows: takes the source's rows, then returns all rows in key order and the
 * new generation's manifest (k-way merge of sorted segments). Memory use is constant. Existing files never change; the
 * new generation takes effect when the caller stores its manifest.
 */
export class MergeRun {
  readonly #options: MergeRunOptions;
  readonly #sorter: Sorter;
  #incoming: IncomingRows = { columns: [] };
  #layout: ColumnLayout = { columns: [], from: [] };
  #writer: RowWriter | undefined;
  /** The source's keys, if kept rows without one of them are deleted. */
  #keys: SourceKeys | undefined;
  /** Whether the source has deleted a kept row. */
  #isDeleting = false;
  /** The rank of the first source of the merge whose rows were read in this run. */
  #firstNew = 0;
  #columns: readonly KeptColumn[] = [];
  #reader: RowReader | undefined;
  #merge: Merge | undefined;
  #whole: SegmentWriter | undefined;
  #segments: readonly Segment[] = [];
  readonly #files: SegmentFiles;

  constructor(given: MergeRunOptions) {
    this.#options = given;
    this.#files = new SegmentFiles(given);
    this.#sorter = new Sorter(given.scratch, { room: given.room, maxBytes: given.arenaBytes });
  }

  /** The columns of the rows that {@link next} returns; known after {@link merge}. */
  get columns(): readonly Column[] {
    return this.#reader?.columns ?? [];
  }

  /** Number of rows taken from the source. */
  get taken(): number {
    return this.#writer?.rows ?? 0;
  }

  /**
   * The lowest cursor of the keys for which there's no row, although the source has one: {@link KeyList.onMissing}. Known
   * after the last row. Undefined for rules that remove rows that the source has.
   */
  get missing(): string | undefined {
    const { deleted, retain } = this.#options.rule;
    return deleted === undefined && retain === undefined ? this.#keys?.missing : undefined;
  }

  /** Warnings about the rows that were taken. */
  get warnings(): readonly RunWarning[] {
    return this.#writer?.warnings ?? [];
  }

  /** Call this before the first row. */
  begin(incoming: IncomingRows): void {
    const { rule, current, staged } = this.#options;
    this.#incoming = incoming;
    const [now, apart] = [current?.columns ?? [], staged?.columns ?? []];
    refuseOtherTypes([now, apart], [...rule.key, incoming.cursor]);
    this.#layout = joinColumns(joinLayouts(now, apart), incoming.columns);
    const next = Math.max(current?.next ?? 0, staged?.next ?? 0);
    const { columns, from } = this.#layout;
    const { cursor } = incoming;
    this.#writer = new RowWriter({
      ...{ columns, from, come: incoming.columns, key: rule.key, next },
      deleted: rule.deleted,
      areFound: incoming.absentColumns !== undefined,
      cursor,
    });
  }

  /** Takes a batch's rows. They're copied, so the batch can be reused. */
  async take(batch: Batch): Promise<void> {
    for (let i = 0; i < batch.length; i++) {
      this.#writer!.write(batch, i, this.#sorter.arena);
      const full = this.#sorter.spill();
      if (full !== undefined) await full;
    }
  }

  /**
   * Call this after the last row if the complete list of the source's keys follows. The merge then deletes the kept rows
   * whose keys aren't in the list. Deletes nothing if it isn't called. Ends with {@link endKeys}.
   */
  beginKeys(come: readonly Column[]): void {
    const { rule, scratch, room, arenaBytes: maxBytes } = this.#options;
    this.#keys = new SourceKeys({ key: rule.key, kept: this.#layout.columns, come, scratch, room, maxBytes });
  }

  /** Takes a batch of keys. */
  takeKeys(batch: Batch): Promise<void> {
    return this.#keys!.take(batch);
  }

  /**
   * Call this after the last key. Reads the kept rows once to find out whether one of them was deleted, because most
   * runs find none and then don't write all rows again.
   */
  async endKeys(): Promise<void> {
    this.#settleColumns();
    this.#takeSegments();
    this.#isDeleting = await this.#keys!.lack(this.#sources(true), this.#firstNew);
  }

  /** Whether the result would be unchanged: there are no new rows or deletions, and no row has become too old. */
  get isIdle(): boolean {
    const { current, rule, staged } = this.#options;
    if (current === undefined || staged !== undefined || this.taken > 0 || this.#incoming.covers !== undefined)
      return false;
    // A missing row moves the watermark back.
    if (this.#isDeleting || this.missing !== undefined) return false;
    if (rule.retain?.within === undefined || current.rows === 0) return true;
    return current.oldest !== undefined && this.#age(current.columns)?.of.isOld(current.oldest) === false;
  }

  /** Writes the rows as another staged segment; returns all staged ranges. */
  async stage(): Promise<StagedRanges> {
    this.#settleColumns();
    const { staged, run } = this.#options;
    const segment = await this.#writeTaken(new Merge(this.#sorter.sources(0)));
    await this.#files.sync();
    const { id = run, segments = [] } = staged ?? {};
    return { id, columns: this.#columns, next: this.#writer!.next, segments: [...segments, segment] };
  }

  /** Prepares the merged rows for {@link next}. Call this after the last row. */
  async merge(): Promise<void> {
    this.#settleColumns();
    this.#takeSegments();
    const isWhole = this.#isWhole;
    const isNew = this.taken > 0 || this.#incoming.covers !== undefined;
    if (!isWhole && isNew)
      this.#segments = [...this.#segments, await this.#writeTaken(new Merge(this.#sorter.sources(0)))];
    const columns = this.#columns.map(({ name, type }) => ({ name, type }));
    const newest = await this.#newest(columns, isWhole);
    this.#merge = this.#sources(isWhole);
    const gates = { ...this.#filters(), newest };
    this.#reader = new RowReader(this.#merge, { columns, gates });
    if (isWhole) this.#whole = await SegmentWriter.create(this.#files.pathOf(this.#files.next()), this.#options);
  }

  /** The next batch of merged rows; undefined at the end. Valid until the next call. */
  next(): Promise<Batch | undefined> {
    const whole = this.#whole;
    if (whole === undefined) return this.#reader!.next();
    return this.#reader!.next((source, bytes) => whole.write(source.buffer, source.start, bytes));
  }

  /** Reads the remaining rows and syncs all files; returns the manifest of the new generation. */
  async seal(): Promise<Manifest> {
    while ((await this.next()) !== undefined);
    if (this.#whole !== undefined) {
      const file = this.#files.last;
      this.#segments = [{ file, ...(await this.#whole.seal()), asOf: this.#options.asOf }];
      this.#whole = undefined;
    }
    await this.#files.sync();
    const { rows, oldest = '' } = this.#reader!;
    const columns = this.#columns;
    const { next } = this.#writer!;
    const { staged } = this.#options;
    const filled = staged === undefined ? {} : { filled: staged.id };
    const oldestFact = oldest === '' ? {} : { oldest };
    return { version: 1, columns, next, rows, ...oldestFact, ...filled, segments: this.#segments };
  }

  /** Closes the files without deleting what the run wrote. */
  async close(): Promise<void> {
    await this.#whole?.abandon();
    await this.#merge?.close();
    await this.#keys?.close();
    await this.#sorter.close();
  }

  /** Settles the columns' types, which are known only after the last row. */
  #settleColumns(): void {
    const { columns: come, absentColumns } = this.#incoming;
    const areFound = absentColumns !== undefined;
    this.#columns = settleTypes(this.#layout, { come, hasValue: this.#writer!.hasValue, areFound });
  }

  /** Starts from the segments of earlier runs. */
  #takeSegments(): void {
    const { current, staged } = this.#options;
    this.#segments = inOrderOfExtract(current?.segments ?? [], staged?.segments ?? []);
    this.#firstNew = this.#segments.length;
  }

  /** Whether all rows are written to one new file. Only before the run adds its own segment. */
  get #isWhole(): boolean {
    const { current, isHeld = false } = this.#options;
    // Deleted rows are left out of a new file, because the next run couldn't tell from the other files.
    if (current === undefined || !this.#sorter.isSmall || this.#isDeleting) return true;
    return isToCompact({ segments: this.#segments, liveRows: current.rows, newRecords: this.taken, isHeld });
  }

  /** The sources to merge: either all segments, or the earlier segments and the sorter. */
  #sources(isWhole: boolean): Merge {
    const { covers } = this.#incoming;
    const files = segmentReaders(this.#segments, {
      covers: isWhole ? covers : undefined,
      columns: this.#columns,
      pathOf: (file) => this.#files.pathOf(file),
    });
    return new Merge(isWhole ? [...files, ...this.#sorter.sources(files.length)] : files);
  }

  /** The filters of a merge, except for the newest rows. */
  #filters(): RowFilters {
    const age = this.#age(this.#columns);
    const keys = this.#isDeleting ? this.#keys?.filter(this.#firstNew) : undefined;
    return { ...(age === undefined ? {} : { age }), ...(keys === undefined ? {} : { keys }) };
  }

  #age(columns: readonly Column[]): RowFilters['age'] {
    const { rule, zone, asOf } = this.#options;
    const { column, within: span } = rule.retain ?? {};
    if (column === undefined || span === undefined) return undefined;
    // A source that finds its columns in its records has none of them until there is a record.
    const isEmpty = this.taken === 0 && this.#segments.every(({ rows }) => rows === 0);
    if (isEmpty && !columns.some(({ name }) => name === column)) return undefined;
    const at = namedColumn(columns, column, 'retain.column');
    return { at, of: new RetentionAge(columns[at]!, { within: span, zone, now: asOf }) };
  }

  async #newest(columns: readonly Column[], isWhole: boolean): Promise<RowFilters['newest']> {
    const { rule, scratch, room } = this.#options;
    const { rows, column } = rule.retain ?? {};
    const maxRows = this.#segments.reduce((sum, segment) => sum + segment.rows, isWhole ? this.taken : 0);
    if (rows === undefined || maxRows <= rows) return undefined;
    if (column !== undefined) namedColumn(columns, column, 'retain.column');
    const merge = this.#sources(isWhole);
    const reader = new RowReader(merge, { columns, gates: this.#filters() });
    return findNewest(reader, { rows, folder: scratch, merge, room, column });
  }

  async #writeTaken(merge: Merge): Promise<Segment> {
    const { asOf } = this.#options;
    const { covers } = this.#incoming;
    const file = this.#files.next();
    const writer = await SegmentWriter.create(this.#files.pathOf(file), this.#options);
    try {
      await merge.copyTo(writer);
      const sealed = await writer.seal();
      return { file, ...sealed, asOf, replaces: covers };
    } catch (thrown) {
      await writer.abandon();
      throw thrown;
    } finally {
      await merge.close();
    }
  }
}
