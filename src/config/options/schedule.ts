import { isMap } from '../../lib/is-map.ts';
import { nearest } from '../../lib/nearest.ts';
import { cronFault } from '../../schedule/cron.ts';
import type { Misfire } from '../../schedule/schedule.ts';
import { type JsonSchema, type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import type { Faults } from '../text/faults.ts';
import { isBroken, type Part, partAt } from '../text/variables.ts';
import { readAs, readWhole } from './field.ts';
import { limitedDuration, readDays, readInterval, readTimes, scheduleSubject, timeOf } from './times.ts';
import { timezone } from './timezone.ts';

const misfirePolicies = ['skip', 'run_once', 'run_all'] as const;
const overlapPolicies = ['skip', 'buffer_one', 'cancel_other'] as const;

/** Defaults for `run_all`: how far back to look for missed firings, and the maximum number of them to run. */
const runAllDefaults = { withinMs: 86_400_000, atMost: 24 };

const textOrList: JsonSchema = {
  anyOf: [{ type: 'string' }, { type: 'array', minItems: 1, items: { type: 'string' } }],
};

/** A misfire policy in the form of a map. */
const misfireOptions = {
  policy: option.choice(misfirePolicies, { required: true, about: 'The misfire policy.' }),
  within: limitedDuration(
    option.text({ about: 'Firings that were missed longer ago than this are skipped.', example: '6h' }),
    {
      of: '"within"',
      from: '1m',
      to: '366d',
      ...scheduleSubject,
    },
  ),
  at_most: option.integer({
    minimum: 1,
    maximum: 1000,
    about: 'With `run_all`: catch up on at most this many missed firings, the newest ones.',
  }),
} satisfies OptionSet;

function readMisfire(at: Part, faults: Faults): Misfire | undefined {
  const whole = isMap(at.value) ? at : { ...at, value: { policy: at.value } };
  const misfire = readWhole(misfireOptions, whole, faults);
  if (misfire === undefined) return undefined;
  if (misfire.policy === 'skip') reportStray(partAt(whole, 'within'), faults);
  if (misfire.policy !== 'run_all') reportStray(partAt(whole, 'at_most'), faults);
  return misfire.policy === 'run_all' ? { ...runAllDefaults, ...misfire } : misfire;
}

function reportStray({ path, value }: Part, faults: Faults): void {
  if (value === undefined) return;
  const option = `"${path.slice(path.lastIndexOf('/') + 1)}"`;
  faults.add({
    code: 'CONFIG_SCHEDULE',
    message: `This misfire policy does not use ${option}`,
    path,
    on: 'key',
    allowed: 'within: with run_once and run_all; at_most: with run_all',
    next: `delete ${option}`,
  });
}

/** Options that apply to every kind of schedule. Their top-level values are the defaults for all jobs. */
export const scheduleRuleOptions = {
  misfire: readAs(
    option.schema<string | object | undefined>(
      { anyOf: [{ enum: misfirePolicies }, schemaOf(misfireOptions)] },
      {
        about:
          'What to do about firings missed while no daemon ran or the machine was suspended: `run_once` starts one run for all of them, `run_all` starts one run for each, and `skip` starts none.',
        default: 'run_once',
        example: { policy: 'run_all', within: '6h' },
      },
    ),
    { isGroup: true, read: readMisfire },
  ),
  overlap: option.choice(overlapPolicies, {
    about:
      'What to do if a firing is due while the job is still running: `skip` ignores the firing, `buffer_one` queues at most one firing, `cancel_other` stops the current run and starts a new one.',
    default: 'skip',
  }),
  spread: limitedDuration(
    option.text({
      about:
        "Delays each job by a fixed time shorter than this, derived from the job's name, so that jobs scheduled for the same minute do not all start at once. `0s` means no delay.",
      default: '0s',
      example: '10m',
    }),
    { of: 'a spread', from: '0s', to: '1d', ...scheduleSubject },
  ),
} satisfies OptionSet;

/** A schedule as a map with exactly one of the keys `cron`, `every` and `at`. */
export const scheduleOptions = {
  cron: readAs(
    option.text({
      about: 'Five fields: minute, hour, day of month, month, day of week.',
      example: '30 6 * * MON-FRI',
    }),
    { read: readCron },
  ),
  every: timeOf(
    option.schema<string | number | undefined>(
      { type: ['string', 'number'] },
      { about: 'Time between firings, in whole minutes: `15m`, `13h`, `1h30m`, `2d`.', example: '15m' },
    ),
    readInterval,
    'Ms',
  ),
  at: timeOf(
    option.schema<string | readonly string[] | undefined>(textOrList, {
      about: 'Times of day at which the job runs. Each occurs exactly once a day, even when clocks change.',
      example: ['06:00', '18:30'],
    }),
    readTimes,
  ),
  days: timeOf(
    option.schema<string | readonly string[] | undefined>(textOrList, {
      about: 'With `at`: days of the week, as names, lists or ranges. Default: every day.',
      example: 'MON-FRI',
    }),
    readDays,
  ),
  from: option.text({
    about:
      'With `every`: start of the interval grid. Default: 1970-01-01T00:00Z, so `15m` fires at minutes 0, 15, 30 and 45.',
    example: '2026-11-21T06:30',
  }),
  timezone: timezone(
    option.text({
      about: "IANA time zone of this schedule and of the job's calendar days.",
      example: 'Europe/Berlin',
    }),
  ),
  ...scheduleRuleOptions,
} satisfies OptionSet;

/** A job's `schedule` option. Unset members take the top level's values. */
export const scheduleSchema: JsonSchema = {
  anyOf: [{ type: 'string' }, withoutDefaults(schemaOf(scheduleOptions))],
};

export const jobScheduleOptions = {
  schedule: option.schema<string | object | undefined>(scheduleSchema, {
    about:
      'When the daemon runs the job: a cron expression with five fields, `every 15m`, `at 06:00, 18:30 on MON-FRI`, or a map. With `manual` or without a schedule, the job runs only on request.',
    example: '*/15 * * * *',
  }),
} satisfies OptionSet;

export const topScheduleOptions = {
  schedules: option.schema<object | undefined>(schemaOf(scheduleRuleOptions), {
    about: "Defaults for all jobs' schedules.",
    example: { spread: '10m' },
  }),
  concurrency: option.integer({
    minimum: 1,
    maximum: 1000,
    default: 4,
    about: 'Maximum number of concurrent extracts. Other due runs wait in the run queue in firing order.',
  }),
} satisfies OptionSet;

function withoutDefaults(schema: JsonSchema): JsonSchema {
  const properties = Object.entries(schema.properties as Record<string, JsonSchema>).map(([name, node]) => {
    const { default: _, ...rest } = node;
    return [name, rest] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Validates a cron expression, and returns its fields separated by single spaces. */
function readCron(at: Part, faults: Faults): string | undefined {
  const cron = String(at.value);
  const fault = isBroken(at) ? undefined : cronFault(cron);
  if (fault === undefined) return cron.trim().replace(/\s+/g, ' ');
  const meant = /\s/.test(cron.trim())
    ? undefined
    : nearest(cron.trim(), ['manual', '@hourly', '@daily', '@weekly', '@monthly', '@yearly']);
  faults.add({
    code: 'CONFIG_CRON',
    message: `Invalid schedule: ${fault}`,
    path: at.path,
    seen: JSON.stringify(cron),
    allowed: 'minute (0-59), hour (0-23), day of month (1-31), month (1-12 or JAN-DEC), day of week (0-7 or SUN-SAT)',
    next:
      meant === undefined
        ? 'write, for example, "*/15 * * * *" for every 15 minutes, or "30 6 * * MON-FRI" for 6:30 on weekdays'
        : `did you mean "${meant}"?`,
  });
  return undefined;
}
