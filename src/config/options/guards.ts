import { isMap } from '../../lib/is-map.ts';
import { type JsonSchema, type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import type { Part } from '../text/variables.ts';
import { duration, fractionOf, group, groupOrFalse, megabytes, orFalse, percentage, readAs } from './field.ts';

const percent: JsonSchema = { type: 'string', pattern: '^\\d{1,7}(\\.\\d{1,6})?%$', examples: ['50%'] };
const span: JsonSchema = { type: 'string', pattern: '^[1-9]\\d{0,5}[mhdw]$', examples: ['2d'] };
const column: JsonSchema = { type: 'string', minLength: 1 };

/** Default minimum number of rows for guards that check changes. Smaller results vary naturally. */
export const changeFrom = 100;

const boundsOf = (what: string) => ({
  minimum: option.integer({ minimum: 0, about: `Minimum ${what}.` }),
  maximum: option.integer({ minimum: 0, about: `Maximum ${what}.` }),
});

/** Conditions that a result must meet before it replaces the instance's data. */
export const guardOptions = {
  rows: groupOrFalse(boundsOf('number of rows'), {
    about: 'Minimum and maximum number of rows.',
    example: { minimum: 10 },
  }),
  row_change: groupOrFalse(
    {
      down: percentage(option.schema<string | undefined>(percent, { about: 'Maximum decrease in rows.' })),
      up: percentage(
        option.schema<string | undefined>(percent, {
          about: 'Maximum increase in rows; 100% means twice as many rows.',
        }),
      ),
      from: option.integer({
        minimum: 0,
        default: changeFrom,
        about: 'Apply this guard only if the last good result had at least this many rows.',
      }),
    },
    {
      about: 'Maximum change in the number of rows since the last good result. The first result always passes.',
      default: { down: '50%', from: changeFrom },
      example: { down: '30%', up: '300%' },
    },
  ),
  columns: option.schema<readonly string[] | false | undefined>(orFalse({ type: 'array', items: column }), {
    about: 'Columns that a result must have, after transforms.',
    example: ['id', 'amount'],
  }),
  nulls: readAs(
    option.schema<object | undefined>(orFalse({ type: 'object', additionalProperties: percent }), {
      about: 'Maximum percentage of empty cells (null or an empty string) per column.',
      example: { email: '20%' },
    }),
    { read: readParts },
  ),
  unique: option.schema<readonly string[] | false | undefined>(orFalse({ type: 'array', items: column, minItems: 1 }), {
    about: 'Columns whose values together must be different in each row. Up to 1,000,000 rows can be checked.',
    example: ['id'],
  }),
  newest: groupOrFalse(
    {
      column: option.schema<string>(column, { required: true, about: 'A date or time column.' }),
      within: duration(option.schema<string>(span, { required: true, about: 'Maximum age.' })),
    },
    {
      about:
        'Maximum age of the newest date or time in this column when the run starts (with `misfire: run_all`, at its firing), in minutes (m), hours (h), days (d) or weeks (w).',
      example: { column: 'ordered_at', within: '2d' },
    },
  ),
  bytes: groupOrFalse(boundsOf('payload size in bytes'), {
    about: 'Minimum and maximum payload size in bytes.',
    example: { minimum: 100, maximum: 5_000_000 },
  }),
  complete: option.boolean({
    about:
      'Whether a run fails if its source warns of missing or duplicate rows, such as a total that changed between pages or a page that was not read.',
    example: true,
  }),
  exact: option.boolean({
    about:
      'Whether a run fails if a character was replaced by U+FFFD. This happens to unpaired surrogates and, in xml, to control characters, U+FFFE and U+FFFF.',
    example: true,
  }),
} satisfies OptionSet;

function readParts({ value }: Part): ReadonlyMap<string, number> | false {
  return isMap(value) && new Map(Object.entries(value).map(([name, percent]) => [name, fractionOf(String(percent))]));
}

export const guardsSchema: JsonSchema = orFalse(schemaOf(guardOptions));

/** How long to keep delivered payloads for a rollback. */
const keepDefaults = { payloads: 3, days: 35 };

/**
 * Disk limits for the state folder. By default, the folder uses at most 10 GB, and Sluice leaves 5 % of the disk free
 * (at most 100 MB).
 */
const diskDefaults = { limit_megabytes: 10_000 };

export const topStateOptions = {
  keep: group(
    {
      payloads: option.integer({
        minimum: 0,
        maximum: 1000,
        default: keepDefaults.payloads,
        about: 'Number of payloads to keep per instance.',
      }),
      days: option.integer({ minimum: 1, maximum: 3650, default: keepDefaults.days, about: 'Number of days.' }),
    },
    {
      about:
        'Delivered payloads to keep on disk for `sluice rollback`. The last payload of a job whose rows another job reads is always kept. Takes effect at startup.',
      default: keepDefaults,
    },
  ),
  disk: group(
    {
      limit_megabytes: megabytes(
        option.integer({
          minimum: 1,
          default: diskDefaults.limit_megabytes,
          about: 'Maximum size of the state folder.',
        }),
      ),
      free_megabytes: megabytes(
        option.integer({
          minimum: 0,
          about: "Minimum free space on the state folder's disk. Default: 5% of the disk, at most 100 MB.",
        }),
      ),
    },
    {
      about:
        'Disk limits of the state folder. A run fails before it writes a result that does not fit. Unsent payloads are never removed; payloads kept for `sluice rollback` are removed first. Takes effect at startup.',
      default: diskDefaults,
    },
  ),
} satisfies OptionSet;
