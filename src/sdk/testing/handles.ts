import { readdir, readlink } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const folder = '/proc/self/fd';
/** How long what was closed may take to be gone. */
const patienceMs = 2000;

/** Everything that this process has open: files and sockets by name where the system tells, else handles by kind. */
export async function openHandles(): Promise<string[]> {
  try {
    const links = await Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
    // Reading the folder opens it.
    return links.filter((link) => link !== '' && !link.endsWith('/fd')).sort();
  } catch {
    return process.getActiveResourcesInfo().filter((kind) => /TCP|Pipe|Socket|File/.test(kind));
  }
}

/** What is open now and was not before; waits a little for what is just being closed. */
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
