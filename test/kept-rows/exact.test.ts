import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { formats } from '../../src/formats/index.ts';
import { Output } from '../../src/formats/output.ts';
import { MergeRun } from '../../src/kept-rows/merge-run.ts';
import { type Batch, batchOf, batchText, type Value } from '../../src/sdk/batch.ts';
import { type Column, type ColumnType, columnTypes } from '../../src/sdk/column.ts';
import { withDefaults } from '../../src/sdk/option.ts';
import fc, { runsOf } from '../property.ts';
import { Rig } from './rig.ts';

const digits = (max: number) => fc.stringMatching(new RegExp(`^-?[1-9][0-9]{0,${max}}$`));
const instant = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });

/** Values of each type, in all representations that a source may use. */
const valuesOf: Record<ColumnType, fc.Arbitrary<Value>> = {
  text: fc.string({ unit: 'grapheme' }),
  uuid: fc.uuid(),
  integer: fc.oneof(digits(40), fc.maxSafeInteger(), fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })),
  decimal: fc.oneof(
    digits(30),
    fc.tuple(digits(20), fc.stringMatching(/^[0-9]{1,30}$/)).map((parts) => parts.join('.')),
  ),
  float: fc.oneof(fc.double(), fc.constantFrom(-0, 1e21, 5e-324, '0.1')),
  boolean: fc.oneof(fc.boolean(), fc.constantFrom('true', 'false')),
  date: instant.map((at) => at.toISOString().slice(0, 10)),
  time: instant.map((at) => at.toISOString().slice(11, -1)),
  timestamp: instant.map((at) => at.toISOString().slice(0, -1)),
  timestamptz: instant.map((at) => at.toISOString()),
  json: fc.json(),
  binary: fc.uint8Array({ maxLength: 20 }),
};

const columns: readonly Column[] = columnTypes.map((type) => ({ name: `c_${type}`, type }));
const row = fc.tuple(...columns.map(({ type }) => fc.option(valuesOf[type], { freq: 4 })));

function encode(format: (typeof formats)[number], batch: Batch): string {
  const out = new Output();
  const encoder = format.encoder(batch.columns, withDefaults(format.options, {}));
  encoder.begin(out);
  encoder.batch(batch, out);
  encoder.end(out);
  return Buffer.concat(out.take(true)).toString('latin1');
}

it('every format writes the same bytes for a value of any type after the value was kept', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const rig = new Rig({ disposition: 'append', key: [] });
      const whole = rig.open();
      whole.begin({ columns });
      await whole.take(batchOf(columns, rows));
      await whole.merge();
      const kept = (await whole.next())!;
      expect(batchText(kept)).toEqual(batchText(batchOf(columns, rows)));
      for (const format of formats) expect(encode(format, kept)).toBe(encode(format, batchOf(columns, rows)));
      await whole.close();
    }),
    { numRuns: runsOf(60) },
  );
});

it('kept rows are sorted by key: numbers of any size by value, and text by code point', async () => {
  const sorted = async (type: ColumnType, values: readonly string[]) => {
    const rig = new Rig({ disposition: 'merge', key: ['k'] });
    const rows = await rig.run(
      values.map((value) => [value]),
      { columns: [{ name: 'k', type }] },
    );
    return rows.map(([value]) => value);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), { minLength: 1 }),
      async (all) => {
        const byValue = all.toSorted((a, b) => (a < b ? -1 : 1)).map(String);
        expect(await sorted('integer', all.map(String))).toEqual(byValue);
        expect(await sorted('decimal', all.map(String))).toEqual(byValue);
      },
    ),
    { numRuns: runsOf(25) },
  );
  const decimals = [
    '-Infinity',
    '-100',
    '-1.5',
    '-1.25',
    '-0.001',
    '0',
    '0.0009',
    '0.001',
    '0.01',
    '1',
    '1.05',
    '1.5',
    '9.99',
    '10',
    'Infinity',
    'NaN',
  ];
  expect(await sorted('decimal', decimals.toReversed())).toEqual(decimals);
  expect(await sorted('decimal', ['1.50', '1.5', '01.500'.slice(1)])).toHaveLength(1);
  const texts = ['', '\0', '\0a', 'A', 'Z', 'a', 'a\0', 'aa', 'é', '\uffee', '😀'];
  expect(await sorted('text', texts.toReversed())).toEqual(texts);
  const instants = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.5Z', '2026-01-01T02:00:00+01:00'];
  expect(await sorted('timestamptz', instants.toReversed())).toEqual(instants);
});

it("lone surrogates, which UTF-8 can't represent, are counted when rows are kept", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const columns = [
    { name: 'id', type: 'integer' },
    { name: 'name', type: 'text' },
  ] as const;
  const rule = { disposition: 'merge', key: ['id'] } as const;
  const set = new MergeRun({ rule, folder, run: 'r', scratch: folder, asOf: 0, zone: 'UTC' });
  set.begin({ columns });
  await set.take(batchOf(columns, [[1, '😀 \ufffd']]));
  expect(set.warnings).toEqual([]);
  await set.take(
    batchOf(columns, [
      [2, 'x\udc00'],
      [3, '\ud83d\ud83d'],
    ]),
  );
  const message = expect.stringMatching(/^3 characters .* row 2, column "name"$/);
  expect(set.warnings).toMatchObject([{ message, seen: 'U+DC00' }]);
  await set.close();
});
