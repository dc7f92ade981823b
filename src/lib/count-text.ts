/** A human-readable integer, regardless of the locale: `1,000,000`. Not for --json, which prints plain numbers. */
export function countText(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A count with its noun: `1 row`, `2,000 rows`. Pass `plural` if the plural isn't just the noun with an `s`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${countText(count)} ${count === 1 ? noun : plural}`;
}
