import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * A file of so many bytes is read and written here and now: handing it to another thread and back takes longer. Most payloads are
 * smaller.
 */
export const smallBytes = 64 * 1024;

/**
 * All of a file that should have `bytes` bytes, at most {@link smallBytes}; undefined where it has fewer or more. Throws the
 * system's error.
 */
export function readSmallFile(path: string, bytes: number): Buffer | undefined {
  const file = openSync(path, 'r');
  try {
    if (fstatSync(file).size !== bytes) return undefined;
    const whole = Buffer.allocUnsafe(bytes);
    let length = 0;
    for (let got = 1; got > 0 && length < bytes; length += got)
      got = readSync(file, whole, length, bytes - length, null);
    return length === bytes ? whole : undefined;
  } finally {
    closeSync(file);
  }
}
