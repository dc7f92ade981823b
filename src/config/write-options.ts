import { type JsonSchema, type OptionSet, option, schemaOf } from '../sdk/option.ts';

/** As it is written. */
export type WrittenRule = {
  readonly disposition?: 'replace' | 'append' | 'merge';
  readonly key?: string | readonly string[];
  readonly deleted?: string;
  readonly retain?: { readonly column?: string; readonly within?: string; readonly rows?: number };
};

const name: JsonSchema = { type: 'string', minLength: 1 };

/** How the rows of a run become what the instance shows. Columns are meant as the source gives them, before the transforms. */
export const writeOptions = {
  disposition: option.choice(['replace', 'append', 'merge'], {
    default: 'replace',
    about:
      'replace: the rows of a run are all that is shown. append: they are added to those kept from earlier runs. merge: each takes the place of the kept one with the same key.',
    example: 'merge',
  }),
  key: option.schema<string | readonly string[] | undefined>(
    { anyOf: [name, { type: 'array', items: name, minItems: 1, uniqueItems: true }] },
    { about: 'merge: the column or columns that tell rows apart, as a primary key does.', example: ['id'] },
  ),
  deleted: option.text({
    about:
      'merge: a column that marks rows as deleted: with anything in it but null, an empty text, false or 0, the row goes.',
    example: 'deleted_at',
  }),
  retain: option.schema<WrittenRule['retain']>(
    {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      properties: {
        column: { ...name, description: 'A date or time: how old a row is.' },
        within: {
          type: 'string',
          pattern: '^[1-9]\\d{0,5}[mhdw]$',
          description: 'Rows older than this before the run go: minutes (m), hours (h), days (d) or weeks (w).',
        },
        rows: { type: 'integer', minimum: 1, description: 'So many of the newest rows stay.' },
      },
    },
    {
      about: 'append and merge: which rows are kept; all of them when left out.',
      example: { column: 'ordered_at', within: '90d' },
    },
  ),
} satisfies OptionSet;

/** A word alone is the disposition. */
export const writeSchema: JsonSchema = { anyOf: [{ enum: ['replace', 'append', 'merge'] }, schemaOf(writeOptions)] };
