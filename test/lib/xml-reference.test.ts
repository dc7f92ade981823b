import { describe, expect, it } from 'vitest';
import { cut, noReference, referenceEnd, referredCharacter } from '../../src/lib/xml-reference.ts';
import fc, { runsOf } from '../property.ts';

const right = [
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&#9;', '\t'],
  ['&#65;', 'A'],
  ['&#0000065;', 'A'],
  ['&#x1F40E;', '🐎'],
  ['&#x10FFFF;', '\u{10ffff}'],
] as const;
const wrong = [
  '&;',
  '&nope;',
  '&LT;',
  '&amp ;',
  '&#;',
  '&#x;',
  '&#X41;',
  '&#0;',
  '&#xd800;',
  '&#xfffe;',
  '&#x110000;',
  '&#00000065;',
  '&a long text',
];

describe('an XML reference', () => {
  it.each(right)('%s ends after its semicolon, whatever follows, and represents %s', (reference, character) => {
    for (const behind of ['', ';', 'x', '&amp;', '\0\0\0\0']) {
      const bytes = Buffer.from(`ab${reference}${behind}`);
      expect(referenceEnd(bytes, 2)).toBe(2 + reference.length);
      expect(referredCharacter(bytes, 2, 1 + reference.length)).toBe(character.codePointAt(0));
    }
  });

  it.each(right)('%s is reported as truncated wherever the bytes end inside it', (reference) => {
    for (let length = 1; length < reference.length; length++) {
      expect(referenceEnd(Buffer.from(reference.slice(0, length)), 0), reference.slice(0, length)).toBe(cut);
    }
  });

  it.each(wrong)('%s is invalid', (text) => {
    expect(referenceEnd(Buffer.from(text), 0)).toBe(noReference);
    expect(referenceEnd(Buffer.from(`${text} and more`), 0)).toBe(noReference);
  });

  it('is parsed the same no matter what follows it, unless it was reported as truncated', () => {
    const text = fc.string({ unit: fc.constantFrom(...'&#x;altgquopsm01679Fd'), maxLength: 14 });
    fc.assert(
      fc.property(text, text, (first, more) => {
        const early = referenceEnd(Buffer.from(`&${first}`), 0);
        if (early === cut) return;
        expect(referenceEnd(Buffer.from(`&${first}${more}`), 0)).toBe(early);
      }),
      { numRuns: runsOf(2000) },
    );
  });
});
