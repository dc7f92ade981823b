import '../../lib/temporal.ts';

interface DateOfPath {
  /** Epoch milliseconds. */
  readonly at: number;
  /** IANA time zone. */
  readonly timezone: string;
}

const pad = (value: number, width = 2) => String(value).padStart(width, '0');

/** The parts of a date, with the letters of the `formats` option. */
const parts: Readonly<Record<string, (at: Temporal.ZonedDateTime) => string>> = {
  yyyy: ({ year }) => pad(year, 4),
  yy: ({ year }) => pad(year % 100),
  MM: ({ month }) => pad(month),
  dd: ({ day }) => pad(day),
  HH: ({ hour }) => pad(hour),
  mm: ({ minute }) => pad(minute),
  ss: ({ second }) => pad(second),
};

/**
 * Braces that contain only letters for a date and separators. Alternatives of a glob have a comma or two dots, and
 * `{name}` and `{stem}` have other letters.
 */
const dated = /\{([yMdHms]+(?:[-_/.][yMdHms]+)*)\}/g;

/** Replaces each date in braces, such as `{yyyy-MM-dd}` or `{yyyyMMdd}`. */
export function fillDates(path: string, { at, timezone }: DateOfPath): string {
  const time = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
  return path.replaceAll(dated, (_, pattern: string) =>
    pattern.replaceAll(/([A-Za-z])\1*/g, (letters) => parts[letters]?.(time) ?? letters),
  );
}

/** Whether a path contains a date in braces. */
export function hasDate(path: string): boolean {
  return path.search(dated) !== -1;
}

/** A glob that matches the path with any date in place of those in braces. */
export function datedGlob(path: string): string {
  return path.replaceAll(dated, (_, pattern: string) => pattern.replaceAll(/[A-Za-z]/g, '[0-9]'));
}

/** Why a date in braces isn't valid; undefined if all are. */
export function dateFaultIn(path: string): string | undefined {
  for (const [, pattern = ''] of path.matchAll(dated)) {
    const wrong = pattern.match(/([A-Za-z])\1*/g)?.find((letters) => !Object.hasOwn(parts, letters));
    if (wrong !== undefined) return `has "${wrong}" in {${pattern}}; allowed: ${Object.keys(parts).join(' ')}`;
  }
  return undefined;
}
