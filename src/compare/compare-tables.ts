import type { PayloadTable, Row } from '../formats/payload-table.ts';
import { type ColumnFigures, ColumnProfile } from './column-profile.ts';
import { type CellNames, RowChanges } from './row-changes.ts';
import { type RowKey, type Side, type SortedRow, SortedRows } from './sorted-rows.ts';

/** Maximum number of candidate keys to try. Each candidate requires a pass over all rows. */
const maxFoundKeys = 3;
/**
 * Fraction of the row count that an estimated distinct count must reach. An estimate may be slightly too low even if
 * all values are distinct.
 */
const nearlyAll = 0.9;

export type NamedRow = Readonly<Record<string, string | null>>;

/**
 * A column's statistics in the last and in the current table. Statistics are null for a table that doesn't have the
 * column.
 */
export interface ColumnDifference {
  readonly column: string;
  /** Number of rows in which this column's cells differ; 0 if the comparison matched whole rows. */
  readonly changed: number;
  readonly last: ColumnFigures | null;
  readonly now: ColumnFigures | null;
}

/** Two tables' differences. All figures are exact except distinct counts that are marked as estimates. */
export interface TableDifference {
  /**
   * How rows are matched: by a declared key, by a column whose values are unique and non-null in both tables, or by the
   * whole row.
   */
  readonly by: { readonly kind: 'declared' | 'found' | 'row'; readonly columns: readonly string[] };
  readonly rows: Readonly<Record<Side, number>>;
  readonly added: number;
  readonly removed: number;
  /**
   * Rows with the same key in both tables and at least one different cell. Without a key, such a row counts as one
   * removed row and one added row.
   */
  readonly changed: number;
  readonly columns: readonly ColumnDifference[];
  /** The first few added, removed and changed rows, in key order. */
  readonly samples: {
    readonly added: readonly NamedRow[];
    readonly removed: readonly NamedRow[];
    readonly changed: readonly { readonly last: NamedRow; readonly now: NamedRow }[];
  };
}

export interface CompareOptions {
  /** The job's declared key columns. They're ignored if a column is missing or if the key isn't unique. */
  readonly key?: readonly string[] | undefined;
  /** Path of a folder for temporary files. */
  readonly folder: string;
  /** Maximum size in bytes of the rows that are sorted in memory at a time. Default: 16 MB. */
  readonly maxBytes?: number;
}

type Tables = Readonly<Record<Side, PayloadTable>>;

interface ProfiledTable {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, ColumnProfile>;
}

type Profiles = Readonly<Record<Side, ProfiledTable>>;

/**
 * Compares two tables by the declared key. If that's impossible, uses the column that is unique in both tables and
 * yields the fewest different cells. Without such a column, compares the tables as multisets of rows. Compares only the
 * columns that both tables have. Reads each table once for statistics, and again for each key that it tries. Sorts
 * rows on disk if they don't fit in memory.
 */
export async function compareTables(tables: Tables, options: CompareOptions): Promise<TableDifference> {
  const profiles = { last: await profileOf(tables.last), now: await profileOf(tables.now) };
  const common = tables.last.columns.filter((name) => tables.now.columns.includes(name));
  const names = { last: namesOf(tables.last, common), now: namesOf(tables.now, common) };
  const compare = (columns: readonly string[]): Promise<RowChanges | undefined> => {
    const at = columns.map((name) => common.indexOf(name));
    const isNumeric = (c: number): boolean =>
      profiles.last.columns.get(common[c]!)!.isNumeric && profiles.now.columns.get(common[c]!)!.isNumeric;
    return changesBy({ at, width: common.length, isNumeric }, { tables, names, options });
  };
  const { key = [] } = options;
  const isDeclared = key.length > 0 && key.every((name) => common.includes(name));
  const declared = isDeclared ? await compare(key) : undefined;
  const found = declared ?? (await fewestChanges(foundKeys(common, profiles), compare));
  const changes = found ?? (await compare([]))!;
  const kind = declared !== undefined ? 'declared' : found !== undefined ? 'found' : 'row';
  return {
    by: { kind, columns: changes.key.at.map((c) => common[c]!) },
    rows: { last: profiles.last.rows, now: profiles.now.rows },
    added: changes.added,
    removed: changes.removed,
    changed: changes.changed,
    columns: columnsOf(profiles, { common, changes }),
    samples: namedSamples(changes, names),
  };
}

async function profileOf(table: PayloadTable): Promise<ProfiledTable> {
  const profiles = table.columns.map(() => new ColumnProfile());
  let rows = 0;
  for await (const row of table.rows()) {
    rows += 1;
    for (const [c, profile] of profiles.entries()) profile.add(row[c]!);
  }
  return { rows, columns: new Map(table.columns.map((name, c) => [name, profiles[c]!])) };
}

/** Returns each table's column names. The common columns come first, in the same order for both tables. */
function namesOf({ columns }: PayloadTable, common: readonly string[]): string[] {
  return [...common, ...columns.filter((name) => !common.includes(name))];
}

/**
 * Columns whose values are unique in both tables according to the statistics. Sorting the rows later verifies that the
 * values are unique.
 */
function foundKeys(common: readonly string[], { last, now }: Profiles): string[] {
  const mayBeUnique = (name: string, { rows, columns }: ProfiledTable): boolean => {
    const { nulls, distinct } = columns.get(name)!.figures;
    return nulls === 0 && distinct.count >= (distinct.exact ? rows : nearlyAll * rows);
  };
  return common.filter((name) => mayBeUnique(name, last) && mayBeUnique(name, now)).slice(0, maxFoundKeys);
}

async function fewestChanges(
  keys: readonly string[],
  compare: (columns: readonly string[]) => Promise<RowChanges | undefined>,
): Promise<RowChanges | undefined> {
  let best: RowChanges | undefined;
  for (const name of keys) {
    const changes = await compare([name]);
    if (changes !== undefined && (best === undefined || changes.differentCells < best.differentCells)) best = changes;
  }
  return best;
}

interface Comparison {
  readonly tables: Tables;
  readonly names: CellNames;
  readonly options: CompareOptions;
}

/** Returns undefined if the key isn't unique. */
async function changesBy(key: RowKey, { tables, names, options }: Comparison): Promise<RowChanges | undefined> {
  const sorted = new SortedRows(key, options);
  try {
    for (const side of ['last', 'now'] as const) {
      const order = names[side].map((name) => tables[side].columns.indexOf(name));
      for await (const row of tables[side].rows()) {
        const full = sorted.add(side, ordered(row, order));
        if (full !== undefined) await full;
      }
    }
    const changes = new RowChanges(key, names);
    for await (const group of groupsOf(sorted)) if (!changes.add(group)) return undefined;
    return changes;
  } finally {
    await sorted.close();
  }
}

const ordered = (row: Row, order: readonly number[]): Row => order.map((c) => row[c]!);

async function* groupsOf(sorted: SortedRows) {
  let group: { counts: Record<Side, number>; rows: Partial<Record<Side, SortedRow>>; first: SortedRow } | undefined;
  for await (const row of sorted.inOrder()) {
    if (group === undefined || !group.first.hasKeyOf(row)) {
      if (group !== undefined) yield group;
      const first = row.copy();
      group = { counts: { last: 0, now: 0 }, rows: {}, first };
    }
    const { side } = row;
    group.counts[side] += 1;
    group.rows[side] ??= row.copy();
  }
  if (group !== undefined) yield group;
}

function columnsOf(
  { last, now }: Profiles,
  { common, changes }: { readonly common: readonly string[]; readonly changes: RowChanges },
): ColumnDifference[] {
  const places = new Map(common.map((name, c) => [name, c]));
  const [only = -1, ...others] = changes.key.at;
  const figures = (column: string, { rows, columns }: ProfiledTable): ColumnFigures | null => {
    const found = columns.get(column)?.figures ?? null;
    // Sorting has verified that the key is unique, so the distinct count is known and needn't be estimated.
    const isKey = others.length === 0 && places.get(column) === only;
    return found !== null && isKey && found.nulls === 0 ? { ...found, distinct: { count: rows, exact: true } } : found;
  };
  const names = new Set([...last.columns.keys(), ...now.columns.keys()]);
  return [...names].map((column) => ({
    column,
    changed: changes.changedCells[places.get(column) ?? -1] ?? 0,
    last: figures(column, last),
    now: figures(column, now),
  }));
}

function namedSamples({ samples }: RowChanges, names: CellNames): TableDifference['samples'] {
  const named = (row: Row, side: Side): NamedRow => Object.fromEntries(names[side].map((name, c) => [name, row[c]!]));
  return {
    added: samples.added.map((row) => named(row, 'now')),
    removed: samples.removed.map((row) => named(row, 'last')),
    changed: samples.changed.map(({ last, now }) => ({ last: named(last, 'last'), now: named(now, 'now') })),
  };
}
