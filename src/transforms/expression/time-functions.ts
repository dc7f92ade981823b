import { cutText } from '../../lib/redact.ts';
import { type DateTime, parseDateTime } from '../values/instant.ts';
import { CellFault } from './cell-fault.ts';
import type { Define } from './define.ts';

const timestamp = 'google.protobuf.Timestamp';
const formats = new Map<string, Intl.DateTimeFormat>();

const parts: Readonly<Record<string, (at: DateTime) => number>> = {
  year: ({ year }) => year,
  month: ({ month }) => month,
  day: ({ day }) => day,
  hour: ({ seconds }) => Math.floor(seconds / 3600),
  minute: ({ seconds }) => Math.floor((seconds % 3600) / 60),
};

/**
 * Adds functions for dates and times to the language. `year`, `month` (1 to 12), `day`, `hour` and `minute` return part
 * of an instant or of a string. They read an instant in UTC or in a given time zone, and a string with a date or a
 * local time as it's written. `date` and `local` convert an instant to the date or the local time in a time zone.
 */
export function registerTimeFunctions(define: Define): void {
  for (const [name, part] of Object.entries(parts)) {
    define(`${name}(${timestamp}): int`, (at: Date) => BigInt(part(written(at.toISOString()))));
    define(`${name}(${timestamp}, string): int`, (at: Date, zone: string) => BigInt(part(written(local(at, zone)))));
    define(`${name}(string): int`, (text: string) => BigInt(part(written(text))));
  }
  define(`date(${timestamp}): string`, (at: Date) => at.toISOString().slice(0, 10));
  define(`date(${timestamp}, string): string`, (at: Date, zone: string) => local(at, zone).slice(0, 10));
  define(`local(${timestamp}, string): string`, local);
  define(`string(${timestamp}): string`, (at: Date) => at.toISOString());
}

function written(text: string): DateTime {
  const found = parseDateTime(text);
  if (found === undefined) throw new CellFault(`${JSON.stringify(cutText(text, 40))} is not a valid date`);
  return found;
}

/** Returns the local time of an instant in a time zone, as `YYYY-MM-DDTHH:MM:SS`. */
function local(at: Date, zone: string): string {
  const found = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const { year = '', month, day, hour, minute, second } = found;
  return `${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}`;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  try {
    const format = new Intl.DateTimeFormat('en-CA-u-hc-h23-ca-iso8601', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    });
    // Time zones are usually literals. If they come from data, the limit prevents this cache from growing.
    if (formats.size < 100) formats.set(zone, format);
    return format;
  } catch {
    throw new CellFault(`unknown time zone ${JSON.stringify(cutText(zone, 40))}`);
  }
}
