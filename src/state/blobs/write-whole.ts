import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import { createPrivateHandle } from '../../lib/private-file.ts';
import { syncPath } from '../../lib/sync-path.ts';
import { stateFileProblem } from '../engine/state-problem.ts';

interface WriteWholeOptions {
  /** Called after the last piece. If it returns false, the file isn't replaced. */
  readonly isWhole?: () => boolean;
  /** Makes the file's name survive a power loss. */
  readonly lasting?: boolean;
}

/**
 * Writes a file under another name, syncs it to disk, and then gives it its name. Returns false if the pieces weren't
 * whole.
 */
export async function writeWhole(
  path: string,
  pieces: AsyncIterable<Buffer>,
  { isWhole = () => true, lasting = false }: WriteWholeOptions = {},
): Promise<boolean> {
  const draft = `${path}.${randomBytes(4).toString('hex')}.part`;
  try {
    makeFolder(dirname(path), 0o700, { lasting });
    const handle = await createPrivateHandle(draft);
    try {
      for await (const piece of pieces) await handle.writeFile(piece);
      if (!isWhole()) return false;
      await handle.sync();
    } finally {
      await handle.close();
    }
    renameSync(draft, path);
    if (lasting) await syncPath(dirname(path));
    return true;
  } catch (error) {
    throw stateFileProblem(error, path) ?? error;
  } finally {
    rmSync(draft, { force: true });
  }
}
