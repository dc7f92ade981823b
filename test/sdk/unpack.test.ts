import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { unpacked } from '../../src/sdk/http/unpack.ts';

test("a truncated compressed body fails its reader and not the process, even before it's read", async () => {
  const packed = gzipSync('x'.repeat(1000));
  const body = unpacked(Readable.from([packed.subarray(0, -6)]), 'gzip');
  await wait(50);
  await expect(body.toArray()).rejects.toThrow('unexpected end of file');
});
