import { columnIndex, refuseTwice } from '../columns.ts';
import { defineTransform } from '../transform.ts';

/** Renames columns. All columns are renamed at the same time, so two columns can swap their names. */
export default defineTransform<Readonly<Record<string, string>>>({
  id: 'rename',
  title: 'Rename',
  summary: 'Renames columns.',
  schema: {
    type: 'object',
    minProperties: 1,
    additionalProperties: { type: 'string', minLength: 1 },
    description: 'A map from old name to new name. All columns are renamed at once, so two columns can swap names.',
    examples: [{ created_at: 'created', amt: 'amount' }],
  },
  prepare(names, columns) {
    for (const old of Object.keys(names)) columnIndex(columns, old);
    const renamed = columns.map(({ name, type }) => ({ name: Object.hasOwn(names, name) ? names[name]! : name, type }));
    refuseTwice(
      renamed.map((column) => column.name),
      (name) => `Two columns would be named "${name}"`,
    );
    return { columns: renamed, apply: (batch) => ({ ...batch, columns: renamed }) };
  },
});
