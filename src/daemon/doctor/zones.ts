import type { Config } from '../../config/config.ts';
import { bad, type Finding, good } from './finding.ts';
import '../../lib/temporal.ts';

const fix = 'install a newer version of Node, which includes newer time zone data';
const hour = 3_600_000;
/** Zones with very different rules. They're checked in addition to the config's zones. */
const samples = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'UTC'];

/**
 * Checks the time-zone database: whether the rules for New York are correct, and whether Node's two calendars agree.
 */
export function examineZones({ jobs }: Config, now: number): Finding[] {
  const named = [...jobs.values()].flatMap(({ schedule }) =>
    schedule !== undefined && 'timezone' in schedule ? [schedule.timezone] : [],
  );
  return [examineNewYork(now), examineCalendars([...new Set([...samples, ...named])], now)];
}

/**
 * Checks that this year's clock changes in New York follow the law, because the service's day ends at midnight in New
 * York.
 */
function examineNewYork(now: number): Finding {
  const year = new Date(now).getUTCFullYear();
  const start = Temporal.ZonedDateTime.from(`${year}-01-01T00:00[America/New_York]`);
  const first = start.getTimeZoneTransition('next');
  const found = [first, first?.getTimeZoneTransition('next')].map((at) => at?.epochMilliseconds);
  return zoneFinding(year, found);
}

/**
 * The second Sunday in March at 07:00 UTC, and the first Sunday in November at 06:00 UTC (US Energy Policy Act of 2005,
 * section 110).
 */
export function zoneFinding(year: number, found: readonly (number | undefined)[]): Finding {
  const sunday = (month: number, from: number) => from + ((7 - new Date(Date.UTC(year, month, from)).getUTCDay()) % 7);
  const expected = [Date.UTC(year, 2, sunday(2, 8), 7), Date.UTC(year, 10, sunday(10, 1), 6)];
  const same = expected.every((at, i) => at === found[i]);
  const version = process.versions.tz ?? 'unknown';
  return same
    ? good('time zones', `the daylight saving rules for New York are correct for ${year} (time zone data ${version})`)
    : bad(
        'time zones',
        `the daylight saving rules for New York are wrong for ${year} (time zone data ${version})`,
        fix,
      );
}

/**
 * Checks that the time-zone database for schedules and the one for displayed times agree around the next clock changes.
 */
function examineCalendars(zones: readonly string[], now: number): Finding {
  const apart = zones.filter((zone) => instantsOf(zone, now).some((at) => !agree(zone, at)));
  if (apart.length === 0) return good('calendars', `Temporal and Intl agree on ${zones.length} time zones`);
  return bad('calendars', `Temporal and Intl disagree about the time in ${apart.join(', ')}`, fix);
}

/** Returns the instants to compare: now, and one hour before and after each of the next four clock changes. */
function instantsOf(zone: string, now: number): number[] {
  const instants = [now];
  let at: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone);
  for (let n = 0; n < 4 && at !== null; n++) {
    at = at.getTimeZoneTransition('next');
    if (at !== null) instants.push(at.epochMilliseconds - hour, at.epochMilliseconds + hour);
  }
  return instants;
}

function agree(zone: string, at: number): boolean {
  const { year, month, day, hour: hours, minute } = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  const parts = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  }).formatToParts(at);
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  return (
    of('year') === year && of('month') === month && of('day') === day && of('hour') === hours && of('minute') === minute
  );
}
