import { expect, it } from 'vitest';
import { maxReservedBytes, Output } from '../../src/formats/output.ts';

const largeBytes = 2 * maxReservedBytes;

/** Writes this many times the same line with one `reserve` per line. */
function write(output: Output, line: string, times: number): void {
  for (let i = 0; i < times; i++) {
    output.reserve(line.length);
    output.position += output.buffer.write(line, output.position, 'latin1');
  }
}

it('an output starts with a small buffer, because most payloads are small', () => {
  const output = new Output();
  expect(output.buffer.length).toBeLessThanOrEqual(16 * 1024);
  write(output, 'a small payload\n', 12);
  expect(Buffer.concat(output.take(true)).toString()).toBe('a small payload\n'.repeat(12));
});

it.each([100, 1023, 1024, 1025, 5_000, 100_000])('an output of %i lines keeps all bytes in order', (lines) => {
  const output = new Output();
  const taken: Buffer[] = [];
  for (let i = 0; i < lines; i += 500) {
    write(output, '0123456789abcde\n', Math.min(500, lines - i));
    for (const piece of output.take(false)) {
      expect(piece.length).toBeGreaterThanOrEqual(maxReservedBytes);
      taken.push(Buffer.from(piece));
      output.recycle(piece);
    }
  }
  taken.push(...output.take(true));
  expect(Buffer.concat(taken).equals(Buffer.from('0123456789abcde\n'.repeat(lines)))).toBe(true);
});

it('an output has space for the largest reservation after writes of any size', () => {
  for (const before of [0, 1, 16_383, 16_384, 16_385, largeBytes - 1]) {
    const output = new Output();
    output.bytes(Buffer.alloc(before, 'x'));
    output.reserve(maxReservedBytes);
    expect(output.buffer.length - output.position).toBeGreaterThanOrEqual(maxReservedBytes);
    output.position += output.buffer.write('end', output.position);
    expect(Buffer.concat(output.take(true)).toString()).toBe(`${'x'.repeat(before)}end`);
  }
});
