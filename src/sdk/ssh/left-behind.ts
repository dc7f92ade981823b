import { lstat, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processExists } from '../../lib/process-exists.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';

/**
 * Longer than any extract takes. An older folder is a leftover even if a process with the same ID exists, because
 * another container may have reused the ID.
 */
const oldMs = 24 * 3_600_000;

/**
 * Creates an empty folder for a tunnel's socket. The folder's name contains this process's ID, so that other processes
 * can detect a leftover.
 */
export async function makeSocketFolder(): Promise<string> {
  await sweepSocketFolders().catch(() => undefined);
  return makeTempFolder(`ssh-${process.pid}`);
}

/**
 * Removes folders whose process was killed more than a day ago. Doesn't touch folders of other users or of live
 * processes.
 */
async function sweepSocketFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(/^sluice-ssh-(\d+)-/.exec(name)?.[1]);
    if (!(pid > 0) || processExists(pid)) continue;
    const path = join(tmpdir(), name);
    const { uid, mtimeMs } = await lstat(path);
    if (uid !== process.getuid?.() || Date.now() - mtimeMs < oldMs) continue;
    await rm(path, { recursive: true, force: true });
  }
}
