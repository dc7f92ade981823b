import { expect, it } from 'vitest';
import { type ByteCells, cellText } from '../../src/sdk/batch.ts';
import fc from '../property.ts';

it('a batch reads every string from its bytes unchanged, short or long, ASCII or not', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.string({ unit: 'grapheme', maxLength: 20 }))), (texts) => {
      const parts = texts.map((text) => Buffer.from(text ?? '', 'utf8'));
      let at = 0;
      const spans = Int32Array.from(
        parts.flatMap((part, r) => {
          const start = at;
          at += part.length;
          return texts[r] === null ? [-1, -1] : [start, at];
        }),
      );
      const cells: ByteCells = { kind: 'bytes', bytes: Buffer.concat(parts), spans, stride: 1, slot: 0 };
      expect(texts.map((_, r) => cellText(cells, 'text', r))).toEqual(texts);
    }),
  );
});
