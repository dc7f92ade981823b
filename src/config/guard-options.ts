import { type JsonSchema, type OptionSet, option, schemaOf } from '../sdk/option.ts';

/** As they are written: percentages of text, spans of text, `false` for a guard that is not wanted. */
export type Written = {
  readonly rows: false | { readonly minimum?: number; readonly maximum?: number };
  readonly row_change: false | { readonly down?: string; readonly up?: string; readonly from?: number };
  readonly columns: false | readonly string[];
  readonly nulls: false | Readonly<Record<string, string>>;
  readonly newest: false | { readonly column: string; readonly within: string };
  readonly bytes: false | { readonly minimum?: number; readonly maximum?: number };
  readonly complete: boolean;
  readonly exact: boolean;
};

const percent: JsonSchema = { type: 'string', pattern: '^\\d{1,7}(\\.\\d{1,6})?%$', examples: ['50%'] };
const span: JsonSchema = { type: 'string', pattern: '^[1-9]\\d{0,5}[mhdw]$', examples: ['2d'] };
const column: JsonSchema = { type: 'string', minLength: 1 };
const count: JsonSchema = { type: 'integer', minimum: 0 };

/** Rows from which on a change counts, unless somebody says otherwise: few rows come and go by themselves. */
export const changeFrom = 100;
/** What every job is guarded against unless it says otherwise: results that lose most of their rows. */
export const presetChange = { down: '50%', from: changeFrom };

function orFalse(schema: JsonSchema): JsonSchema {
  return { anyOf: [{ const: false }, schema] };
}

function members(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema {
  const must = required.length === 0 ? {} : { required };
  return orFalse({ type: 'object', additionalProperties: false, properties, ...must });
}

/** What a result must be like to replace what the instance shows. */
export const guardOptions = {
  rows: option.schema<Written['rows'] | undefined>(members({ minimum: count, maximum: count }), {
    about: 'How few and how many rows a result may have.',
    example: { minimum: 10 },
  }),
  row_change: option.schema<Written['row_change']>(
    members({
      down: { ...percent, description: 'Largest loss of rows.' },
      up: { ...percent, description: 'Largest gain of rows; 100% is twice as many.' },
      from: {
        ...count,
        default: changeFrom,
        description: 'Only where the last good result had at least so many rows.',
      },
    }),
    {
      about: 'How far the number of rows may be from that of the last good result. Without a last one, anything goes.',
      default: presetChange,
      example: { down: '30%', up: '300%' },
    },
  ),
  columns: option.schema<Written['columns'] | undefined>(orFalse({ type: 'array', items: column }), {
    about: 'Columns that a result must have, by the names that the transforms left them with.',
    example: ['id', 'amount'],
  }),
  nulls: option.schema<Written['nulls'] | undefined>(orFalse({ type: 'object', additionalProperties: percent }), {
    about: 'Largest part of the cells of a column that may be missing (null, or text of no length).',
    example: { email: '20%' },
  }),
  newest: option.schema<Written['newest'] | undefined>(members({ column, within: span }, ['column', 'within']), {
    about:
      'The newest date or time in this column may be no older than this before the run (with misfire run_all: before the instant that it stands for): minutes (m), hours (h), days (d) or weeks (w).',
    example: { column: 'ordered_at', within: '2d' },
  }),
  bytes: option.schema<Written['bytes'] | undefined>(members({ minimum: count, maximum: count }), {
    about: 'How small and how large a payload may be.',
    example: { minimum: 100, maximum: 5_000_000 },
  }),
  complete: option.schema<Written['complete'] | undefined>(
    { type: 'boolean' },
    {
      about:
        'Whether a run fails if its source warns that rows may be missing or be there twice: a total that changed while pages were read, a next page that was not read.',
      example: true,
    },
  ),
  exact: option.schema<Written['exact'] | undefined>(
    { type: 'boolean' },
    {
      about:
        'Whether a run fails if a character of its rows had to be replaced by U+FFFD: halves of surrogate pairs, which UTF-8 lacks, and in xml control characters, U+FFFE and U+FFFF.',
      example: true,
    },
  ),
} satisfies OptionSet;

/** All of them, or `false` for none. */
export const guardsSchema: JsonSchema = orFalse(schemaOf(guardOptions));

/** How long delivered payloads stay, so that one can be put back. */
export const keepDefaults = { payloads: 3, days: 35 };

export const keepSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    payloads: { ...count, maximum: 1000, default: keepDefaults.payloads, description: 'So many of each instance.' },
    days: { type: 'integer', minimum: 1, maximum: 3650, default: keepDefaults.days, description: 'For so many days.' },
  },
};

/** How much of its disk the state folder may take: 10 GB, and a twentieth of the disk, 100 MB at most, stays free. */
export const diskDefaults = { limit_megabytes: 10_000 };

export const diskSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    limit_megabytes: {
      type: 'integer',
      minimum: 1,
      default: diskDefaults.limit_megabytes,
      description: 'So much may be in the folder, whatever it is for.',
    },
    free_megabytes: {
      ...count,
      description: 'So much of its disk stays free. By default a twentieth of the disk, 100 MB at most.',
    },
  },
};
