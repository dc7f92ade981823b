import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * A file up to this size is read and written synchronously, because the thread pool would take longer. Most payloads
 * are smaller.
 */
export const smallBytes = 64 * 1024;

/**
 * Reads a file that should have `bytes` bytes (at most {@link smallBytes}). Undefined if its size differs. Throws the
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
