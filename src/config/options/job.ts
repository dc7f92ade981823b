import { type OptionSet, option } from '../../sdk/option.ts';
import { ownAlertsSchema } from './alerts.ts';
import { budgetJobOptions } from './budget.ts';
import { seconds } from './field.ts';
import { guardsSchema } from './guards.ts';
import { jobRetryOptions } from './retry.ts';
import { jobScheduleOptions } from './schedule.ts';
import { writeSchema } from './write.ts';

export const stallOptions = {
  stall_timeout_seconds: seconds(
    option.integer({
      minimum: 0,
      maximum: 604_800,
      default: 300,
      about:
        'Stall timeout: seconds without data from the source after which the run is stopped; 0 disables the timeout.',
    }),
  ),
} satisfies OptionSet;

/**
 * A job's options. These declarations check `query`, `transforms`, `format` and `target` only roughly. The connector,
 * transforms, format and target validate their members.
 */
export const jobOptions = {
  source: option.text({
    about: 'Name of the source to read. Required except for a bulk refresh.',
    example: 'shop',
  }),
  query: option.schema<string | Record<string, unknown> | undefined>(
    { type: ['string', 'object'] },
    {
      about: "What to read: the connector's query options, or its shorthand as plain text.",
      example: 'select * from orders',
    },
  ),
  transforms: option.schema<readonly unknown[]>(
    { type: 'array', items: { type: 'object', minProperties: 1, maxProperties: 1 } },
    {
      about: "Steps that transform the rows, in order. Each step is a map with one key, the transform's name.",
      default: [],
    },
  ),
  format: option.schema<string | Record<string, unknown> | undefined>(
    { type: ['string', 'object'] },
    { about: 'Output format: its name, or a map of `type` and its options.', example: 'csv' },
  ),
  target: option.schema<string | Record<string, unknown>>(
    { type: ['string', 'object'] },
    {
      required: true,
      about:
        'What the job writes: the ID of a data source instance, or a map with `instance`, `datasource` or `refresh`.',
      example: '0123456789abcdef0123456789abcdef',
    },
  ),
  destination: option.text({
    about: 'Name of the destination. Optional if there is only one.',
    example: 'main',
  }),
  ...jobScheduleOptions,
  ...jobRetryOptions,
  enabled: option.boolean({
    about: 'Whether the daemon runs the job. If false, only `sluice sync <job>` does.',
    default: true,
  }),
  ...budgetJobOptions,
  always: option.boolean({ about: 'Send even if the instance already has identical data.', default: false }),
  allow_empty: option.boolean({
    about:
      "Allow a result without rows to replace the instance's data. Otherwise, such a run fails and the instance keeps its data.",
    default: false,
  }),
  guards: option.schema<false | Record<string, unknown> | undefined>(guardsSchema, {
    about:
      "Conditions that a result must meet to replace the instance's data. Other results are quarantined until a person decides. `false` means no guards.",
    example: { rows: { minimum: 10 }, columns: ['id', 'amount'] },
  }),
  alerts: option.schema<false | Record<string, unknown> | undefined>(ownAlertsSchema, {
    about: 'Alert options for this job. `false` means no alerts.',
    example: { stale_after: '2h', to: ['ops'] },
  }),
  write: option.schema<string | Record<string, unknown> | undefined>(writeSchema, {
    about:
      'How rows are combined with earlier rows: a disposition (replace, append, merge), or a map of `disposition`, `key`, `deleted` and `retain`. Default: replace.',
    example: { disposition: 'merge', key: ['id'] },
  }),
  ...stallOptions,
} satisfies OptionSet;
