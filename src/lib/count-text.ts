/** A whole number as people read it, the same everywhere: `1,000,000`. Machines get the raw one through --json. */
export function countText(count: number): string {
  return Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** So many of something: `1 row`, `2,000 rows`. A word with another plural than `s` brings it along. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${countText(count)} ${count === 1 ? noun : plural}`;
}
