import './temporal.ts';
/** A human-readable duration: `340 ms`, `12.4 s`, `3 min 05 s`, `2 h 10 min`, `3 d 04 h`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${two(Math.floor(seconds % 60))} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 72) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

const two = (count: number): string => String(count).padStart(2, '0');

let shownZone = 'UTC';

/**
 * Sets the IANA time zone in which times are shown to people, as set in the config. JSON and other machine-readable
 * documents stay in UTC.
 */
export function showTimesIn(zone = 'UTC'): void {
  shownZone = zone;
}

/** A time to the second, with its offset from UTC: `2026-11-21 06:00:00+01:00`; in UTC, `2026-11-21 05:00:00Z`. */
export function instantText(epochMs: number): string {
  if (shownZone !== 'UTC') {
    const at = Temporal.Instant.fromEpochMilliseconds(Math.floor(epochMs)).toZonedDateTimeISO(shownZone);
    return `${at.toPlainDate()} ${at.toPlainTime().toString({ smallestUnit: 'second' })}${at.offset}`;
  }
  return new Date(epochMs)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}

/** A time in New York, the service's time zone: `00:00 EST`, with the date if it isn't the date of `now`. */
export function easternText(epochMs: number, now: number): string {
  const at = inNewYork(epochMs);
  const zone = at.offset === '-04:00' ? 'EDT' : 'EST';
  const time = `${two(at.hour)}:${two(at.minute)} ${zone}`;
  const days = inNewYork(now).toPlainDate().until(at.toPlainDate()).days;
  return days === 0 || (days === 1 && at.hour === 0) ? time : `${at.toPlainDate().toString()} ${time}`;
}

function inNewYork(epochMs: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(epochMs)).toZonedDateTimeISO('America/New_York');
}
