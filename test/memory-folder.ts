import { rmSync } from 'node:fs';
import { access, chmod, constants, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
/** Several times the size that the temporary files of a run reach. */
const minFreeBytes = 6_000_000_000;

/**
 * Keeps the temporary files of all tests in shared memory if it's large enough and allows programs, because tests sync
 * to disk many thousands of times. Otherwise, for example in most containers, they stay in the temp folder.
 */
export default async function useMemory(): Promise<(() => Promise<void>) | undefined> {
  const inherited = process.env.TMPDIR;
  // Another project of the same run has done this already.
  if (tmpdir().startsWith(`${memory}/`) || !(await hasSpace())) return undefined;
  const folder = await mkdtemp(join(memory, 'sluice-'));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
  if (!(await allowsPrograms(folder))) {
    await remove();
    return undefined;
  }
  // Servers may run as another user.
  await chmod(folder, 0o1777);
  process.env.TMPDIR = folder;
  // A run that is interrupted twice exits without waiting for its cleanup.
  const removeAtExit = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  process.once('exit', removeAtExit);
  return async () => {
    if (inherited === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = inherited;
    await remove();
    process.off('exit', removeAtExit);
  };
}

async function hasSpace(): Promise<boolean> {
  try {
    await access(memory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(memory);
    return Math.min(bavail * bsize, process.availableMemory()) > minFreeBytes;
  } catch {
    return false;
  }
}

/** Whether the files in a folder may be executed; on a disk mounted with `noexec`, none may. */
async function allowsPrograms(folder: string): Promise<boolean> {
  const program = join(folder, 'program');
  await writeFile(program, '', { mode: 0o755 });
  const isAllowed = await access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
  await rm(program);
  return isAllowed;
}
