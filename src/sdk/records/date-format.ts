import type { ColumnType } from '../column.ts';
import { canonicalText } from './canonical.ts';
import { parseEpochFormat } from './epoch-format.ts';
import type { ValueFormat } from './value-format.ts';

interface DateFormatOptions {
  readonly type: Extract<ColumnType, 'date' | 'time' | 'timestamp' | 'timestamptz'>;
  /** The first year of the hundred-year range that two-digit years refer to. */
  readonly firstYear: number | undefined;
}

type Part = 'year' | 'shortYear' | 'month' | 'monthName' | 'day' | 'hour' | 'hour12' | 'half' | 'minute' | 'second';
type Group = Part | 'fraction' | 'zone';

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const shortMonth = months.join('|');
const longMonth = 'january|february|march|april|may|june|july|august|september|october|november|december';

/**
 * Pattern letters as in Java, Spark, .NET and Excel. `Y` and `D` count as `y` and `d`, because they have no other
 * meaning here.
 */
const symbols: Readonly<Record<string, readonly [Group, string]>> = {
  yyyy: ['year', '\\d{4}'],
  yy: ['shortYear', '\\d{2}'],
  MMMM: ['monthName', longMonth],
  MMM: ['monthName', shortMonth],
  MM: ['month', '\\d{2}'],
  M: ['month', '\\d{1,2}'],
  dd: ['day', '\\d{2}'],
  d: ['day', '\\d{1,2}'],
  HH: ['hour', '\\d{2}'],
  H: ['hour', '\\d{1,2}'],
  hh: ['hour12', '\\d{2}'],
  h: ['hour12', '\\d{1,2}'],
  mm: ['minute', '\\d{2}'],
  ss: ['second', '\\d{2}'],
  a: ['half', '[ap]\\.?m\\.?'],
  XXX: ['zone', 'Z|[+-]\\d{2}:?\\d{2}'],
};

const allowed = 'yyyy yy MMMM MMM MM M dd d HH H hh h a mm ss S XXX, and epoch, epoch_ms, epoch_us, epoch_ns';

interface Parsed {
  readonly groups: readonly Group[];
  readonly pattern: RegExp;
}

/**
 * A date format is either a pattern, such as `dd.MM.yyyy`, `MM/dd/yyyy hh:mm a` or `d-MMM-yy`, or a unit of epoch time.
 */
export function parseDateFormat(written: string, { type, firstYear }: DateFormatOptions): ValueFormat | string {
  const epoch = parseEpochFormat(written, type);
  if (epoch !== undefined) return epoch;
  const parsed = parsePattern(written);
  if (typeof parsed === 'string') return parsed;
  const fault = faultOf(parsed.groups, { type, firstYear });
  if (fault !== undefined) return fault;
  return {
    written: firstYear === undefined ? written : `${written}, yy from ${firstYear}`,
    read(text) {
      const match = parsed.pattern.exec(text.trim());
      if (match === null) return undefined;
      const parts = Object.fromEntries(parsed.groups.map((group, i) => [group, match[i + 1]!]));
      const canonical = textOf(parts, { type, firstYear });
      return canonical === undefined ? undefined : canonicalText(canonical, type);
    },
  };
}

function parsePattern(written: string): Parsed | string {
  const groups: Group[] = [];
  let source = '';
  let isAfterOpen = false;
  for (const [piece] of written.matchAll(/'[^']*'|([A-Za-z])\1*|[^A-Za-z']+|'/g)) {
    const name = piece.replaceAll('Y', 'y').replaceAll('D', 'd');
    const [group, digits] = Object.hasOwn(symbols, name) ? symbols[name]! : fractionOf(name);
    if (group === undefined) {
      const text = literalOf(piece);
      if (text === undefined) return unknownSymbol(piece);
      source += RegExp.escape(text);
      isAfterOpen = /\d/.test(text) && isAfterOpen;
      continue;
    }
    if (groups.includes(group)) return `has "${piece}" twice`;
    const isOpen = digits.includes('1,2');
    const isGlued = source.endsWith(')');
    if (isGlued && (isOpen || isAfterOpen))
      return `has "${piece}" next to another number without a separator: use two letters (MM, dd)`;
    source += `(${digits})`;
    groups.push(group);
    isAfterOpen = isOpen;
  }
  return { groups, pattern: new RegExp(`^${source}$`, 'i') };
}

function fractionOf(name: string): readonly [Group | undefined, string] {
  return /^S{1,9}$/.test(name) ? ['fraction', `\\d{${name.length}}`] : [undefined, ''];
}

/** Literals are text in single quotes, the T of ISO 8601, and everything except letters. */
function literalOf(piece: string): string | undefined {
  if (piece === 'T' || /^[^A-Za-z']+$/.test(piece)) return piece;
  if (!/^'.*'$/.test(piece) || piece.length < 2) return undefined;
  return piece === "''" ? "'" : piece.slice(1, -1);
}

function unknownSymbol(piece: string): string {
  return `has "${piece}", which is not part of a date format: use ${allowed}; put other text in single quotes`;
}

function faultOf(groups: readonly Group[], { type, firstYear }: DateFormatOptions): string | undefined {
  const has = (group: Group) => groups.includes(group);
  const hasDay = (has('year') || has('shortYear')) && (has('month') || has('monthName')) && has('day');
  const hasAnyDay = ['year', 'shortYear', 'month', 'monthName', 'day'].some((group) => has(group as Group));
  const hasClock = has('hour') || has('hour12');
  const rules: [isBroken: boolean, message: string][] = [
    [
      has('minute') && !has('month') && !has('monthName') && !hasClock,
      'has mm, which means minutes: use MM for months',
    ],
    [type !== 'time' && !hasDay, 'needs a year, a month and a day, for example dd.MM.yyyy'],
    [type === 'time' && hasAnyDay, 'has a day: use type timestamp'],
    [type === 'date' && (hasClock || has('minute') || has('zone')), 'has a time: use type timestamp'],
    [type !== 'date' && !hasClock, 'has no hour: add HH, or use type date'],
    [has('hour12') !== has('half'), 'needs both h and a (AM or PM), or H'],
    [has('hour12') && has('hour'), 'needs either h and a, or H'],
    [hasClock && !has('minute') && (has('second') || has('fraction')), 'needs minutes: add mm'],
    [has('fraction') && !has('second'), 'needs seconds: add ss before the fraction'],
    [has('year') && has('shortYear'), 'needs either yyyy or yy'],
    [has('month') && has('monthName'), 'needs either the number or the name of the month'],
    [type === 'timestamptz' && !has('zone'), 'needs an offset: add XXX, or use type timestamp'],
    [type === 'timestamp' && has('zone'), 'has an offset: use type timestamptz'],
    [
      has('shortYear') && firstYear === undefined,
      'has yy: set `first_year` to the first of the hundred years that yy can mean, for example 1950 for 1950 to 2049; or use yyyy',
    ],
  ];
  return rules.find(([isBroken]) => isBroken)?.[1];
}

function textOf(parts: Readonly<Record<string, string>>, { type, firstYear }: DateFormatOptions): string | undefined {
  const time = type === 'date' ? '' : timeOf(parts);
  if (time === undefined) return undefined;
  if (type === 'time') return time;
  const { year = fullYear(parts.shortYear!, firstYear!), month, day } = parts;
  const number = month ?? String(months.indexOf(parts.monthName!.slice(0, 3).toLowerCase()) + 1);
  const date = `${year}-${number.padStart(2, '0')}-${day!.padStart(2, '0')}`;
  return type === 'date' ? date : `${date}T${time}`;
}

function fullYear(short: string, first: number): string {
  return String(first + ((((Number(short) - first) % 100) + 100) % 100)).padStart(4, '0');
}

function timeOf({
  hour,
  hour12,
  half,
  minute = '00',
  second = '00',
  fraction,
  zone = '',
}: Readonly<Record<string, string>>) {
  const full = hour ?? fullHour(Number(hour12), half!);
  return full && `${full.padStart(2, '0')}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}${zone}`;
}

function fullHour(hour: number, half: string): string | undefined {
  if (hour < 1 || hour > 12) return undefined;
  return String((hour % 12) + (/^p/i.test(half) ? 12 : 0));
}
