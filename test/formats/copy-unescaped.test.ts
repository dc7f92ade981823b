import { expect, it } from 'vitest';
import { copyUnescaped, type EscapeSet, escapeSet } from '../../src/formats/copy-unescaped.ts';
import fc from '../property.ts';

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** What `copyUnescaped` does: where it stops, and what it has written by then. */
function copied(bytes: Buffer, kind: EscapeSet, before = 3): { end: number; text: Buffer } {
  const from = Buffer.concat([Buffer.alloc(before, '&'), bytes, Buffer.alloc(4, '&')]);
  const to = Buffer.alloc(bytes.length + 5);
  const end = copyUnescaped(viewOf(to), 1, viewOf(from), before, before + bytes.length, kind);
  return { end, text: to.subarray(1, Math.max(1, end)) };
}

const kinds = [
  [0x20, [0x22, 0x5c]],
  [0x20, [0x26, 0x3c, 0x3e, 0xef]],
  [0x80, [0xff]],
  [0, [0x00]],
] as const;

it('copying stops at every byte in the escape set, and at no other', () => {
  for (const [below, others] of kinds) {
    const kind = escapeSet(below, others);
    for (let byte = 0; byte < 256; byte++) {
      for (const length of [4, 5, 7, 8, 11]) {
        for (let place = 0; place < length; place++) {
          const cell = Buffer.alloc(length, below === 0x80 ? 0xc3 : 'x');
          cell[place] = byte;
          const stopped = byte < below || (others as readonly number[]).includes(byte);
          expect(copied(cell, kind)).toEqual(
            stopped ? { end: -1, text: Buffer.alloc(0) } : { end: 1 + length, text: cell },
          );
        }
      }
    }
  }
});

it("an escape set rejects cells whose first or last byte isn't above the edge value", () => {
  const kind = escapeSet(0x10, [0x22, 0x2c], 0x20);
  for (const text of [' abc', 'abc ', '    ', '\u001fabcd', 'abcde\u0010', ' abcdefg '])
    expect(copied(Buffer.from(text), kind).end).toBe(-1);
  for (const text of ['a bc', 'a\u001fbc', 'abc def', '!abc!'])
    expect(copied(Buffer.from(text), kind)).toEqual({ end: 1 + text.length, text: Buffer.from(text) });
});

it('only cells that need no escaping are copied verbatim', () => {
  const cells = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(cells, fc.constantFrom(...kinds), fc.nat(4), (cell, [below, others], before) => {
      const clean =
        cell.length >= 4 && !cell.some((byte) => byte < below || (others as readonly number[]).includes(byte));
      const { end, text } = copied(cell, escapeSet(below, others), before);
      expect(end).toBe(clean ? 1 + cell.length : -1);
      if (clean) expect(text).toEqual(cell);
    }),
  );
});
