import { countText } from '../../lib/count-text.ts';
import { Problem } from '../../lib/problem.ts';
import { type Batch, type Cells, cellText } from '../../sdk/batch.ts';
import type { Column } from '../../sdk/column.ts';
import { columnIndex } from '../columns.ts';
import { Held } from '../held.ts';
import { defineTransform } from '../transform.ts';
import { compareKeys, type SortKey, sortKeyOf } from '../values/sort-key.ts';

type By = string | { readonly column: string; readonly order?: 'asc' | 'desc' };
type Given = By | readonly By[] | { readonly by: readonly By[]; readonly max_rows?: number };

interface Key {
  readonly index: number;
  readonly descending: boolean;
}

const defaultMaxRows = 100_000;
const batchRows = 1000;
const bySchema = {
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      required: ['column'],
      additionalProperties: false,
      properties: { column: { type: 'string' }, order: { enum: ['asc', 'desc'], default: 'asc' } },
    },
  ],
};

/** Sorts the rows. All rows are in memory until the source ends, so their number is limited. */
export default defineTransform<Given>({
  id: 'sort',
  title: 'Sort',
  summary: 'Sorts the rows in memory, so the number of rows is limited.',
  schema: {
    anyOf: [
      ...bySchema.anyOf,
      { type: 'array', items: bySchema, minItems: 1 },
      {
        type: 'object',
        required: ['by'],
        additionalProperties: false,
        properties: {
          by: { type: 'array', items: bySchema, minItems: 1 },
          max_rows: {
            type: 'integer',
            minimum: 1,
            default: defaultMaxRows,
            description: 'Maximum number of rows. A run with more rows fails instead of truncating the result.',
          },
        },
      },
    ],
    description:
      'Columns to sort by, the most significant first. Numbers and instants sort by value, text by code point, nulls last.',
    examples: [['country', { column: 'amount', order: 'desc' }]],
  },
  prepare(given, columns) {
    const { by, most } = wishes(given);
    const keys = by.map((one) => keyOf(one, columns));
    const held = new Held(columns);
    return {
      columns,
      apply(batch) {
        if (held.rows + batch.length > most) throw tooMany(most);
        held.add(batch);
        return null;
      },
      *finish() {
        const all = held.release();
        if (all !== null) yield* slices(all, order(all, keys));
      },
    };
  },
});

function wishes(given: Given): { by: readonly By[]; most: number } {
  if (typeof given === 'object' && 'by' in given) return { by: given.by, most: given.max_rows ?? defaultMaxRows };
  return { by: Array.isArray(given) ? given : [given as By], most: defaultMaxRows };
}

function keyOf(by: By, columns: readonly Column[]): Key {
  const { column, order = 'asc' } = typeof by === 'string' ? { column: by } : by;
  return { index: columnIndex(columns, column), descending: order === 'desc' };
}

/** Returns the positions of the stored rows in sorted order. The sort is stable. */
function order(all: Batch, keys: readonly Key[]): Int32Array {
  const columns = keys.map(({ index }) => sortKeys(all.cells[index]!, all.columns[index]!, all.length));
  const compare = (a: number, b: number): number => {
    for (let k = 0; k < keys.length; k++) {
      const [left, right] = [columns[k]![a]!, columns[k]![b]!];
      const found = compareKeys(left, right);
      if (found !== 0) return keys[k]!.descending && left !== null && right !== null ? -found : found;
    }
    return 0;
  };
  return Int32Array.from({ length: all.length }, (_, r) => r).sort(compare);
}

function sortKeys(cells: Cells, { type }: Column, length: number): SortKey[] {
  const toKey = sortKeyOf(type);
  return Array.from({ length }, (_, r) => {
    const text = cellText(cells, type, r);
    return text === null ? null : toKey(text);
  });
}

function* slices(all: Batch, rows: Int32Array): Iterable<Batch> {
  for (let at = 0; at < rows.length; at += batchRows) {
    const slice = rows.subarray(at, at + batchRows);
    yield { columns: all.columns, cells: all.cells, length: slice.length, rows: slice };
  }
}

function tooMany(most: number): Problem {
  return new Problem({
    code: 'SORT_TOO_MANY_ROWS',
    family: 'job',
    message: `sort received more than ${countText(most)} rows`,
    allowed: `max_rows: ${most}`,
    next: 'sort at the source (ORDER BY), filter or limit before sorting, or raise max_rows: the rows are kept in memory',
  });
}
