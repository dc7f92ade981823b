import type { RetentionSpan } from '../../kept-rows/write-rule.ts';
import { type JsonSchema, type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import type { Part } from '../text/variables.ts';
import { readAs, readWhole } from './field.ts';

const name: JsonSchema = { type: 'string', minLength: 1 };

const units: Readonly<Record<string, RetentionSpan['unit']>> = { m: 'minutes', h: 'hours', d: 'days', w: 'weeks' };

function readRetention({ value }: Part): RetentionSpan {
  const text = String(value);
  return { count: Number.parseInt(text, 10), unit: units[text.slice(-1)] ?? 'days' };
}

const retainOptions = {
  column: option.schema<string | undefined>(name, { about: "Date or time column that determines a row's age." }),
  within: readAs(
    option.text({
      pattern: '^[1-9]\\d{0,5}[mhdw]$',
      about: 'Maximum age of rows when the run starts, in minutes (m), hours (h), days (d) or weeks (w).',
    }),
    { read: readRetention },
  ),
  rows: option.integer({ minimum: 1, about: 'Number of newest rows to keep.' }),
} satisfies OptionSet;

/** How a run's rows are combined with the kept rows. Column names refer to the source's columns, before transforms. */
export const writeOptions = {
  disposition: option.choice(['replace', 'append', 'merge'], {
    default: 'replace',
    about:
      "replace: the instance shows only the run's rows. append: new rows are added to the kept rows. merge: each new row replaces the kept row with the same key.",
    example: 'merge',
  }),
  key: readAs(
    option.schema<string | readonly string[] | undefined>(
      { anyOf: [name, { type: 'array', items: name, minItems: 1, uniqueItems: true }] },
      { about: 'merge: the columns that identify a row, like a primary key.', example: ['id'] },
    ),
    { read: ({ value }): readonly string[] => [value as string | string[]].flat() },
  ),
  deleted: option.text({
    about:
      "merge: a column that marks deleted rows. A row is removed if this column's value is anything but null, an empty string, false or 0.",
    example: 'deleted_at',
  }),
  deletes: option.choice(['compare'], {
    about:
      'merge: how deletions are found without a mark. compare: each run also reads the keys of all rows, and removes the kept rows that the source no longer has.',
    example: 'compare',
  }),
  retain: readAs(
    option.schema<object | undefined>(
      { ...schemaOf(retainOptions), minProperties: 1 },
      {
        about: 'append and merge: which rows to keep. Default: all.',
        example: { column: 'ordered_at', within: '90d' },
      },
    ),
    { read: (at, faults) => readWhole(retainOptions, at, faults) },
  ),
} satisfies OptionSet;

/** The schema of `write`. A string is shorthand for a map with that disposition. */
export const writeSchema: JsonSchema = { anyOf: [{ enum: ['replace', 'append', 'merge'] }, schemaOf(writeOptions)] };
