/** A human-readable integer, whatever the locale: `1,000,000`. With --json, numbers are raw. */
export function countText(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A count with its noun: `1 row`, `2,000 rows`. Pass `plural` if it doesn't just add an `s`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${countText(count)} ${count === 1 ? noun : plural}`;
}
