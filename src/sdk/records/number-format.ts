import { canonicalText } from './canonical.ts';
import type { ValueFormat } from './value-format.ts';

/** The number format that an example number represents. */
interface NumberStyle {
  /** Text before and after the digits, such as a currency symbol. */
  readonly prefix: string;
  readonly suffix: string;
  readonly isPercent: boolean;
  /** Whether negative numbers are in parentheses, or end in a minus sign (SAP). */
  readonly isParenthesized: boolean;
  readonly hasTrailingMinus: boolean;
  /** Undefined if there is none. */
  readonly thousands: string | undefined;
  readonly decimal: string | undefined;
  /** Number of digits in the groups above the thousands: 3, or 2 in India. */
  readonly groupDigits: number;
}

/** Spaces and apostrophes have variants that look alike, and programs use any of them. */
const blanks = ' \u00a0\u202f\u2009';
const apostrophes = "'’";
const sample = new RegExp(`^([^\\d]*?)(\\d[\\d.,_${blanks}${apostrophes}]*\\d|\\d)([^\\d]*)$`);

const allowed = 'an example with separators, such as 1.234,56 or 1234,56 or 1 234,56 or 12,5 %';

/**
 * A number format is an example number, such as `1.234,56`, `1 234,56`, `12,5 %`, `$1,234.56`, `(1,234.56)`,
 * `1.234,56-`.
 */
export function parseNumberFormat(written: string, type: 'integer' | 'decimal' | 'float'): ValueFormat | string {
  const style = styleOf(written.trim());
  if (typeof style === 'string') return style;
  const pattern = patternOf(style);
  return {
    written,
    read(text) {
      const match = pattern.exec(text.trim())?.groups;
      if (match === undefined) return undefined;
      const { open, sign = '', inner = '', whole = '', fraction = '', trailing } = match;
      if (whole === '' && fraction === '') return undefined;
      const minus = [sign, inner, trailing ?? ''].filter((one) => /[-−]/.test(one)).length + (open ? 1 : 0);
      if (minus > 1) return undefined;
      const digits = `${minus === 1 ? '-' : ''}${whole.replaceAll(/\D/g, '')}.${fraction}`;
      return canonicalText(style.isPercent ? `${digits}e-2` : digits, type);
    },
  };
}

function styleOf(written: string): NumberStyle | string {
  const isParenthesized = /^\(.*\)$/.test(written);
  const [, before, body, after] = sample.exec(isParenthesized ? written.slice(1, -1) : written) ?? [];
  if (body === undefined) return `is not a number format: it must be ${allowed}`;
  const separators = separatorsOf(body);
  if (typeof separators === 'string') return separators;
  const hasTrailingMinus = /^\s*[-−]/.test(after!);
  const suffix = after!.replace(/^\s*[-−]/, '').trim();
  const isPercent = suffix === '%';
  const prefix = before!.replaceAll(/[-−+]/g, '').trim();
  return { ...separators, prefix, suffix, isPercent, isParenthesized, hasTrailingMinus };
}

type Separators = Pick<NumberStyle, 'thousands' | 'decimal' | 'groupDigits'>;

/**
 * The last separator is the decimal separator if it differs from the others, or if the digits after it can't be a
 * group.
 */
function separatorsOf(body: string): Separators | string {
  const marks = body.match(/\D/g) ?? [];
  const groups = body.split(/\D/);
  const last = marks.at(-1);
  if (last === undefined) return `does not show the separators: it must be ${allowed}`;
  const isPoint = last === '.' || last === ',';
  const isAlone = marks.length === 1 && isPoint;
  if (isAlone && groups[1]!.length === 3 && groups[0]!.length <= 3 && groups[0] !== '0')
    return `is ambiguous: "${last}" may separate thousands or decimals, so write ${otherSamples(last)}`;
  const isDecimal = isAlone || (isPoint && !marks.slice(0, -1).includes(last));
  const others = isDecimal ? marks.slice(0, -1) : marks;
  if (new Set(others).size > 1) return `has different thousands separators: it must be ${allowed}`;
  const whole = isDecimal ? groups.slice(0, -1) : groups;
  const widths = whole.slice(1, -1).map(({ length }) => length);
  const groupDigits = widths[0] ?? 3;
  const isRegular = widths.every((width) => width === groupDigits) && (groupDigits === 3 || groupDigits === 2);
  const isGrouped = others.length === 0 || (isRegular && whole.at(-1)!.length === 3 && whole[0]!.length <= groupDigits);
  if (!isGrouped) return `has a thousands separator in the wrong place: it must be ${allowed}`;
  return { thousands: others[0], decimal: isDecimal ? last : undefined, groupDigits };
}

function otherSamples(mark: string): string {
  return mark === '.' ? '1.234,0 (thousands) or 1234.5 (decimals)' : '1,234.0 (thousands) or 1234,5 (decimals)';
}

/** Thousands separators may be missing, but must not be misplaced: `1.5` isn't a number in the format `1.234,56`. */
function patternOf(style: NumberStyle): RegExp {
  const { thousands, decimal, groupDigits, prefix, suffix, isParenthesized, hasTrailingMinus } = style;
  const separator = thousands === undefined ? undefined : `[${RegExp.escape(alikeOf(thousands))}]`;
  const grouped = `\\d{1,${groupDigits}}(?:${separator}\\d{${groupDigits}})*${separator}\\d{3}|`;
  const whole = `(?<whole>${separator === undefined ? '' : grouped}\\d*)`;
  const fraction = decimal === undefined ? '' : `(?:${RegExp.escape(decimal)}(?<fraction>\\d*))?`;
  const front = prefix === '' ? '' : `${RegExp.escape(prefix)}\\s?(?<inner>[-−+]?)`;
  const back = suffix === '' ? '' : `\\s?${RegExp.escape(suffix)}`;
  const trailing = hasTrailingMinus ? '(?<trailing>[-−]?)' : '';
  const bare = `(?<sign>[-−+]?)${front}${whole}${fraction}${trailing}${back}`;
  return new RegExp(isParenthesized ? `^(?:(?<open>\\()(?=.*\\)$))?${bare}(?:(?<=^\\(.*)\\))?$` : `^${bare}$`);
}

function alikeOf(mark: string): string {
  if (blanks.includes(mark)) return blanks;
  return apostrophes.includes(mark) ? apostrophes : mark;
}
