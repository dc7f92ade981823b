import '../../lib/temporal.ts';

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Parses `500ms`, `90s`, `15m`, `24h`, `14d`, or an ISO 8601 duration without months and years, to milliseconds; a day
 * has 24 hours. Returns undefined for any other string and for negative durations.
 */
export function durationMs(text: string): number | undefined {
  const short = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text);
  if (short !== null) return Number(short[1]) * units[short[2] as keyof typeof units];
  try {
    const total = Temporal.Duration.from(text).total({ unit: 'milliseconds' });
    return total < 0 ? undefined : Math.round(total);
  } catch {
    return undefined;
  }
}
