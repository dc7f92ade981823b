import { Problem } from '../../lib/problem.ts';
import { rowFingerprint } from '../../lib/row-fingerprint.ts';
import { type Batch, cellText } from '../../sdk/batch.ts';
import { columnIndex } from '../columns.ts';
import { keepRows } from '../stored.ts';
import { defineTransform } from '../transform.ts';

interface Given {
  readonly columns?: readonly string[];
  readonly max_rows?: number;
}

const defaultMaxRows = 100_000;

/** Keeps only the first row for each combination of values. */
export default defineTransform<Given | null>({
  id: 'distinct',
  title: 'Distinct',
  summary: 'Keeps the first row of each combination of values.',
  schema: {
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      columns: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        description: 'Columns to compare. Default: all.',
      },
      max_rows: {
        type: 'integer',
        minimum: 1,
        default: defaultMaxRows,
        description:
          'Maximum number of unique rows to remember; a run with more of them fails, so that the result is never wrong.',
      },
    },
    description: 'Rows are the same if the text of all compared columns is the same; null equals null.',
    examples: [{ columns: ['customer'] }],
  },
  prepare(given, columns) {
    const indexes = given?.columns?.map((name) => columnIndex(columns, name)) ?? columns.map((_, index) => index);
    const most = given?.max_rows ?? defaultMaxRows;
    const seen = new Set<string>();
    const isNew = (batch: Batch, stored: number): boolean => {
      const cells = indexes.map((c) => cellText(batch.cells[c]!, batch.columns[c]!.type, stored));
      const key = rowFingerprint(cells).toString('latin1');
      if (seen.has(key)) return false;
      if (seen.size === most) throw tooMany(most);
      seen.add(key);
      return true;
    };
    return { columns, apply: (batch) => keepRows(batch, (stored) => isNew(batch, stored)) };
  },
});

function tooMany(most: number): Problem {
  return new Problem({
    code: 'DISTINCT_TOO_MANY_ROWS',
    family: 'job',
    message: `distinct received more than ${most} unique rows`,
    allowed: `max_rows: ${most}`,
    next: 'use SELECT DISTINCT at the source, compare fewer columns, or raise max_rows (about 100 bytes of memory per row)',
  });
}
