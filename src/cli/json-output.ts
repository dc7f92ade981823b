import { advised } from '../lib/advice.ts';
import type { Problem } from '../lib/problem.ts';

/** JSON whose members that end in `at`, `as_of`, `until` or `since` are instants: epoch milliseconds become ISO 8601. */
export function jsonOutput(value: unknown): string {
  const instant = /(^|_)(at|as_of|until|since)$/;
  return JSON.stringify(
    value,
    (key, inner: unknown) => (typeof inner === 'number' && instant.test(key) ? new Date(inner).toISOString() : inner),
    2,
  );
}

/** A problem as documents for machines have it. */
export function problemJson({ code, family, message, where, seen, allowed, next }: Problem): object {
  // Here, and not in the whole document, since documents with rows leave as they are.
  return { code, family, message, where, seen, allowed, next: next === undefined ? undefined : advised(next) };
}
