import { expect, test } from 'vitest';
import { type ColumnType, canonicalText, columnTypes } from '../../src/sdk/index.ts';
import { surelyCanonical } from '../../src/sdk/records/canonical-bytes.ts';
import fc, { runsOf } from '../property.ts';

test.each<[ColumnType, string, string | undefined]>([
  ['integer', '+007', '7'],
  ['integer', '-0', '0'],
  ['integer', '1.0', '1'],
  ['integer', '1.5', undefined],
  ['integer', '1e3', '1000'],
  ['integer', '', undefined],
  ['integer', '1 000', undefined],
  ['integer', '99999999999999999999', '99999999999999999999'],
  ['decimal', '.5', '0.5'],
  ['decimal', '00.50', '0.50'],
  ['decimal', '-1.50e2', '-150'],
  ['decimal', '12.5e-3', '0.0125'],
  ['decimal', '1e-2', '0.01'],
  ['decimal', '1,5', undefined],
  ['decimal', '.', undefined],
  ['decimal', 'nan', 'NaN'],
  ['decimal', '1e9999', undefined],
  ['decimal', '5.', '5'],
  ['float', '1e400', undefined],
  ['float', '1.50', '1.5'],
  ['float', '-0.0', '-0'],
  ['float', '-Infinity', '-Infinity'],
  ['float', '0x10', undefined],
  ['boolean', 'Yes', 'true'],
  ['boolean', 'off', 'false'],
  ['boolean', 'maybe', undefined],
  ['date', '2024-02-29', '2024-02-29'],
  ['date', '2023-02-29', undefined],
  ['date', '2100-02-29', undefined],
  ['date', '29.02.2024', undefined],
  ['time', '08:05', '08:05:00'],
  ['time', '24:00:00', undefined],
  ['time', '08:05:06,5+02', '08:05:06.5+02:00'],
  ['timestamp', '2026-01-02 03:04', '2026-01-02T03:04:00'],
  ['timestamp', '2026-01-02T03:04:05Z', undefined],
  ['timestamp', '2026-01-02', undefined],
  ['timestamptz', '2026-01-02 03:04:05 +0530', '2026-01-02T03:04:05+05:30'],
  ['timestamptz', '2026-01-02T03:04:05.120z', '2026-01-02T03:04:05.120Z'],
  ['timestamptz', '2026-01-02T03:04:05', undefined],
  ['uuid', 'ABCDEF00-0000-0000-0000-00000000000F', 'abcdef00-0000-0000-0000-00000000000f'],
  ['uuid', 'abc', undefined],
  ['json', '{"a": 1}', '{"a": 1}'],
  ['json', '{a:1}', undefined],
  ['binary', 'AAE=', 'AAE='],
  ['binary', 'AAE', undefined],
  ['text', ' x ', ' x '],
])('as %s, %j is %j', (type, text, expected) => {
  expect(canonicalText(text, type)).toBe(expected);
});

const written = fc.oneof(
  fc.stringMatching(/^[-+]?[0-9]{0,4}(\.[0-9]{0,3})?$/),
  fc.stringMatching(
    /^2[0-9]{3}-[01][0-9]-[0-3][0-9]([ T][012][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{0,3})?)?(Z|[+]0[0-9]:00)?)?$/,
  ),
  fc.string({ maxLength: 12 }),
);

test('a string detected as canonical is canonical, and a canonical string stays unchanged', () => {
  fc.assert(
    fc.property(written, fc.constantFrom(...columnTypes), (text, type) => {
      const canonical = canonicalText(text, type);
      const bytes = Buffer.from(`x${text}9`, 'utf8');
      if (surelyCanonical[type]?.(bytes, 1, bytes.length - 1)) expect(canonical).toBe(text);
      if (canonical !== undefined) expect(canonicalText(canonical, type)).toBe(canonical);
    }),
    { numRuns: runsOf(20_000) },
  );
});

test('common forms are recognized without a full check', () => {
  const forms: [ColumnType, string][] = [
    ['integer', '-120'],
    ['decimal', '0.50'],
    ['decimal', '12'],
    ['date', '2026-12-28'],
    ['timestamp', '2026-01-02T03:04:05'],
    ['timestamptz', '2026-01-02T03:04:05.123Z'],
  ];
  for (const [type, text] of forms) expect(surelyCanonical[type]?.(Buffer.from(text), 0, text.length)).toBe(true);
});
