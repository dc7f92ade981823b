import { randomUUID } from 'node:crypto';
import { Problem } from '../../lib/problem.ts';
import type { BlobBackend } from './blob-storage.ts';

/**
 * Writes a small blob, reads it and removes it, to find out whether a storage can be used. Returns how long that took,
 * in milliseconds. Throws a Problem if a step fails.
 */
export async function testStorage({ storage, db }: Pick<BlobBackend, 'storage' | 'db'>): Promise<number> {
  const begunAt = performance.now();
  const name = `test-${randomUUID()}`;
  const bytes = Buffer.from(name);
  const blob = { name, bytes: bytes.length, storedAt: 0, db };
  const readBack = async (): Promise<string> => {
    const pieces: Buffer[] = [];
    for await (const piece of storage.read(blob)) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  };
  await storage.write(blob, async function* () {
    yield bytes;
  });
  if ((await readBack()) !== name) throw unfaithful(storage.label, 'other bytes than were written');
  await storage.remove(blob);
  // A store must report missing objects as missing, or lost payloads would look like an outage.
  if ((await readBack()) !== '') throw unfaithful(storage.label, 'bytes that were removed');
  return performance.now() - begunAt;
}

function unfaithful(label: string, seen: string): Problem {
  return new Problem({
    code: 'PAYLOADS_REFUSED',
    family: 'config',
    message: 'The storage for payloads does not return what was written',
    seen: `${seen} (${label})`,
    next: 'set "payloads" to another storage, or use the store without a cache in front of it',
  });
}
