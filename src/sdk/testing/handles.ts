import { readdir, readlink } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const folder = '/proc/self/fd';
/** How long closed resources may take to disappear. */
const patienceMs = 2000;

/**
 * All open handles of this process: files and sockets by name if the system reports them, otherwise handles by type.
 */
export async function openHandles(): Promise<string[]> {
  try {
    const links = await Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
    // Listing the folder opens it, so leave that handle out.
    return links.filter((link) => link !== '' && !link.endsWith('/fd')).sort();
  } catch {
    return process.getActiveResourcesInfo().filter((kind) => /TCP|Pipe|Socket|File/.test(kind));
  }
}

/** Handles that weren't open before but are now; waits briefly for resources that are being closed. */
export async function leftOpen(before: readonly string[]): Promise<string[]> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const now = await openHandles();
    if (now.length <= before.length) return [];
    if (Date.now() > deadline) return without(now, before);
    await wait(20);
  }
}

function without(now: readonly string[], before: readonly string[]): string[] {
  const known = [...before];
  return now.filter((link) => {
    const at = known.indexOf(link);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}
