import { type JsonSchema, type OptionSet, option, schemaOf } from '../../sdk/option.ts';

/** Guards as written: percentages and durations are text, `false` disables a guard. */
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

/** Default row count from which a change is checked: small results vary naturally. */
export const changeFrom = 100;
/** Default guard: a result must not lose most of its rows. */
export const presetChange = { down: '50%', from: changeFrom };

function orFalse(schema: JsonSchema): JsonSchema {
  return { anyOf: [{ const: false }, schema] };
}

function members(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []): JsonSchema {
  const must = required.length === 0 ? {} : { required };
  return orFalse({ type: 'object', additionalProperties: false, properties, ...must });
}

/** Conditions for a result to replace the data of the instance. */
export const guardOptions = {
  rows: option.schema<Written['rows'] | undefined>(members({ minimum: count, maximum: count }), {
    about: 'Minimum and maximum number of rows.',
    example: { minimum: 10 },
  }),
  row_change: option.schema<Written['row_change']>(
    members({
      down: { ...percent, description: 'Maximum decrease in rows.' },
      up: { ...percent, description: 'Maximum increase in rows; 100% is twice as many.' },
      from: {
        ...count,
        default: changeFrom,
        description: 'Applies only if the last good result had at least this many rows.',
      },
    }),
    {
      about: 'Maximum change in the number of rows since the last good result. The first result always passes.',
      default: presetChange,
      example: { down: '30%', up: '300%' },
    },
  ),
  columns: option.schema<Written['columns'] | undefined>(orFalse({ type: 'array', items: column }), {
    about: 'Columns that a result must have, after transforms.',
    example: ['id', 'amount'],
  }),
  nulls: option.schema<Written['nulls'] | undefined>(orFalse({ type: 'object', additionalProperties: percent }), {
    about: 'Maximum percentage of empty cells (null or empty text) per column.',
    example: { email: '20%' },
  }),
  newest: option.schema<Written['newest'] | undefined>(members({ column, within: span }, ['column', 'within']), {
    about:
      'Maximum age of the newest date or time in this column, relative to the run (with misfire run_all: to its firing): minutes (m), hours (h), days (d) or weeks (w).',
    example: { column: 'ordered_at', within: '2d' },
  }),
  bytes: option.schema<Written['bytes'] | undefined>(members({ minimum: count, maximum: count }), {
    about: 'Minimum and maximum payload size in bytes.',
    example: { minimum: 100, maximum: 5_000_000 },
  }),
  complete: option.schema<Written['complete'] | undefined>(
    { type: 'boolean' },
    {
      about:
        'Whether a run fails if its source warns of missing or duplicate rows, such as a total that changed between pages or a page that was not read.',
      example: true,
    },
  ),
  exact: option.schema<Written['exact'] | undefined>(
    { type: 'boolean' },
    {
      about:
        'Whether a run fails if a character was replaced by U+FFFD: unpaired surrogates, and in xml control characters, U+FFFE and U+FFFF.',
      example: true,
    },
  ),
} satisfies OptionSet;

/** All guards, or `false` for none. */
export const guardsSchema: JsonSchema = orFalse(schemaOf(guardOptions));

/** How long delivered payloads are kept for a rollback. */
export const keepDefaults = { payloads: 3, days: 35 };

export const keepSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    payloads: {
      ...count,
      maximum: 1000,
      default: keepDefaults.payloads,
      description: 'Number of payloads per instance.',
    },
    days: { type: 'integer', minimum: 1, maximum: 3650, default: keepDefaults.days, description: 'Number of days.' },
  },
};

/** Disk limits of the state folder: 10 GB, and 5% of the disk, at most 100 MB, stays free. */
export const diskDefaults = { limit_megabytes: 10_000 };

export const diskSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    limit_megabytes: {
      type: 'integer',
      minimum: 1,
      default: diskDefaults.limit_megabytes,
      description: 'Maximum size of the folder.',
    },
    free_megabytes: {
      ...count,
      description: 'Minimum free space on its disk. Default: 5% of the disk, at most 100 MB.',
    },
  },
};
