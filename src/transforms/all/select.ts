import { columnIndex, refuseTwice } from '../columns.ts';
import { defineTransform } from '../transform.ts';

/** Keeps the named columns, in the order in which they're named. */
export default defineTransform<readonly string[]>({
  id: 'select',
  title: 'Select',
  summary: 'Keeps the named columns, in the given order.',
  schema: {
    type: 'array',
    items: { type: 'string' },
    minItems: 1,
    description: "Names of the columns to keep, in the payload's order.",
    examples: [['id', 'country', 'amount']],
  },
  check(names) {
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    return twice === undefined ? [] : [`"${twice}" is selected twice`];
  },
  prepare(names, columns) {
    refuseTwice(names, (name) => `"${name}" is selected twice`);
    const indexes = names.map((name) => columnIndex(columns, name));
    const selected = indexes.map((index) => columns[index]!);
    return {
      columns: selected,
      apply: (batch) => ({ ...batch, columns: selected, cells: indexes.map((index) => batch.cells[index]!) }),
    };
  },
});
