import { Problem } from '../../lib/problem.ts';
import { type Batch, type Cells, storedRow, type Value, valueText } from '../../sdk/batch.ts';
import { type Column, type ColumnType, columnTypes } from '../../sdk/column.ts';
import { Expression, faultOf } from '../expression/expression.ts';
import { cellOf, columnTypeOf, columnTypeOfValue } from '../expression/result.ts';
import { newCells } from '../stored.ts';
import { defineTransform } from '../transform.ts';
import { castTargets, conversion } from '../values/cast-text.ts';

type Formula = string | { readonly expression: string; readonly type?: ColumnType };
type Given = Readonly<Record<string, Formula>>;

interface Computed {
  readonly column: Column;
  readonly cells: (batch: Batch, before: number) => Cells;
}

/** Adds columns whose values are computed by expressions, or replaces columns with them. */
export default defineTransform<Given>({
  id: 'compute',
  title: 'Compute',
  summary: 'Adds columns, or replaces existing ones, with values that expressions compute.',
  schema: {
    type: 'object',
    minProperties: 1,
    additionalProperties: {
      anyOf: [
        { type: 'string', minLength: 1 },
        {
          type: 'object',
          required: ['expression'],
          additionalProperties: false,
          properties: { expression: { type: 'string', minLength: 1 }, type: { enum: columnTypes } },
        },
      ],
    },
    description: 'A map from column to CEL expression. Expressions use the original columns, not the computed ones.',
    examples: [{ country: 'lower(country)', gross: { expression: 'round(amount * 1.19, 2)', type: 'decimal' } }],
  },
  check(given) {
    return Object.entries(given).flatMap(([name, formula]) => {
      const fault = faultOf(textOf(formula));
      return fault === undefined ? [] : [`${name}: ${fault}`];
    });
  },
  prepare(given, columns) {
    const now = new Date();
    const computed = Object.entries(given).map(([name, formula]) => computedOf(name, formula, columns, now));
    const replaced = columns.map((old) => computed.find(({ column }) => column.name === old.name)?.column ?? old);
    const added = computed.filter(({ column }) => !replaced.includes(column));
    const after = [...replaced, ...added.map(({ column }) => column)];
    const places = computed.map(({ column }) => after.indexOf(column));
    return {
      columns: after,
      apply(batch, before = 0) {
        const cells = [...batch.cells];
        for (const [index, place] of places.entries()) cells[place] = computed[index]!.cells(batch, before);
        return { ...batch, columns: after, cells };
      },
    };
  },
});

function textOf(formula: Formula): string {
  return typeof formula === 'string' ? formula : formula.expression;
}

function computedOf(name: string, formula: Formula, columns: readonly Column[], now: Date): Computed {
  const expression = within(name, () => new Expression(textOf(formula), columns, now));
  const wanted = typeof formula === 'string' ? undefined : formula.type;
  const { alone } = expression.reading;
  // If the expression is just a column, keep the column's type and bytes.
  if (alone !== undefined && (wanted ?? columns[alone]!.type) === columns[alone]!.type)
    return { column: { name, type: columns[alone]!.type }, cells: (batch) => batch.cells[alone]! };
  const inferred = columnTypeOf(expression.type);
  const type = wanted ?? inferred ?? untyped(name, expression);
  if (inferred !== undefined && conversion(inferred, type) === undefined) throw impossible(name, inferred, type);
  const toCell = inferred === type ? cellOf : castingTo(type);
  return { column: { name, type }, cells: (batch, before) => evaluated(expression, { name, toCell }, batch, before) };
}

interface Target {
  readonly name: string;
  readonly toCell: (value: unknown) => Value;
}

function evaluated(expression: Expression, { name, toCell }: Target, batch: Batch, before: number): Cells {
  const values = newCells(batch);
  expression.enter(batch, before);
  within(name, () => {
    for (let i = 0; i < batch.length; i++) {
      const stored = storedRow(batch, i);
      values[stored] = valueAt(expression, toCell, stored);
    }
  });
  return { kind: 'values', values };
}

function valueAt(expression: Expression, toCell: Target['toCell'], stored: number): Value {
  const value = expression.at(stored);
  try {
    return toCell(value);
  } catch (thrown) {
    throw expression.failed(thrown);
  }
}

/** Returns a function that converts a value to the requested type, by the rules of `cast`. */
function castingTo(type: ColumnType): (value: unknown) => Value {
  return (value) => {
    const cell = cellOf(value);
    if (cell === null) return null;
    const from = columnTypeOfValue(value);
    const text = conversion(from, type)?.(valueText(cell, from)!);
    if (text === undefined)
      throw new Error(`the result, ${from} ${JSON.stringify(String(cell))}, is not a valid ${type}`);
    return text;
  };
}

function within<T>(column: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof Problem ? thrown.at({ column }) : thrown;
  }
}

function untyped(name: string, { text, type }: Expression): never {
  throw new Problem({
    code: 'COMPUTE_TYPE_UNKNOWN',
    family: 'config',
    message: `The type of column "${name}" cannot be determined from ${JSON.stringify(text)} (${type})`,
    where: { column: name },
    allowed: columnTypes.join(', '),
    next: `set the type: ${name}: { expression: …, type: text }`,
  });
}

function impossible(name: string, inferred: ColumnType, wanted: ColumnType): Problem {
  return new Problem({
    code: 'COMPUTE_TYPE_IMPOSSIBLE',
    family: 'config',
    message: `The expression of column "${name}" returns ${inferred}, which cannot be cast to ${wanted}`,
    where: { column: name },
    allowed: [inferred, ...castTargets(inferred)].join(', '),
  });
}
