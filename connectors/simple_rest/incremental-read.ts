import {
  type Batch,
  BoundaryRows,
  type Column,
  type CursorBound,
  type CursorWatermark,
  canonicalText,
  cellText,
  type Extraction,
  isBefore,
  type KeptColumn,
  lagged,
  parseExact,
  parseWatermark,
  type Range,
  rangeBounds,
  refuseCursorType,
  refuseCursorValue,
  refuseOtherType,
  renderText,
  type Scope,
  storedRow,
  watermarkText,
} from '#sdk';
import { noCursorColumn, noCursorValue, notComparable } from './incremental-problems.ts';
import type { RestQuery } from './options.ts';

interface IncrementalReadOptions {
  readonly query: RestQuery & { readonly cursor: string };
  readonly watermark: string | undefined;
  /** The columns of the job's kept rows. */
  readonly keptColumns: readonly KeptColumn[] | undefined;
  /** The range to read instead of new records. */
  readonly range: Range | undefined;
  /** IANA time zone of the job's days. */
  readonly timezone: string | undefined;
  /** When the first of the pages is requested, in epoch milliseconds. */
  readonly startsAt: number;
}

/** The records of all pages as a table. Can be called several times. */
type OpenTable = () => Promise<Extraction>;

/** An incremental read: where it starts, and which of the returned records are new. */
export class IncrementalRead {
  readonly #query: IncrementalReadOptions['query'];
  readonly #before: CursorWatermark | undefined;
  readonly #kept: readonly KeptColumn[];
  readonly #startsAt: number;
  readonly #range: { readonly from: CursorBound; readonly to: CursorBound } | undefined;

  /** Throws a Problem if the watermark or the range is invalid. */
  constructor(given: IncrementalReadOptions) {
    const { query, watermark, keptColumns = [], range, timezone = 'UTC', startsAt } = given;
    this.#query = query;
    this.#kept = keptColumns;
    this.#startsAt = startsAt;
    this.#before = parseWatermark(watermark);
    const column = { column: query.cursor, type: this.#before?.value.type, timezone };
    this.#range = range && rangeBounds(range, column);
  }

  /** The template variables `since` and `until`, if they have values. */
  names(scope: Scope): { readonly since?: unknown; readonly until?: unknown } {
    const { cursor, lag, start } = this.#query;
    const from = this.#range?.from ?? this.#before?.value;
    // A backfill needs the lag if an API returns only records after the time. Records before the range are dropped.
    const since = from && sent(lagged(cursor, from, lag));
    if (this.#range !== undefined) return { since, until: sent(this.#range.to) };
    if (since !== undefined) return { since };
    if (start === undefined) return {};
    return { since: typeof start === 'number' ? start : renderText(start, scope) };
  }

  /** The rows that are new since the last run, or those in the range. They can be in any order. */
  async rows(open: OpenTable): Promise<Extraction> {
    const table = await open();
    const { firstPage, absentColumns } = table;
    return { ...(await this.#wanted(table, open)), firstPage, absentColumns };
  }

  async #wanted(table: Extraction, open: OpenTable): Promise<Extraction> {
    const { cursor } = this.#query;
    const { absentColumns: absent = [] } = table;
    const at = table.columns.findIndex(({ name }) => name === cursor && !absent.includes(name));
    const value = await firstValue(await open(), { cursor, at });
    if (value === undefined) return this.#none(table, at);
    const before = this.#before?.value;
    const type = cursorType(table.columns[at]!, { value, before: before?.type });
    const columns = table.columns.with(at, { name: cursor, type });
    refuseOtherType(columns[at]!, before);
    const typed = this.#typed(table.batches, { columns, at });
    if (this.#range !== undefined) return this.#inRange(typed, { columns, at });
    return this.#fresh(typed, { columns, at, absent });
  }

  /** The result if no record has a cursor value. */
  #none({ columns, batches }: Extraction, at: number): Extraction {
    const nothing = at < 0 ? batches : this.#typed(batches, { columns, at });
    if (this.#range === undefined) return { columns, batches: nothing, unchanged: () => true };
    return { columns, batches: nothing, covers: this.#covers };
  }

  #fresh(batches: AsyncIterable<Batch>, { columns, at, absent }: Typed & { absent: readonly string[] }): Extraction {
    const { cursor: column, lag } = this.#query;
    const { type } = columns[at]!;
    // These values can differ in each response, even if the record hasn't changed.
    const ignored = new Set(Object.keys({ ...this.#query.header_columns, ...this.#query.page_columns }));
    const isRetyped = ({ name, type: former, seen }: KeptColumn) =>
      seen && columns.some((one) => one.name === name && one.type !== former);
    const doubtful = [...absent, ...this.#kept.filter(isRetyped).map(({ name }) => name)];
    const formerTypes = new Map(this.#kept.flatMap(({ name, type, seen }) => (seen ? [[name, type]] : [])));
    const reading = { column, lag, before: this.#before, at, type, columns, ignored, doubtful, formerTypes };
    const max = type === 'timestamptz' ? { type, text: wholeSeconds(this.#startsAt) } : undefined;
    const edge = new BoundaryRows({ ...reading, isSorted: false, max });
    let count = 0;
    async function* fresh(): AsyncGenerator<Batch, void, void> {
      for await (const batch of batches) {
        if (batch.length === 0) continue;
        const rest = edge.fresh(batch);
        count += rest.length;
        if (rest.length > 0) yield rest;
      }
    }
    return {
      columns,
      cursor: column,
      batches: fresh(),
      watermark: () => watermarkText(edge.watermark()!),
      unchanged: () => count === 0,
      comesAgain: () => edge.comesAgain,
    };
  }

  #inRange(batches: AsyncIterable<Batch>, { columns, at }: Typed): Extraction {
    const { cursor } = this.#query;
    const { from, to } = this.#range!;
    const { type } = columns[at]!;
    const isIn = (batch: Batch, stored: number) => {
      const value = { type, text: cellText(batch.cells[at]!, type, stored)! };
      refuseCursorValue(cursor, value);
      return !isBefore(value, from) && isBefore(value, to);
    };
    async function* inRange(): AsyncGenerator<Batch, void, void> {
      for await (const batch of batches) yield filtered(batch, (stored) => isIn(batch, stored));
    }
    return { columns, cursor, covers: this.#covers, batches: inRange() };
  }

  get #covers(): NonNullable<Extraction['covers']> {
    const { from, to } = this.#range!;
    return { column: this.#query.cursor, from: from.text, to: to.text };
  }

  /** The batches with cursor values of the column's type, in canonical text. */
  async *#typed(batches: AsyncIterable<Batch>, { columns, at }: Typed): AsyncGenerator<Batch, void, void> {
    const { null_cursors } = this.#query;
    const column = columns[at]!;
    let before = 0;
    for await (const batch of batches) {
      const values: (string | null)[] = [];
      for (let i = 0; i < batch.length; i++) {
        const stored = storedRow(batch, i);
        const row = before + i + 1;
        const text = cellText(batch.cells[at]!, batch.columns[at]!.type, stored);
        const isNone = text === null || text === '';
        if (isNone && null_cursors === 'refuse') throw noCursorValue(column.name, row);
        const canonical = isNone ? null : canonicalText(text, column.type);
        if (canonical === undefined) throw notComparable(column, { row, seen: text! });
        values[stored] = canonical;
      }
      before += batch.length;
      const cells = batch.cells.with(at, { kind: 'values', values });
      yield filtered({ ...batch, columns, cells }, (stored) => values[stored] !== null);
    }
  }
}

/** The time in UTC without a fraction, which some APIs don't accept. */
function wholeSeconds(epochMs: number): string {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(epochMs / 1000) * 1000).toString();
}

interface Typed {
  readonly columns: readonly Column[];
  /** Index of the cursor. */
  readonly at: number;
}

/** The first cursor value. Throws a Problem if there are records, but none has the column. */
async function firstValue(
  { columns, batches, absentColumns = [] }: Extraction,
  { cursor, at }: { cursor: string; at: number },
): Promise<string | undefined> {
  const found = columns.filter(({ name }) => !absentColumns.includes(name));
  for await (const batch of batches) {
    for (let i = 0; i < batch.length; i++) {
      if (at < 0) throw noCursorColumn(cursor, found);
      const text = cellText(batch.cells[at]!, columns[at]!.type, storedRow(batch, i));
      if (text !== null && text !== '') return text;
    }
  }
  return undefined;
}

/** The types that a text can have as a cursor, the most specific first. */
const inText = ['date', 'timestamptz', 'timestamp', 'integer', 'decimal'] as const;

/**
 * The type by which cursor values are compared: the column's own or, for text, the type of the last run's values if the
 * first value has it, and otherwise that of the first value. Decimals stay decimals if a response has only whole ones.
 */
function cursorType(column: Column, given: { value: string; before: Column['type'] | undefined }): Column['type'] {
  const { value, before } = given;
  if (column.type === 'integer' && before === 'decimal') return before;
  const likely = [...inText.filter((one) => one === before), ...inText];
  const type = column.type === 'text' ? likely.find((one) => canonicalText(value, one) !== undefined) : column.type;
  if (type === undefined) throw notComparable(column, { seen: value });
  refuseCursorType(column.name, type);
  return type;
}

function filtered(batch: Batch, isWanted: (stored: number) => boolean): Batch {
  const rows = new Int32Array(batch.length);
  let length = 0;
  for (let i = 0; i < batch.length; i++) {
    const stored = storedRow(batch, i);
    if (isWanted(stored)) rows[length++] = stored;
  }
  return { ...batch, rows, length };
}

/** A cursor value for a request. Times are in UTC, because the plus sign of an offset means a space in many URLs. */
function sent({ type, text }: CursorBound): unknown {
  if (type === 'integer' || type === 'decimal') return parseExact(text);
  return type === 'timestamptz' && !text.endsWith('Z') ? Temporal.Instant.from(text).toString() : text;
}
