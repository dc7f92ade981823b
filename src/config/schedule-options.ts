import { type JsonSchema, type OptionSet, type OptionValues, option, schemaOf } from '../sdk/option.ts';

export const misfirePolicies = ['skip', 'run_once', 'run_all'] as const;
const overlapPolicies = ['skip', 'buffer_one', 'cancel_other'] as const;

/** A misfire policy as it is written. */
export type WrittenMisfire =
  | (typeof misfirePolicies)[number]
  | { readonly policy: (typeof misfirePolicies)[number]; readonly within?: string; readonly at_most?: number };

/** How far back `run_all` goes, and how much it makes good, unless somebody says otherwise. */
export const runAllDefaults = { within: '1d', atMost: 24 };

const textOrList: JsonSchema = {
  anyOf: [{ type: 'string' }, { type: 'array', minItems: 1, items: { type: 'string' } }],
};

/** What goes with every kind of schedule; at the top level, what jobs have that say nothing of it. */
export const scheduleRuleOptions = {
  misfire: option.schema<WrittenMisfire | undefined>(
    {
      anyOf: [
        { enum: misfirePolicies },
        {
          type: 'object',
          additionalProperties: false,
          properties: {
            policy: { enum: misfirePolicies, description: 'One of the three.' },
            within: { type: 'string', description: 'What was missed longer ago is passed over.', examples: ['6h'] },
            at_most: {
              type: 'integer',
              minimum: 1,
              maximum: 1000,
              description: 'With `run_all`: of more than so many, the newest.',
            },
          },
          required: ['policy'],
        },
      ],
    },
    {
      about:
        'What becomes of firings that were missed because no daemon ran or the machine slept: `run_once` makes one run for all of them, `run_all` one for each in turn, `skip` none.',
      default: 'run_once',
      example: { policy: 'run_all', within: '6h' },
    },
  ),
  overlap: option.choice(overlapPolicies, {
    about:
      'What becomes of a firing while the job is still at its last run: `skip` passes it over, `buffer_one` lets one wait for the end, `cancel_other` stops that run and begins anew.',
    default: 'skip',
  }),
  spread: option.text({
    about:
      'Every job fires later than its schedule says by a span below this, always the same one for the same name, so that jobs of one minute do not all begin at once. `0s` is none.',
    default: '0s',
    example: '10m',
  }),
} satisfies OptionSet;

/** A schedule as a map: exactly one of `cron`, `every` and `at`. */
export const scheduleOptions = {
  cron: option.text({
    about: 'Five fields: minute, hour, day of month, month, day of week.',
    example: '30 6 * * MON-FRI',
  }),
  every: option.schema<string | number | undefined>(
    { type: ['string', 'number'] },
    { about: 'A span of real time between firings, in whole minutes: `15m`, `13h`, `1h30m`, `2d`.', example: '15m' },
  ),
  at: option.schema<string | readonly string[] | undefined>(textOrList, {
    about: 'Times of day, each exactly once a day, also on the days when clocks change.',
    example: ['06:00', '18:30'],
  }),
  days: option.schema<string | readonly string[] | undefined>(textOrList, {
    about: 'With `at`: the days of the week, by their names, lists and ranges of them. By default every day.',
    example: 'MON-FRI',
  }),
  from: option.text({
    about:
      'With `every`: the instant at which the job fires first; the others follow from it. By default midnight of 1 January 1970 in UTC, so that `15m` fires on the quarters of the hour.',
    example: '2026-11-21T06:30',
  }),
  timezone: option.text({
    about: 'IANA time zone of this schedule; it is also the zone in which the job reckons its days.',
    example: 'Europe/Berlin',
  }),
  ...scheduleRuleOptions,
} satisfies OptionSet;

export type WrittenSchedule = Partial<OptionValues<typeof scheduleOptions>>;

/** Behind `schedule` of a job. What a map may leave out has its default at the top level. */
export const scheduleSchema: JsonSchema = {
  anyOf: [{ type: 'string' }, withoutDefaults(schemaOf(scheduleOptions))],
};

export const jobScheduleOptions = {
  schedule: option.schema<string | WrittenSchedule | undefined>(scheduleSchema, {
    about:
      'When the daemon runs the job: a cron expression of five fields, `every 15m`, `at 06:00, 18:30 on MON-FRI`, or a map. `manual`, or no schedule: only when asked to.',
    example: '*/15 * * * *',
  }),
} satisfies OptionSet;

/** How many extracts the daemon, or one `sync`, works on at a time. */
export const concurrencyDefault = 4;

export const topScheduleOptions = {
  schedules: option.schema<Partial<OptionValues<typeof scheduleRuleOptions>> | undefined>(
    schemaOf(scheduleRuleOptions),
    {
      about: 'What goes for the schedules of all jobs that do not say otherwise.',
      example: { spread: '10m' },
    },
  ),
  concurrency: option.integer({
    minimum: 1,
    maximum: 1000,
    default: concurrencyDefault,
    about: 'Extracts that run at a time. What is due beyond them stands in line, in the order of the planned instants.',
  }),
} satisfies OptionSet;

function withoutDefaults(schema: JsonSchema): JsonSchema {
  const properties = Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, node]) => {
    const { default: _, ...rest } = node;
    return [name, rest] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
