import { isUtf8 } from 'node:buffer';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatById, formats } from '../../src/formats/index.ts';
import { maxReservedBytes, Output } from '../../src/formats/output.ts';
import type { Batch } from '../../src/sdk/batch.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import { withDefaults } from '../../src/sdk/option.ts';
import fc, { runsOf } from '../property.ts';
import { batches, caseOf, encode, encodePieces, formatIds, nastyTexts, part, wired } from './encoding.ts';

const columns: readonly Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'note', type: 'text' },
];

/** A batch whose only text is given as bytes, which may be invalid. */
function rawBatch(bytes: Buffer): Batch {
  const spans = Int32Array.of(0, bytes.length);
  return {
    columns: [{ name: 'note', type: 'text' }],
    cells: [{ kind: 'bytes', bytes, spans, stride: 1, slot: 0 }],
    length: 1,
  };
}

test('each format is registered under its file name', () => {
  const files = readdirSync(join(import.meta.dirname, '../../src/formats/all'));
  expect(formats.map(({ id }) => `${id}.ts`)).toEqual(files.sort());
  for (const format of formats) expect(formatById(format.id)).toBe(format);
});

describe.each(formatIds)('the %s encoder', (id) => {
  test('writes the same document whether cells are bytes, values, or a mix of both', () => {
    fc.assert(
      fc.property(batches, fc.infiniteStream(fc.boolean()), (batch, coins) => {
        const bytes = wired(batch);
        const mixed = {
          ...batch,
          cells: batch.cells.map((cells, c) => (coins.next().value ? cells : bytes.cells[c]!)),
        };
        const written = encode(id, [batch]).toString();
        expect(encode(id, [bytes]).toString()).toBe(written);
        expect(encode(id, [mixed]).toString()).toBe(written);
      }),
      { numRuns: runsOf(200) },
    );
  });

  test('writes the same document no matter how the rows are split into batches', () => {
    fc.assert(
      fc.property(batches, fc.array(fc.nat(12), { maxLength: 4 }), fc.boolean(), (batch, cuts, header) => {
        const options = id === 'csv' ? { header } : {};
        const ends = [...cuts.map((cut) => Math.min(cut, batch.length)), batch.length].sort((a, b) => a - b);
        const parts = ends.map((end, k) => part(batch, ends[k - 1] ?? 0, end));
        expect(encode(id, parts, options).toString()).toBe(encode(id, [batch], options).toString());
      }),
      { numRuns: runsOf(200) },
    );
  });

  test("applies a batch's row map to both values and bytes", () => {
    const rows = [
      [1, 'one'],
      [2, null],
      [3, 'three'],
    ];
    const map = Int32Array.of(2, 0, 2, 1);
    const batch = batchOf(columns, rows);
    const plain = encode(id, [
      batchOf(
        columns,
        [...map].map((r) => rows[r]!),
      ),
    ]).toString();
    expect(encode(id, [{ ...batch, rows: map, length: 4 }]).toString()).toBe(plain);
    expect(encode(id, [{ ...wired(batch), rows: map, length: 4 }]).toString()).toBe(plain);
  });

  test('writes cells of many megabytes completely, whatever they contain', async () => {
    const hostile = nastyTexts.join('').toWellFormed();
    const texts = [
      hostile.repeat(20_000),
      'é'.repeat(1_000_000),
      '"'.repeat(700_000),
      'x'.repeat(3_000_000),
      '\0'.repeat(99_999),
    ];
    const small = texts.map((text) => text.slice(0, 2));
    const long = batchOf(
      columns,
      texts.map((text, k) => [k, text]),
    );
    const pieces = encodePieces(id, [
      batchOf(
        columns,
        small.map((text, k) => [k, text]),
      ),
      long,
      wired(long),
    ]);
    const document = Buffer.concat(pieces);
    expect((await caseOf(id)).rowsOf(document)).toBe(15);
    expect(pieces.slice(0, -1).filter((piece) => piece.length < maxReservedBytes)).toEqual([]);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(2 * maxReservedBytes);
    expect(pieces.every((piece) => isUtf8(piece))).toBe(true);
  });

  test('escapes a large cell the same way as small cells', () => {
    const bare: readonly Column[] = [{ name: 'v', type: 'text' }];
    const unit = 'a"b,é\n<&>\\\u0001\uffff😀';
    const inside = (document: string): string => document.slice(document.indexOf('a'), document.lastIndexOf('😀') + 2);
    const one = encode(id, [batchOf(bare, [[`${unit}`]])])
      .toString()
      .replace('?xml', '')
      .replace('<rows>', '');
    const many = encode(id, [batchOf(bare, [[unit.repeat(60_000)]])])
      .toString()
      .replace('?xml', '')
      .replace('<rows>', '');
    const skipHeader = (document: string): string => document.slice(document.indexOf('v') + 1);
    expect(inside(skipHeader(many)) === inside(skipHeader(one)).repeat(60_000)).toBe(true);
  });

  test('supports column names of any length', async () => {
    const names = ['a', 'b'].map((letter) => letter.repeat(400_000));
    const wide: readonly Column[] = names.map((name) => ({ name, type: 'text' }));
    const document = encode(id, [
      batchOf(wide, [
        ['1', null],
        [null, 'x,"y'],
        ['3', '4'],
      ]),
    ]);
    expect((await caseOf(id)).rowsOf(document)).toBe(3);
  });

  test.each([
    ['a lone continuation byte', 'ab80'],
    ['a truncated character', 'e282'],
    ['an encoded surrogate', 'eda080'],
    ['Latin-1', 'e9'],
    ['an overlong slash', 'c0af'],
  ])('rejects %s', (_, hex) => {
    expect(() => encode(id, [rawBatch(Buffer.from(hex, 'hex'))])).toThrow(
      expect.objectContaining({ code: 'FORMAT_UTF8', family: 'job' }),
    );
    const long = Buffer.concat([Buffer.alloc(500_000, 'é'), Buffer.from('Orders: '), Buffer.from(hex, 'hex')]);
    const seen = expect.stringMatching(new RegExp(`^\\.{4}Orders:  followed by the bytes ${hex}`));
    expect(() => encode(id, [rawBatch(long)])).toThrow(expect.objectContaining({ code: 'FORMAT_UTF8', seen }));
  });

  test('reuses the memory of recycled pieces', () => {
    const format = formatById(id);
    const encoder = format.encoder(columns, withDefaults(format.options, {}) as never);
    const out = new Output();
    const batch = wired(
      batchOf(
        columns,
        Array.from({ length: 1000 }, (__, k) => [k, 'x'.repeat(200)]),
      ),
    );
    const memories = new Set<ArrayBufferLike>();
    encoder.begin(out);
    for (let k = 0; k < 50; k++) {
      encoder.batch(batch, out);
      for (const piece of out.take(false)) {
        memories.add(piece.buffer);
        out.recycle(piece);
      }
    }
    expect(memories.size).toBeGreaterThan(0);
    expect(memories.size).toBeLessThanOrEqual(4);
  });
});
