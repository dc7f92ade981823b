import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { unpacked } from '../../src/sdk/http/unpack.ts';

test("a truncated compressed body fails its reader and not the process, even before it's read", async () => {
  const packed = gzipSync('x'.repeat(1000));
  const body = unpacked(Readable.from([packed.subarray(0, -6)]), 'gzip');
  await wait(50);
  await expect(body.toArray()).rejects.toThrow('unexpected end of file');
});

/** The text of a zstd body that arrives in chunks of some bytes. */
async function unzstd(packed: Buffer, size = packed.length): Promise<string> {
  const chunks = Array.from({ length: Math.ceil(packed.length / size) }, (_, i) =>
    packed.subarray(i * size, (i + 1) * size),
  );
  return Buffer.concat(await unpacked(Readable.from(chunks), 'zstd').toArray()).toString();
}

const rows = Array.from({ length: 20_000 }, (_, i) => `{"id":${i}}\n`);
const frames = [rows.slice(0, 3), rows.slice(3, 15_000), rows.slice(15_000)].map((some) =>
  zstdCompressSync(some.join('')),
);

test.each([undefined, 1_000, 7])(
  'a zstd body with several frames is read to its end, in chunks of %s bytes',
  async (size) => {
    expect(await unzstd(Buffer.concat(frames), size)).toBe(rows.join(''));
  },
);

test.each([
  ['is truncated in its last frame', Buffer.concat(frames).subarray(0, -3)],
  ['has other bytes after its last frame', Buffer.concat([...frames, Buffer.from('<html>')])],
])('a zstd body that %s fails its reader', async (_, packed) => {
  await expect(unzstd(packed)).rejects.toThrow();
});

test('a zstd body whose reader stops early closes its source', async () => {
  const source = Readable.from(Array.from({ length: 1_000 }, () => zstdCompressSync('x'.repeat(100_000))));
  const body = unpacked(source, 'zstd');
  for await (const _ of body) break;
  await expect.poll(() => source.destroyed).toBe(true);
});
