import { Cron } from 'croner';
import { nextOfTimes, nextShown } from './zone.ts';
import '../lib/temporal.ts';

/**
 * When a cron expression fires: a pure calendar, without a clock or timers.
 *
 * Daylight saving follows Debian's cron:
 * - An expression whose minute and hour are plain values, lists or ranges means times of day. Each fires exactly once a
 *   day: a time skipped in spring fires when the clock jumps (several times in one gap fire once, together); a time
 *   repeated in autumn fires only the first time.
 * - An expression with `*` or a step in minute or hour means an interval. It follows real time: it continues through
 *   the repeated hour, and firings in the skipped hour do not exist.
 *
 * If both day of month and day of week are given, either matches (POSIX). An expression has five fields, which may
 * contain names (MON, JAN), `L`, `W` and `#`, or is a nickname: @hourly, @daily, @weekly, @monthly or @yearly.
 */
export interface CronSchedule {
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
}

/**
 * A cache of compiled expressions, because compiling one takes about 50 µs and a daemon needs the same few every
 * minute.
 */
const compiled = new Map<string, Cron>();
const maxCached = 1000;

/**
 * Compiles an expression. The library matches it in UTC, and our own rules above handle daylight saving. UTC is given as
 * an offset, because the library needs more than three times as long to compute with a time zone.
 */
function compile(cron: string): Cron {
  const found = compiled.get(cron);
  if (found !== undefined) return found;
  const made = new Cron(cron, { utcOffset: 0, mode: '5-part', paused: true });
  if (compiled.size >= maxCached) compiled.clear();
  compiled.set(cron, made);
  return made;
}

/**
 * A cache of firings by schedule, because many jobs share a schedule. Each firing is valid for requests from `after`
 * until it fires.
 */
const answers = new Map<string, { readonly after: number; readonly next: number }>();

/** The first firing strictly after `after` (epoch milliseconds); null if there is none. */
export function nextCron(schedule: CronSchedule, after: number): number | null {
  const key = `${schedule.timezone} ${schedule.cron}`;
  const known = answers.get(key);
  if (known !== undefined && known.after <= after && after < known.next) return known.next;
  const next = searchNext(schedule, after);
  if (answers.size >= maxCached) answers.clear();
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

/** Why a cron expression is invalid or never fires, as a sentence; undefined if it's valid. */
export function cronFault(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/).filter(Boolean);
  const isNickname = fields.length === 1 && fields[0]!.startsWith('@');
  if (!isNickname && fields.length !== 5) return `a cron expression has five fields, but this one has ${fields.length}`;
  try {
    // The calendar repeats every 28 years, so a date that doesn't occur in that time never occurs.
    const from = Date.UTC(2024, 0, 1);
    return nextCron({ cron, timezone: 'UTC' }, from) === null ? 'it never fires: the date does not exist' : undefined;
  } catch (error) {
    return reasonOf(error as Error, cron);
  }
}

/** Why a string isn't an IANA time zone; undefined if it is one. */
export function timezoneFault(timezone: string): string | undefined {
  // Check the list first: a time zone's calendar takes 20 ms to load, and commands that compute no times don't need it.
  if (knownTimezones().includes(timezone)) return undefined;
  try {
    if (/^[+-]/.test(timezone)) return 'an offset ignores daylight saving time; use a name such as Europe/Berlin';
    // Aliases, such as US/Eastern.
    Temporal.Now.zonedDateTimeISO(timezone);
    return undefined;
  } catch {
    return 'unknown time zone';
  }
}

let known: readonly string[] | undefined;

/**
 * This machine's time zones, without aliases. Listed only once, because that takes 0.1 ms and each job may have its own
 * zone.
 */
export function knownTimezones(): readonly string[] {
  known ??= ['UTC', ...Intl.supportedValuesOf('timeZone')];
  return known;
}

function reasonOf(error: Error, cron: string): string {
  const reason = error.message.replace(/^CronPattern: /, '').replace(/^Syntax error, /, '');
  if (cron.trim().startsWith('@')) return `${cron.trim()} is not one of @hourly, @daily, @weekly, @monthly, @yearly`;
  const backwards = /larger than to value: '([^']+)'/.exec(reason);
  if (backwards) return `the range ${backwards[1]} is reversed; write it as two ranges separated by a comma`;
  return reason.charAt(0).toLowerCase() + reason.slice(1).replace(/\.$/, '');
}
