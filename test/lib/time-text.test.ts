import { describe, expect, it, onTestFinished } from 'vitest';
import { spanOf } from '../../src/lib/span.ts';
import { durationText, easternText, instantText, showTimesIn } from '../../src/lib/time-text.ts';

describe('times as text', () => {
  it('have the precision that a user needs', () => {
    const texts = [340, 12_400, 185_000, 7_800_000, 76 * 3_600_000].map(durationText);
    expect(texts).toEqual(['340 ms', '12.4 s', '3 min 05 s', '2 h 10 min', '3 d 04 h']);
    expect(instantText(Date.UTC(2026, 10, 21, 5))).toBe('2026-11-21 05:00:00Z');
  });

  it('are in the chosen time zone, with its offset at that time', () => {
    onTestFinished(() => showTimesIn());
    showTimesIn('Europe/Berlin');
    expect(instantText(Date.UTC(2026, 10, 21, 5, 0, 7))).toBe('2026-11-21 06:00:07+01:00');
    expect(instantText(Date.UTC(2026, 6, 21, 23) + 0.5)).toBe('2026-07-22 01:00:00+02:00');
    showTimesIn();
    expect(instantText(Date.UTC(2026, 6, 21, 23))).toBe('2026-07-21 23:00:00Z');
  });

  it("are in New York time in summer and winter, with a date only if it's needed", () => {
    const winter = Date.UTC(2026, 10, 21, 20);
    expect(easternText(Date.UTC(2026, 10, 22, 5), winter)).toBe('00:00 EST');
    expect(easternText(Date.UTC(2026, 10, 21, 23, 30), winter)).toBe('18:30 EST');
    expect(easternText(Date.UTC(2026, 10, 23, 5), winter)).toBe('2026-11-23 00:00 EST');
    expect(easternText(Date.UTC(2026, 6, 22, 4), Date.UTC(2026, 6, 21, 20))).toBe('00:00 EDT');
    // The day on which the clocks go back.
    expect(easternText(Date.UTC(2026, 10, 2, 5), Date.UTC(2026, 10, 1, 5))).toBe('00:00 EST');
  });

  it('can be durations in common notations, such as 30s and 24h', () => {
    expect(['30s', '5m', '24h', '2d', '1w'].map(spanOf)).toEqual([
      30_000, 300_000, 86_400_000, 172_800_000, 604_800_000,
    ]);
  });
});
