import { advised } from '../../lib/advice.ts';
import type { Problem } from '../../lib/problem.ts';

/**
 * Converts a value to JSON. In fields whose names end in `at`, `as_of`, `until` or `since`, epoch milliseconds become
 * ISO 8601.
 */
export function jsonOutput(value: unknown): string {
  const instant = /(^|_)(at|as_of|until|since)$/;
  return JSON.stringify(
    value,
    (key, inner: unknown) => (typeof inner === 'number' && instant.test(key) ? new Date(inner).toISOString() : inner),
    2,
  );
}

/** Returns a problem in its JSON form. */
export function problemJson({ code, family, message, where, seen, allowed, next }: Problem): object {
  // Sanitizes only the advice. Row values in the document must stay unchanged.
  return { code, family, message, where, seen, allowed, next: next === undefined ? undefined : advised(next) };
}
