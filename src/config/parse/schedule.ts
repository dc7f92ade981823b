import { isMap } from '../../lib/is-map.ts';
import type { Schedule } from '../../schedule/schedule.ts';
import { offsetOf } from '../../schedule/spread.ts';
import { readWritten, type Values } from '../options/field.ts';
import { scheduleOptions, type scheduleRuleOptions } from '../options/schedule.ts';
import { readGridStart, scheduleSubject, valueOrFault } from '../options/times.ts';
import type { Faults } from '../text/faults.ts';
import { type Part, partAt } from '../text/variables.ts';

/** The top-level defaults for all schedules. */
export type ScheduleRules = Partial<Values<typeof scheduleRuleOptions>>;

export interface ScheduleContext {
  readonly job: string;
  /** The time zone for schedules that don't set one. */
  readonly timezone: string;
  readonly rules: ScheduleRules;
  readonly faults: Faults;
}

const kinds = ['cron', 'every', 'at'] as const;
type Kind = (typeof kinds)[number];

/**
 * Parses a job's schedule. Returns undefined if the job has no schedule, runs only on request, or has an error in its
 * schedule. `part` is the job's part of the config.
 */
export function loadSchedule(part: Part, context: ScheduleContext): Schedule | undefined {
  const at = partAt(part, 'schedule');
  if (typeof at.value === 'string') return loadShort(at, context);
  return isMap(at.value) ? loadMap(at, context) : undefined;
}

/** Parses a schedule string: `every 15m`, `at 06:00, 18:30 on MON-FRI`, `manual`, or a cron expression. */
function loadShort(at: Part, context: ScheduleContext): Schedule | undefined {
  const text = String(at.value).trim();
  if (at.broken.has(at.path) || /^manual$/i.test(text)) return undefined;
  const [, span] = /^@?every\b\s*(.*)$/i.exec(text) ?? [];
  const [, times, days] = /^(?:at\s+|(?=\d{1,2}:))(.*?)(?:\s+on\s+(.+))?$/i.exec(text) ?? [];
  const value = span !== undefined ? { every: span } : times !== undefined ? { at: times, days } : { cron: at.value };
  return build({ ...at, value, whole: at }, context);
}

function loadMap(at: Part, context: ScheduleContext): Schedule | undefined {
  const given = kinds.filter((kind) => partAt(at, kind).value !== undefined);
  if (given.length !== 1) return tellKinds(at, given, context.faults);
  if (given[0] !== 'at') tellStray(partAt(at, 'days'), 'days', context.faults);
  if (given[0] !== 'every') tellStray(partAt(at, 'from'), 'from', context.faults);
  return build(at, context);
}

function build(at: Part, { job, faults, ...context }: ScheduleContext): Schedule | undefined {
  const before = faults.problems.length;
  const options = { timezone: context.timezone, ...context.rules, ...readWritten(scheduleOptions, at, faults) };
  const { cron, everyMs, at: times, days, from, spreadMs = 0, ...rest } = options;
  const start =
    from === undefined
      ? 0
      : valueOrFault(readGridStart(from, rest.timezone), partAt(at, 'from'), { faults, ...scheduleSubject });
  if (faults.problems.length > before) return undefined;
  const offset = offsetOf(job, spreadMs);
  const rules = offset === 0 ? rest : { ...rest, offset };
  if (cron !== undefined) return { cron, ...rules };
  if (everyMs !== undefined && start !== undefined) return { every: everyMs, from: start, ...rules };
  if (times === undefined) return undefined;
  return { at: times, ...(days === undefined || days.length === 7 ? {} : { days }), ...rules };
}

function tellKinds(at: Part, given: readonly Kind[], faults: Faults): undefined {
  if (given.some((kind) => at.broken.has(partAt(at, kind).path))) return undefined;
  const [first, ...others] = given;
  // The schema check has already reported the unknown option.
  if (first === undefined && Object.keys(at.value as object).some((name) => !Object.hasOwn(scheduleOptions, name)))
    return;
  faults.add({
    code: 'CONFIG_SCHEDULE',
    message:
      first === undefined
        ? 'Missing schedule: none of cron, every and at is set'
        : `A schedule can have only one of cron, every and at; this one has ${given.join(' and ')}`,
    path: first === undefined ? at.path : partAt(at, others[0]!).path,
    on: 'key',
    allowed: 'cron: "30 6 * * MON-FRI", every: 15m, or at: ["06:00", "18:30"]',
    next:
      first === undefined
        ? 'add one of them, or delete the schedule to run the job only on request'
        : `delete ${others.map((kind) => `"${kind}"`).join(' and ')}, or create a second job`,
  });
}

function tellStray(at: Part, option: 'days' | 'from', faults: Faults): void {
  if (at.value === undefined) return;
  const owner = option === 'days' ? 'at' : 'every';
  faults.add({
    code: 'CONFIG_SCHEDULE',
    message: `"${option}" requires "${owner}", which is not set in this schedule`,
    path: at.path,
    on: 'key',
    next:
      option === 'days'
        ? 'delete "days", and use the last field of the cron expression instead'
        : 'delete "from": cron expressions and times of day do not need it',
  });
}
