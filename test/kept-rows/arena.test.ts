import { expect, it } from 'vitest';
import { Arena } from '../../src/kept-rows/arena.ts';

const maxBytes = 4 * 1024 * 1024;

/** Fills an arena with records of 1 kB. Returns the sizes of all its buffers. */
function buffersOf(arena: Arena, bytes: number): number[] {
  const met = new Set([arena.buffer]);
  for (let used = 0; used + 1024 <= bytes; used += 1024) {
    arena.reserve(1024);
    met.add(arena.buffer);
    arena.added(1024);
  }
  return [...met].map(({ length }) => length);
}

it('an arena with a limit never exceeds it, and discards few bytes while it grows', () => {
  const sizes = buffersOf(new Arena(maxBytes), maxBytes);
  expect(sizes.at(-1)).toBe(maxBytes);
  expect(sizes.slice(0, -1).reduce((sum, size) => sum + size, 0)).toBeLessThan(maxBytes / 16);
});

it('an arena of a few records is small', () => {
  expect(buffersOf(new Arena(maxBytes), 32 * 1024)).toEqual([64 * 1024]);
});
