import { readdir, readlink } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const folder = '/proc/self/fd';
/** How long the system may take to release closed resources. */
const patienceMs = 2000;

/** All open handles of this process: files and sockets by name if the system lists them; otherwise, handles by type. */
export async function openHandles(): Promise<string[]> {
  try {
    const links = await Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
    // Listing the folder opens a handle to it, which is omitted.
    return links.filter((link) => link !== '' && !link.endsWith('/fd')).sort();
  } catch {
    return process.getActiveResourcesInfo().filter((kind) => /TCP|Pipe|Socket|File/.test(kind));
  }
}

/** Handles that are open now but weren't before. Waits briefly for resources that are being closed. */
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
