import type { SFTPWrapper } from 'ssh2';
import { expect, it } from 'vitest';
import { readAhead } from '../../connectors/ftp/sftp-read.ts';

const content = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));

/** How many of the requested bytes a server sends for a read at that position. */
type Sends = (wanted: number, at: number) => number;

/** An open file on a server that may return fewer bytes; reads after its end return nothing. */
function openFile(sends: Sends): SFTPWrapper {
  const read: SFTPWrapper['read'] = (_handle, buffer, offset, length, position, callback) => {
    const sent = content.subarray(position, position + sends(length, position));
    sent.copy(buffer, offset);
    setImmediate(() => callback(undefined, sent.length, buffer, position));
    return true;
  };
  return { read } as SFTPWrapper;
}

async function readAll(sends: Sends, from = 0, size = content.length) {
  const pieces = await Promise.all(readAhead(openFile(sends), Buffer.from('h'), { from, size }));
  return { bytes: Buffer.concat(pieces.map(({ bytes }) => bytes)), whole: pieces.map(({ isWhole }) => isWhole) };
}

it.each<[string, Sends]>([
  ['everything requested', (wanted) => wanted],
  ['half of what was requested', (wanted) => Math.ceil(wanted / 2)],
  ['never more than 1,000 bytes', (wanted) => Math.min(wanted, 1000)],
  ['sometimes fewer bytes', (wanted, at) => Math.min(wanted, 1 + (at % 5000))],
])('a file arrives complete from a server that sends %s', async (_, sends) => {
  for (const from of [0, 1, 32_768, 99_999]) {
    const { bytes, whole } = await readAll(sends, from);
    expect(bytes.equals(content.subarray(from))).toBe(true);
    expect(whole.every((isWhole) => isWhole)).toBe(true);
  }
});

it('a file that ends before its announced size returns the bytes it has, and reports the position', async () => {
  const { bytes, whole } = await readAll((wanted) => Math.min(wanted, 1000), 0, 140_000);
  expect(bytes.equals(content)).toBe(true);
  expect(whole).toEqual([true, true, true, false, false]);
});
