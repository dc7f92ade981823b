const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Milliseconds of `30s`, `5m`, `24h`, `2d`, `1w`. */
export function spanOf(text: string): number {
  return Number.parseInt(text, 10) * (unitMs[text.slice(-1)] ?? Number.NaN);
}
