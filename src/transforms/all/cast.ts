import { Problem } from '../../lib/problem.ts';
import { type Batch, type Cells, cellText, storedRow } from '../../sdk/batch.ts';
import { type Column, type ColumnType, columnTypes } from '../../sdk/column.ts';
import { columnIndex } from '../columns.ts';
import { shown } from '../show.ts';
import { newCells } from '../stored.ts';
import { defineTransform } from '../transform.ts';
import { type Convert, castTargets, conversion, keepsText } from '../values/cast-text.ts';

type Wanted = ColumnType | { readonly type: ColumnType; readonly on_error?: 'fail' | 'null' };

interface Step {
  readonly index: number;
  readonly from: Column;
  readonly to: ColumnType;
  readonly convert: Convert;
  readonly nullOnError: boolean;
}

const typeSchema = { enum: columnTypes };

/** Changes the types of columns. Validates the values, and converts them to the canonical form of the new type. */
export default defineTransform<Readonly<Record<string, Wanted>>>({
  id: 'cast',
  title: 'Cast',
  summary: 'Changes the types of columns; every value is checked.',
  schema: {
    type: 'object',
    minProperties: 1,
    additionalProperties: {
      anyOf: [
        typeSchema,
        {
          type: 'object',
          required: ['type'],
          additionalProperties: false,
          properties: { type: typeSchema, on_error: { enum: ['fail', 'null'], default: 'fail' } },
        },
      ],
    },
    description:
      'A map from column to type. A value that is not valid for the type fails the run, or becomes null with on_error: null.',
    examples: [{ amount: 'decimal', paid_on: { type: 'date', on_error: 'null' } }],
  },
  prepare(given, columns) {
    const steps = Object.entries(given).map(([name, wanted]) => stepOf(name, wanted, columns));
    const typed = columns.map((column, c) => {
      const step = steps.find(({ index }) => index === c);
      return step === undefined ? column : { name: column.name, type: step.to };
    });
    const working = steps.filter(({ from, to }) => !keepsText(from.type, to));
    return {
      columns: typed,
      apply(batch, before = 0) {
        const cells = [...batch.cells];
        for (const step of working) cells[step.index] = castCells(step, batch, before);
        return { ...batch, columns: typed, cells };
      },
    };
  },
});

function stepOf(name: string, wanted: Wanted, columns: readonly Column[]): Step {
  const index = columnIndex(columns, name);
  const from = columns[index]!;
  const { type: to, on_error = 'fail' } = typeof wanted === 'string' ? { type: wanted } : wanted;
  const convert = conversion(from.type, to);
  if (convert === undefined) throw impossible(from, to);
  return { index, from, to, convert, nullOnError: on_error === 'null' };
}

function impossible({ name, type }: Column, to: ColumnType): Problem {
  return new Problem({
    code: 'CAST_IMPOSSIBLE',
    family: 'config',
    message: `Column "${name}" is ${type}, which cannot be cast to ${to}`,
    where: { column: name },
    allowed: castTargets(type).join(', ') || 'no other type',
  });
}

function castCells(step: Step, batch: Batch, before: number): Cells {
  const cells = batch.cells[step.index]!;
  const values = newCells(batch);
  for (let i = 0; i < batch.length; i++) {
    const stored = storedRow(batch, i);
    const text = cellText(cells, step.from.type, stored);
    if (text === null) continue;
    const converted = step.convert(text);
    if (converted === undefined && !step.nullOnError) throw failed(step, text, before + stored + 1);
    values[stored] = converted ?? null;
  }
  return { kind: 'values', values };
}

function failed({ from, to }: Step, text: string, row: number): Problem {
  return new Problem({
    code: 'CAST_FAILED',
    family: 'row',
    message: `A value in column "${from.name}" is not a valid ${to}`,
    where: { row, column: from.name },
    seen: shown(text),
    next: `to replace such values with null, set cast: { ${from.name}: { type: ${to}, on_error: null } }`,
  });
}
