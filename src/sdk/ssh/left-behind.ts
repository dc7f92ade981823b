import { lstat, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processExists } from '../../lib/process-exists.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';

/** Longer than any extract takes. An older folder has no owner, even if another container reuses the process ID. */
const oldMs = 24 * 3_600_000;

/** An empty folder for the socket of a tunnel, named after this process so that others can detect a leftover. */
export async function makeSocketFolder(): Promise<string> {
  await sweepSocketFolders().catch(() => undefined);
  return makeTempFolder(`ssh-${process.pid}`);
}

/**
 * Removes folders whose process was killed more than a day ago. Leaves alone the folders of other users and of live
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
