import {
  type Batch,
  type Column,
  type CursorBound,
  cellText,
  type Extraction,
  isBefore,
  type KeyList,
  Problem,
  refuseCursorValue,
  storedRow,
  watermarkText,
} from '#sdk';
import { type ChangesOptions, mendNulls, openChanges, wholeBatches } from './changes.ts';
import { bare, type Dialect, type RunQuery, rangeQuery } from './dialect.ts';
import type { SqlQuery } from './options.ts';
import { columnAt, refuseNulls } from './ordered.ts';

interface ComparedOptions extends ChangesOptions {
  /** The job's key columns. */
  readonly key: readonly string[];
  /** Runs another query after the rows were read. */
  readonly askAgain: RunQuery;
}

/**
 * Incremental read that also lists the keys of all rows, so that the job can delete the others. Two queries don't see
 * the same snapshot, and a lagging replica may answer the second one, so a row can be deleted that exists. The watermark
 * therefore doesn't remember rows, and isn't higher than the highest cursor in the list, or than the cursor of a row
 * that is in the list but not in the job: the next run reads these rows again.
 *
 * @throws Problem `CURSOR_TYPE` if the cursor is text, because only the database can compare it
 */
export async function extractCompared({ key, askAgain, ...given }: ComparedOptions): Promise<Extraction> {
  const { query, dialect } = given;
  const { read, before, columns, at, decides, type } = await openChanges(given);
  // SQLite doesn't know its columns' types until there are rows.
  const cursorType = before?.value.type ?? type;
  if (cursorType === 'text' && dialect.stored === undefined) throw textCursor(query.cursor);
  /** The highest cursors of both reads, and the lowest one of the rows that the job lacks. */
  const bounds: { rows: CursorBound | undefined; keys?: CursorBound; missing?: CursorBound } = { rows: before?.value };
  return {
    columns,
    cursor: query.cursor,
    batches: rows(),
    watermark() {
      const { rows: highest, ...others } = bounds;
      if (highest === undefined) return undefined;
      const value = Object.values(others).reduce((low, bound) => (isBefore(bound, low) ? bound : low), highest);
      return watermarkText({ column: query.cursor, value, columns: [], seen: [] });
    },
    readKeys,
  };

  async function* rows(): AsyncGenerator<Batch, void, void> {
    for await (const batch of wholeBatches(read.batches, { columns, at, before })) {
      if (type === 'text') throw textCursor(query.cursor);
      const last = comparable(query.cursor, lastCursor(batch, decides, type));
      // The rows after the watermark may all have been deleted.
      if (bounds.rows === undefined || isBefore(bounds.rows, last)) bounds.rows = last;
      yield { ...batch, columns, cells: batch.cells.slice(0, columns.length) };
    }
  }

  async function readKeys(): Promise<KeyList> {
    const list = await askAgain(keysQuery(query, { key, dialect }));
    const own = [...list.columns.slice(0, key.length), { name: cursorName(query.cursor, key), type: cursorType }];
    return {
      columns: own,
      batches: keys(list, own),
      onMissing(text) {
        bounds.missing = comparable(query.cursor, { type: cursorType, text });
      },
    };
  }

  async function* keys({ columns: listed, batches }: Extraction, own: readonly Column[]): AsyncGenerator<Batch> {
    const at = columnAt(listed, query.cursor, { option: 'cursor', dialect });
    const decidesKey = dialect.stored === undefined ? at : listed.length - 1;
    let count = 0;
    for await (const batch of batches) {
      if (batch.length === 0) continue;
      refuseNulls(batch, at, { before: count, next: mendNulls });
      count += batch.length;
      bounds.keys = comparable(query.cursor, lastCursor(batch, decidesKey, cursorType));
      yield { ...batch, columns: own, cells: [...batch.cells.slice(0, key.length), batch.cells[decidesKey]!] };
    }
    if (count === 0) throw noKeys();
  }
}

/** The keys of all rows, in cursor order, so that the last one has the highest cursor. */
function keysQuery(
  query: SqlQuery & { readonly cursor: string },
  { key, dialect }: { key: readonly string[]; dialect: Dialect },
): SqlQuery {
  const names = [...new Set([...key, query.cursor])].map((name) => dialect.quote(name));
  const sql = `select ${names.join(', ')} from (\n${bare(query.sql)}\n) sluice_keys`;
  // A row whose cursor has become null since the rows were read isn't deleted: the list must then fail as the rows would.
  const nulls = query.null_cursors === 'refuse' ? 'read' : query.null_cursors;
  return rangeQuery({ ...query, sql }, { columns: [query.cursor], nulls }, dialect);
}

/** A name for the list's last column that no key column has. */
function cursorName(cursor: string, key: readonly string[]): string {
  return key.includes(cursor) ? cursorName(`${cursor}_`, key) : cursor;
}

function lastCursor(batch: Batch, at: number, type: CursorBound['type']): CursorBound {
  const stored = storedRow(batch, batch.length - 1);
  return { type, text: cellText(batch.cells[at]!, batch.columns[at]!.type, stored)! };
}

/** Throws a Problem for a value that can't be compared, such as infinity. */
function comparable(column: string, bound: CursorBound): CursorBound {
  refuseCursorValue(column, bound);
  return bound;
}

function textCursor(column: string): Problem {
  return new Problem({
    code: 'CURSOR_TYPE',
    family: 'config',
    message: `column ${JSON.stringify(column)} cannot be the cursor of a job with deletes: compare, because its type is text`,
    where: { column },
    allowed: 'integer, decimal, date, timestamp, timestamptz',
    next: 'use another column as the cursor, or remove deletes',
  });
}

/** Without keys, the watermark would have no value, and the table is more likely being refilled. */
function noKeys(): Problem {
  return new Problem({
    code: 'DB_NO_KEYS',
    family: 'try_later',
    message: 'the query returned no rows when its keys were read, so all kept rows would be deleted',
    next: 'check whether the table was emptied; if this is right, make the job start over: `sluice state clear JOB`',
  });
}
