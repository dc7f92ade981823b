import { chmod, glob, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * A folder for what a run's test files share: compiled code, preloads, and the data of new servers
 * (servers/new-data.ts).
 */
export default async function makeRunFolder(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.SLUICE_TEST_FOLDER !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-tests-'));
  // Servers may run as another user.
  await chmod(folder, 0o755);
  process.env.SLUICE_TEST_FOLDER = folder;
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  await compilePreloads(join(folder, 'preloads'));
  // Processes that are ending may still write.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

/**
 * Hundreds of processes load the preloads first. Removing their types in each process would take longer than starting
 * Node.
 */
async function compilePreloads(dir: string): Promise<void> {
  const input = await Array.fromAsync(glob(join(import.meta.dirname, 'journey/preloads/*.ts')));
  const bundle = await rolldown({ input, platform: 'node' });
  await bundle.write({ dir, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' });
}
