import { type JsonSchema, type OptionSet, option, schemaOf } from '../../sdk/option.ts';

/** As it is written. */
export type WrittenRule = {
  readonly disposition?: 'replace' | 'append' | 'merge';
  readonly key?: string | readonly string[];
  readonly deleted?: string;
  readonly retain?: { readonly column?: string; readonly within?: string; readonly rows?: number };
};

const name: JsonSchema = { type: 'string', minLength: 1 };

/** How the rows of a run combine with kept rows. Columns are named as in the source, before transforms. */
export const writeOptions = {
  disposition: option.choice(['replace', 'append', 'merge'], {
    default: 'replace',
    about:
      'replace: the instance shows only the rows of the run. append: new rows are added to the kept rows. merge: each new row replaces the kept row with the same key.',
    example: 'merge',
  }),
  key: option.schema<string | readonly string[] | undefined>(
    { anyOf: [name, { type: 'array', items: name, minItems: 1, uniqueItems: true }] },
    { about: 'merge: the columns that identify a row, like a primary key.', example: ['id'] },
  ),
  deleted: option.text({
    about:
      'merge: a column that marks deleted rows. A row is removed if its value is anything but null, empty text, false or 0.',
    example: 'deleted_at',
  }),
  retain: option.schema<WrittenRule['retain']>(
    {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      properties: {
        column: { ...name, description: 'Date or time column that gives the age of a row.' },
        within: {
          type: 'string',
          pattern: '^[1-9]\\d{0,5}[mhdw]$',
          description: 'Maximum age of rows, relative to the run: minutes (m), hours (h), days (d) or weeks (w).',
        },
        rows: { type: 'integer', minimum: 1, description: 'Number of newest rows to keep.' },
      },
    },
    {
      about: 'append and merge: which rows to keep. Default: all.',
      example: { column: 'ordered_at', within: '90d' },
    },
  ),
} satisfies OptionSet;

/** A word alone is the disposition. */
export const writeSchema: JsonSchema = { anyOf: [{ enum: ['replace', 'append', 'merge'] }, schemaOf(writeOptions)] };
