import { expect, it } from 'vitest';
import { chunksOf } from '../../../src/daemon/run/range-chunks.ts';
import fc from '../../property.ts';

const chunks = (from: string, to: string, chunk = '', zone = 'UTC') =>
  [...chunksOf({ from, to }, { chunk, zone })].map((one) => [one.from, one.to]);

it('chunks step through days, times, timestamps and numbers, and the last one is shorter', () => {
  expect(chunks('2026-01-30', '2026-02-02', '2d')).toEqual([
    ['2026-01-30', '2026-02-01'],
    ['2026-02-01', '2026-02-02'],
  ]);
  expect(chunks('2026-01-31T22:00', '2026-02-01T00:00', '90m')).toEqual([
    ['2026-01-31T22:00', '2026-01-31T23:30:00'],
    ['2026-01-31T23:30:00', '2026-02-01T00:00'],
  ]);
  expect(chunks('2026-01-31', '2026-03-15', '1mo').length).toBe(2);
  expect(chunks('2026-01-01', '2026-03-01')).toEqual([['2026-01-01', '2026-03-01']]);
});

it("chunks are calendar days in the job's time zone", () => {
  expect(chunks('2026-03-28T23:00:00Z', '2026-03-30T22:00:00Z', '1d', 'Europe/Berlin')).toEqual([
    ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['2026-03-29T22:00:00Z', '2026-03-30T22:00:00Z'],
  ]);
  expect(chunks('10', '35', '10')).toEqual([
    ['10', '20'],
    ['20', '30'],
    ['30', '35'],
  ]);
});

it('an invalid range is rejected', () => {
  const refused = (code: string, ...given: Parameters<typeof chunks>) =>
    expect(() => chunks(...given)).toThrow(expect.objectContaining({ code }));
  refused('BACKFILL_RANGE', '2026-02-30', '2026-03-01');
  refused('BACKFILL_RANGE', '2026-01-01', '7');
  refused('BACKFILL_RANGE', '2026-01-01', '2026-01-01');
  refused('BACKFILL_RANGE', 'yesterday', '2026-01-01');
  refused('BACKFILL_CHUNK', '2026-01-01', '2026-02-01', '6h');
  refused('BACKFILL_CHUNK', '1', '2', '1d');
  refused('BACKFILL_CHUNK', '2026-01-01', '2026-02-01', '0d');
});

it('chunks cover the range exactly once, without gaps or overlaps', () => {
  fc.assert(
    fc.property(
      fc.bigInt(-(10n ** 20n), 10n ** 20n),
      fc.bigInt(1n, 500n),
      fc.bigInt(1n, 90n),
      (from, length, chunk) => {
        const all = chunks(String(from), String(from + length), String(chunk));
        expect(all[0]![0]).toBe(String(from));
        expect(all.at(-1)![1]).toBe(String(from + length));
        for (const [i, [start]] of all.entries()) if (i > 0) expect(start).toBe(all[i - 1]![1]);
      },
    ),
  );
});
