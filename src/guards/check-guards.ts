import type { Guards } from '../config/config.ts';
import { countOf, countText } from '../lib/count-text.ts';
import { excerpt } from '../lib/redact.ts';
import { spanText } from '../lib/span.ts';
import { instantText } from '../lib/time-text.ts';
import type { Counted } from './guard-counters.ts';
import type { GuardFailure } from './guard-finding.ts';
import { maxUniqueRows } from './unique-rows.ts';

/** The figures from a finished extract that guards check. */
export interface Result {
  readonly rows: number;
  readonly bytes: number;
  /** Names of the result's columns. */
  readonly columns: readonly string[];
  /** The run's logical time, from which freshness is measured, in epoch milliseconds. */
  readonly at: number;
  readonly counted?: Counted;
}

/** The last good payload, for comparison. */
export interface LastGood {
  readonly rows: number;
  readonly run: string;
}

/**
 * The failed guards in declaration order. If there are none, the result may be sent. An empty result must be allowed by
 * its job; guards against missing rows then don't apply to it.
 */
export function checkGuards(guards: Guards, result: Result, last: LastGood | undefined): GuardFailure[] {
  const isEmpty = result.rows === 0;
  const findings = [
    bounds('rows', guards.rows, result.rows),
    isEmpty ? undefined : change(guards, result, last),
    missingColumns(guards, result.columns),
    ...(isEmpty ? [] : nulls(guards, result)),
    unique(guards, result),
    isEmpty ? undefined : newest(guards, result),
    bounds('bytes', guards.bytes, result.bytes),
  ];
  return findings.filter((finding) => finding !== undefined);
}

function bounds(unit: 'rows' | 'bytes', allowed: Guards['rows'], seen: number): GuardFailure | undefined {
  const { minimum = 0, maximum = Number.POSITIVE_INFINITY } = allowed ?? {};
  if (seen >= minimum && seen <= maximum) return undefined;
  const few = seen < minimum;
  const noun = unit === 'rows' ? 'row' : 'byte';
  return {
    guard: unit,
    message: `The result has ${few ? 'fewer' : 'more'} ${unit} than ${few ? 'required' : 'allowed'}`,
    seen: countOf(seen, noun),
    allowed: few ? `at least ${countOf(minimum, noun)}` : `at most ${countOf(maximum, noun)}`,
  };
}

function change({ rowChange }: Guards, { rows }: Result, last: LastGood | undefined): GuardFailure | undefined {
  if (rowChange === undefined || last === undefined || last.rows === 0 || last.rows < rowChange.from) return undefined;
  const { down = 1, up = Number.POSITIVE_INFINITY } = rowChange;
  // Compares row counts instead of fractions, because 0.7 * 100 isn't exactly 70 in floating point.
  const minRows = Math.ceil(last.rows * (1 - down) - 1e-6);
  const maxRows = Math.floor(last.rows * (1 + up) + 1e-6);
  if (rows >= minRows && rows <= maxRows) return undefined;
  const part = percentText(Math.abs(rows - last.rows) / last.rows);
  const lost = rows < last.rows;
  return {
    guard: 'row_change',
    message: `The number of rows ${lost ? 'fell' : 'grew'} by ${part} compared with the last good result`,
    seen: `${countOf(rows, 'row')}; ${countText(last.rows)} in run ${last.run}`,
    allowed: lost
      ? `a loss of up to ${percentText(down)} (at least ${countOf(minRows, 'row')})`
      : `a gain of up to ${percentText(up)} (at most ${countOf(maxRows, 'row')})`,
  };
}

/** Columns that the columns guard or a cell guard requires but that are missing from `columns`. */
export function missingColumns(
  { columns: asked = [], nulls, newest, unique: key = [] }: Guards,
  columns: readonly string[],
): GuardFailure | undefined {
  const wanted = new Set([
    ...asked,
    ...(nulls?.keys() ?? []),
    ...key,
    ...(newest === undefined ? [] : [newest.column]),
  ]);
  const absent = [...wanted].filter((name) => !columns.includes(name));
  if (absent.length === 0) return undefined;
  return {
    guard: 'columns',
    message: `${absent.length === 1 ? 'A column is' : 'Columns are'} missing: ${absent.join(', ')}`,
    seen: columns.length === 0 ? 'no columns' : columns.join(', '),
    allowed: [...wanted].join(', '),
  };
}

function nulls({ nulls: allowed = new Map() }: Guards, { rows, columns, counted }: Result): GuardFailure[] {
  return [...allowed].flatMap(([name, maxShare]): GuardFailure[] => {
    const missing = counted?.missing.get(name) ?? 0;
    if (!columns.includes(name) || rows === 0 || missing <= rows * maxShare + 1e-6) return [];
    return [
      {
        guard: 'nulls',
        message: `Column ${name} has too many missing values`,
        seen: `${countText(missing)} of ${countText(rows)} (${percentText(missing / rows)})`,
        allowed: `at most ${percentText(maxShare)}`,
      },
    ];
  });
}

function unique({ unique: key }: Guards, { rows, counted }: Result): GuardFailure | undefined {
  const repeats = counted?.repeats;
  if (key === undefined || repeats === undefined || repeats.rows === 0) return undefined;
  const names = key.join(', ');
  if (repeats.rows === undefined) {
    return {
      guard: 'unique',
      message: `The result has too many rows to check whether ${names} is unique`,
      seen: countOf(rows, 'row'),
      allowed: `at most ${countOf(maxUniqueRows, 'row')}`,
    };
  }
  return {
    guard: 'unique',
    message: `Rows repeat the ${names} of an earlier row; records may have moved between pages during the read`,
    seen: `${countText(repeats.rows)} of ${countOf(rows, 'row')}, such as ${excerpt(repeats.example ?? '', 60)}`,
    allowed: 'each value once',
  };
}

function newest({ newest: asked }: Guards, { columns, counted, at }: Result): GuardFailure | undefined {
  if (asked === undefined || !columns.includes(asked.column)) return undefined;
  const oldest = at - asked.withinMs;
  const seen = counted?.newest;
  if (seen !== undefined && seen >= oldest) return undefined;
  return {
    guard: 'newest',
    message:
      seen === undefined
        ? `Column ${asked.column} contains no date or time`
        : `The newest value in column ${asked.column} is too old; the source may have stopped updating`,
    seen: seen === undefined ? 'none' : instantText(seen),
    allowed: `${instantText(oldest)} or later (${spanText(asked.withinMs)} before the run)`,
  };
}

/** A fraction as a percentage with at most two decimals. It's shown as "0%" or "100%" only if that's exact. */
function percentText(part: number): string {
  const percent = part * 100;
  const near = (percent > 0 && percent < 0.01) || (percent < 100 && percent > 99.99);
  return near ? `${percent < 1 ? 'under 0.01' : 'over 99.99'}%` : `${Number(percent.toFixed(2))}%`;
}
