import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder for what all test files of a run share: compiled code, and the data of new servers (servers/new-data.ts).
 */
export default async function makeRunFolder(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.SLUICE_TEST_FOLDER !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-tests-'));
  // Servers may run as another user.
  await chmod(folder, 0o755);
  process.env.SLUICE_TEST_FOLDER = folder;
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  // Processes that are ending may still write.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
}
