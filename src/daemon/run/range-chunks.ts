import { Problem } from '../../lib/problem.ts';
import type { Range } from '../../sdk/extraction.ts';
import '../../lib/temporal.ts';

type Kind = 'number' | 'day' | 'local' | 'instant';

const shapes: readonly (readonly [Kind, RegExp])[] = [
  ['number', /^-?\d+$/],
  ['day', /^\d{4}-\d\d-\d\d$/],
  ['instant', /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/],
  ['local', /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/],
];
const units: Readonly<Record<string, keyof Temporal.DurationLikeObject>> = {
  m: 'minutes',
  h: 'hours',
  d: 'days',
  w: 'weeks',
  mo: 'months',
};
const allowed =
  "2026-01-31, 2026-01-31T09:00 in the job's zone, 2026-01-31T09:00:00Z, or whole numbers; --from and --to must be of the same kind";

/** Steps through a range of values of one type. */
interface Steps {
  isBefore(a: string, b: string): boolean;
  /** The value one chunk later. */
  next(from: string): string;
}

/**
 * Splits a range into chunks, in order. Each chunk starts where the previous one ends, and the last one is shortened to
 * fit. An empty `chunk` makes the whole range one chunk. Days and weeks are calendar units in `zone`. Throws Problems
 * of family `config` for an invalid range.
 */
export function* chunksOf({ from, to }: Range, { chunk, zone }: { chunk: string; zone: string }): Generator<Range> {
  const kind = kindOf(from);
  if (kind !== kindOf(to)) throw badRange(`${from} and ${to}`, '--from and --to must be of the same kind');
  const steps = stepsOf(kind, { chunk, zone });
  if (!steps.isBefore(from, to)) throw badRange(`${from} to ${to}`, 'The range is empty: --to is not after --from');
  for (let at = from; steps.isBefore(at, to); ) {
    const next = chunk === '' ? to : steps.next(at);
    const end = steps.isBefore(next, to) ? next : to;
    yield { from: at, to: end };
    at = end;
  }
}

function kindOf(text: string): Kind {
  const found = shapes.find(([, shape]) => shape.test(text));
  if (found === undefined || !exists(text, found[0])) throw badRange(text, 'Not a valid value for --from or --to');
  return found[0];
}

/** Rejects days that don't exist, such as April 31. */
function exists(text: string, kind: Kind): boolean {
  try {
    if (kind === 'instant') Temporal.Instant.from(text);
    else if (kind !== 'number') Temporal.PlainDateTime.from(text, { overflow: 'reject' });
    return true;
  } catch {
    return false;
  }
}

function stepsOf(kind: Kind, { chunk, zone }: { chunk: string; zone: string }): Steps {
  if (kind === 'number') {
    const step = chunk === '' || /^[1-9]\d*$/.test(chunk) ? BigInt(chunk) : badChunk(chunk, 'a number: 100000');
    return { isBefore: (a, b) => BigInt(a) < BigInt(b), next: (from) => String(BigInt(from) + step) };
  }
  const span = spanOf(chunk, kind);
  const plain = { isBefore: (a: string, b: string) => compare(a, b) < 0 };
  if (kind === 'day') return { ...plain, next: (from) => Temporal.PlainDate.from(from).add(span).toString() };
  if (kind === 'local') return { ...plain, next: (from) => Temporal.PlainDateTime.from(from).add(span).toString() };
  return {
    isBefore: (a, b) => Temporal.Instant.compare(a, b) < 0,
    next: (from) => Temporal.Instant.from(from).toZonedDateTimeISO(zone).add(span).toInstant().toString(),
  };
}

const compare = (a: string, b: string): number => Temporal.PlainDateTime.compare(a, b);

function spanOf(chunk: string, kind: Kind): Temporal.DurationLikeObject {
  const [, count, unit = ''] = /^([1-9]\d{0,5})(mo|[mhdw])$/.exec(chunk) ?? [];
  const isTime = unit === 'm' || unit === 'h';
  if (chunk === '') return { days: 0 };
  if (count === undefined || (kind === 'day' && isTime))
    return badChunk(chunk, kind === 'day' ? '1d, 1w, 1mo' : '30m, 6h, 1d, 1w, 1mo');
  return { [units[unit]!]: Number(count) };
}

function badChunk(seen: string, words: string): never {
  throw new Problem({
    code: 'BACKFILL_CHUNK',
    family: 'config',
    message: 'The range cannot be divided into these chunks',
    seen,
    allowed: words,
    next: 'fix --chunk, or omit it to read the whole range at once',
  });
}

function badRange(seen: string, message: string): Problem {
  return new Problem({
    code: 'BACKFILL_RANGE',
    family: 'config',
    message,
    seen,
    allowed,
    next: 'fix --from and --to',
  });
}
