import { Problem } from '../lib/problem.ts';
import { cutText } from '../lib/redact.ts';
import type { ColumnType } from '../sdk/column.ts';
import { utcText } from './ordered-bytes.ts';
import type { RetentionSpan } from './write-rule.ts';
import '../lib/temporal.ts';

const types: readonly ColumnType[] = ['date', 'timestamp', 'timestamptz', 'text'];
const shape = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * Decides which rows are older than a retention period, based on a column of dates or times in string form. A date
 * without a time counts as the end of its day; a time without a zone is in the job's zone.
 */
export class RetentionAge {
  readonly #column: string;
  /** The cutoff in each format that the strings may have. */
  readonly #day: string;
  readonly #local: string;
  readonly #utc: string;
  readonly #isDated: boolean;

  /** `now`: the run's time in epoch milliseconds. */
  constructor(
    { name, type }: { readonly name: string; readonly type: ColumnType },
    { within, zone, now }: { readonly within: RetentionSpan; readonly zone: string; readonly now: number },
  ) {
    if (!types.includes(type)) throw notAged(name, type);
    const limit = Temporal.Instant.fromEpochMilliseconds(Math.round(now))
      .toZonedDateTimeISO(zone)
      .subtract({ [within.unit]: within.count });
    this.#column = name;
    this.#day = limit.toPlainDate().toString();
    this.#local = limit.toPlainDateTime().toString();
    this.#utc = limit.toInstant().toString().slice(0, -1);
    this.#isDated = type === 'date';
  }

  /** Whether a date or time is past the retention period. Throws a Problem (family `row`) if the string is neither. */
  isOld(text: string): boolean {
    if (text.length === 10) return this.#checked(text) < this.#day;
    if (text.endsWith('Z') && text[10] === 'T' && text.length > 16) return text.slice(0, -1) < this.#utc;
    if (/^-?infinity$/i.test(text)) return text.startsWith('-');
    this.#checked(text);
    const plain = text.replace(' ', 'T').replace(/^(.{16})(?!:)/, '$1:00');
    const hasZone = /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(plain.slice(16));
    return hasZone ? utcText(plain.replace(/ ?z$/i, 'Z')) < this.#utc : plain < this.#local;
  }

  /**
   * Whether the lexicographically lowest string is also the oldest. If so, only that string has to be checked next
   * time.
   */
  isPlain(text: string): boolean {
    return this.#isDated ? text.length === 10 : text.endsWith('Z') && text[10] === 'T';
  }

  #checked(text: string): string {
    if (shape.test(text)) return text;
    throw new Problem({
      code: 'SET_AGE',
      family: 'row',
      message: `retain needs a date or time in column ${JSON.stringify(this.#column)}, but the value in a row is neither`,
      where: { column: this.#column },
      seen: cutText(text, 80),
      allowed: '2026-01-31, 2026-01-31T09:00:00Z, 2026-01-31 09:00:00+01:00, or null (such rows are kept)',
      next: 'set another column in write.retain, or fix the value at the source',
    });
  }
}

function notAged(column: string, type: ColumnType): Problem {
  return new Problem({
    code: 'SET_AGE_TYPE',
    family: 'config',
    message: `retain cannot determine the age of a row by column ${JSON.stringify(column)}, because its type is ${type}`,
    where: { column },
    seen: type,
    allowed: types.join(', '),
    next: 'set a column with dates or times in write.retain, or convert this column in the query',
  });
}
