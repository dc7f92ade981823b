import { isMap } from '../../lib/is-map.ts';
import { nearest } from '../../lib/nearest.ts';
import { cronFault } from '../../schedule/cron.ts';
import type { Rules, Schedule } from '../../schedule/schedule.ts';
import { offsetOf } from '../../schedule/spread.ts';
import { scheduleOptions, type WrittenSchedule } from '../options/schedule.ts';
import { readDays, readGridStart, readInterval, readTimes, type Told } from '../options/times.ts';
import { readTimezone } from '../options/timezone.ts';
import type { Faults } from '../text/faults.ts';
import { showValue } from '../text/show-value.ts';
import { type Part, partAt } from '../text/variables.ts';
import type { SpreadRule } from './context.ts';
import { loadRules } from './schedule-rules.ts';
import { fittingOptions } from './validate.ts';

export interface ScheduleContext {
  readonly job: string;
  /** Zone of schedules that name none. */
  readonly timezone: string;
  /** What goes for all schedules that do not say otherwise. */
  readonly rules: Rules & SpreadRule;
  readonly faults: Faults;
}

const kinds = ['cron', 'every', 'at'] as const;
type Kind = (typeof kinds)[number];

/** The schedule of a job; undefined when it has none, runs only when asked to, or has a fault. `part` is the job's. */
export function loadSchedule(part: Part, context: ScheduleContext): Schedule | undefined {
  const at = partAt(part, 'schedule');
  if (typeof at.value === 'string') return loadShort(at, context);
  return isMap(at.value) ? loadMap(at, context) : undefined;
}

/** `every 15m`, `at 06:00, 18:30 on MON-FRI`, `manual`, or a cron expression. */
function loadShort(at: Part, context: ScheduleContext): Schedule | undefined {
  const text = String(at.value).trim();
  if (at.broken.has(at.path) || /^manual$/i.test(text)) return undefined;
  const [, span] = /^@?every\b\s*(.*)$/i.exec(text) ?? [];
  const [, times, days] = /^(?:at\s+|(?=\d{1,2}:))(.*?)(?:\s+on\s+(.+))?$/i.exec(text) ?? [];
  const written: WrittenSchedule =
    span !== undefined ? { every: span } : times !== undefined ? { at: times, days } : { cron: String(at.value) };
  // What is wrong in a short form stands where the whole of it does.
  return build(written, { ...context, place: () => at });
}

function loadMap(at: Part, context: ScheduleContext): Schedule | undefined {
  const written = at.value as WrittenSchedule;
  const given = kinds.filter((kind) => written[kind] !== undefined);
  if (given.length !== 1) return tellKinds(at, given, context.faults);
  const strays = [...(given[0] === 'at' ? [] : ['days']), ...(given[0] === 'every' ? [] : ['from'])] as (
    | 'days'
    | 'from'
  )[];
  for (const stray of strays) if (written[stray] !== undefined) tellStray(partAt(at, stray), stray, context.faults);
  if (Object.keys(fittingOptions(scheduleOptions, written)).length < Object.keys(written).length) return undefined;
  return build(written, { ...context, place: (option) => partAt(at, option) });
}

type Placed = ScheduleContext & { readonly place: (option: keyof WrittenSchedule) => Part };

function build(written: WrittenSchedule, context: Placed): Schedule | undefined {
  const { faults, place } = context;
  const timezone = written.timezone === undefined ? context.timezone : readTimezone(place('timezone'), faults);
  const rules = loadRules(written, { rules: context.rules, place, faults });
  const times = timezone === undefined ? undefined : timesOf(written, timezone, context);
  if (times === undefined || rules === undefined) return undefined;
  const { spread, ...rest } = rules;
  const offset = offsetOf(context.job, spread ?? 0);
  return { ...times, ...rest, ...(offset === 0 ? {} : { offset }) };
}

function timesOf(written: WrittenSchedule, timezone: string, context: Placed): Schedule | undefined {
  const { cron, every, at, days, from } = written;
  const told = <T>(option: keyof WrittenSchedule, read: Told<T>): T | undefined => tell(option, read, context);
  if (cron !== undefined) return checkCron(cron, timezone, context);
  if (every !== undefined) {
    const span = told('every', readInterval(every));
    const start = from === undefined ? 0 : told('from', readGridStart(from, timezone));
    return span === undefined || start === undefined ? undefined : { every: span, from: start, timezone };
  }
  const times = told('at', readTimes(at!));
  const on = days === undefined ? undefined : told('days', readDays(days));
  if (times === undefined || (days !== undefined && on === undefined)) return undefined;
  return { at: times, ...(on === undefined || on.length === 7 ? {} : { days: on }), timezone };
}

/** The value that was read, or undefined and its fault told. */
function tell<T>(option: keyof WrittenSchedule, read: Told<T>, { place, faults }: Placed): T | undefined {
  if ('value' in read) return read.value;
  const at = place(option);
  if (at.broken.has(at.path)) return undefined;
  const { fault, allowed, next, seen } = read;
  faults.add({
    code: 'CONFIG_SCHEDULE',
    message: `Invalid schedule: ${fault}`,
    path: at.path,
    seen: showValue(seen ?? at.value),
    allowed,
    next,
  });
  return undefined;
}

function checkCron(cron: string, timezone: string, { place, faults }: Placed): Schedule | undefined {
  const at = place('cron');
  if (at.broken.has(at.path)) return undefined;
  const fault = cronFault(cron);
  if (fault === undefined) return { cron: cron.trim().replace(/\s+/g, ' '), timezone };
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
        ? 'For example "*/15 * * * *" is every 15 minutes, "30 6 * * MON-FRI" is 6:30 on weekdays'
        : `Did you mean "${meant}"?`,
  });
  return undefined;
}

function tellKinds(at: Part, given: readonly Kind[], faults: Faults): undefined {
  if (given.some((kind) => at.broken.has(partAt(at, kind).path))) return undefined;
  const [first, ...others] = given;
  // The schema has said which option there is not.
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
        ? 'Add one of them, or delete the schedule; the job then runs only on request'
        : `Delete ${others.map((kind) => `"${kind}"`).join(' and ')}, or create a second job`,
  });
}

function tellStray(at: Part, option: 'days' | 'from', faults: Faults): void {
  const owner = option === 'days' ? 'at' : 'every';
  faults.add({
    code: 'CONFIG_SCHEDULE',
    message: `"${option}" goes with "${owner}", and this schedule has none`,
    path: at.path,
    on: 'key',
    next:
      option === 'days'
        ? 'Delete "days": use the last field of the cron expression instead'
        : 'Delete "from": cron expressions and times of day do not need it',
  });
}
