import { Cron } from 'croner';
import { nextOfTimes, nextShown } from './zone.ts';
import '../lib/temporal.ts';

/**
 * When a cron expression fires, as pure calendar: no clock, no timers.
 *
 * On the two days a year when clocks change, the rule is that of Debian's cron:
 * - An expression whose minute and hour are plain values, lists or ranges means times of day. Each fires exactly once a
 *   day: a time that the spring change leaves out fires at the moment that the clock jumps (several of one gap fire once,
 *   together), a time that the autumn change repeats fires the first time only.
 * - An expression with `*` or a step in minute or hour means an interval. It follows real time: it goes on through the
 *   repeated hour, and what the missing hour would have held does not fire.
 *
 * When both day of month and day of week are given, either is enough (POSIX). Five fields, names (MON, JAN), `L`, `W`, `#`
 * and the nicknames @hourly, @daily, @weekly, @monthly, @yearly.
 */
export interface CronSchedule {
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
}

/** Compiling costs some 50 µs; a daemon asks for the same few expressions every minute. */
const compiled = new Map<string, Cron>();
const mostCompiled = 1000;

/** The library finds what matches on a clock that is never changed; what real clocks do to it is our own rule. */
function compile(cron: string): Cron {
  const found = compiled.get(cron);
  if (found !== undefined) return found;
  const made = new Cron(cron, { timezone: 'UTC', mode: '5-part', paused: true });
  if (compiled.size >= mostCompiled) compiled.clear();
  compiled.set(cron, made);
  return made;
}

/** The last answer for a schedule holds from its question up to the firing itself: jobs of one rhythm all ask the same. */
const answers = new Map<string, { readonly after: number; readonly next: number }>();

/** The first firing strictly after `after` (epoch milliseconds); null when there is none, ever. */
export function nextCron(schedule: CronSchedule, after: number): number | null {
  const key = `${schedule.timezone} ${schedule.cron}`;
  const known = answers.get(key);
  if (known !== undefined && known.after <= after && after < known.next) return known.next;
  const next = searchNext(schedule, after);
  if (answers.size >= mostCompiled) answers.clear();
  if (next !== null) answers.set(key, { after, next });
  return next;
}

function searchNext({ cron, timezone }: CronSchedule, after: number): number | null {
  const matcher = compile(cron);
  const nextLocal = (local: number): number | null => matcher.nextRun(new Date(local))?.getTime() ?? null;
  return isInterval(cron) ? nextShown(timezone, nextLocal, after) : nextOfTimes(timezone, nextLocal, after);
}

function isInterval(cron: string): boolean {
  const [minute = '', hour = ''] = cron.trim().split(/\s+/);
  return minute.toLowerCase() === '@hourly' || /[*/?]/.test(minute + hour);
}

/** Why this is not a cron expression that ever fires, in a plain sentence; undefined when it is one. */
export function cronFault(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/).filter(Boolean);
  const isNickname = fields.length === 1 && fields[0]!.startsWith('@');
  if (!isNickname && fields.length !== 5) return `a schedule has five fields, this one has ${fields.length}`;
  try {
    // A whole cycle of the calendar (leap years and weekdays repeat after 28 years) decides whether a date exists.
    const from = Date.UTC(2024, 0, 1);
    return nextCron({ cron, timezone: 'UTC' }, from) === null
      ? 'there is no such date, so it would never fire'
      : undefined;
  } catch (error) {
    return reasonOf(error as Error, cron);
  }
}

/** Why this is not an IANA time zone; undefined when it is one. */
export function timezoneFault(timezone: string): string | undefined {
  try {
    if (/^[+-]/.test(timezone)) return 'an offset has no clock changes; name a place instead';
    // Asked of Temporal: the first formatter of a process costs it fifteen milliseconds.
    Temporal.Now.zonedDateTimeISO(timezone);
    return undefined;
  } catch {
    return 'there is no such time zone';
  }
}

/** All zones that this machine knows, for suggestions. */
export function knownTimezones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

function reasonOf(error: Error, cron: string): string {
  const said = error.message.replace(/^CronPattern: /, '').replace(/^Syntax error, /, '');
  if (cron.trim().startsWith('@')) return `${cron.trim()} is not one of @hourly, @daily, @weekly, @monthly, @yearly`;
  const backwards = /larger than to value: '([^']+)'/.exec(said);
  if (backwards) return `the range ${backwards[1]} runs backwards; write it as two ranges joined by a comma`;
  return said.charAt(0).toLowerCase() + said.slice(1).replace(/\.$/, '');
}
