import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Problem } from './problem.ts';

/** As many as Linux follows in one path. */
const maxLinks = 40;

/**
 * Root follows only links that root made. Whoever owns a folder can put a link in the place of anything in it, and with the next
 * command by root choose which file of the machine is written, changed or given away. Looks at every part of `path`, of which the
 * last may be missing, through the links that are allowed. `user` is who follows; everybody but root harms only themselves.
 * Throws `FOREIGN_LINK`.
 */
export function refuseForeignLinks(path: string, user = process.geteuid?.()): void {
  // A process under Node's permissions may not look above its folder, and whoever started it has looked.
  if (user !== 0 || process.permission !== undefined) return;
  let links = 0;
  const look = (at: string): void => {
    if (dirname(at) === at) return;
    look(dirname(at));
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink() !== true) return;
    links += 1;
    if (stat.uid !== user || links > maxLinks) throw foreignLink(at, stat.uid);
    look(resolve(dirname(at), readlinkSync(at)));
  };
  look(resolve(path));
}

function foreignLink(at: string, uid: number): Problem {
  return new Problem({
    code: 'FOREIGN_LINK',
    family: 'config',
    message: `A symbolic link of user ${uid} is not followed by root: ${at}`,
    seen: `${at} -> ${readlinkSync(at)}`,
    allowed: 'files and folders, and links that root made',
    next: 'run Sluice as the user that the folder belongs to, or put a folder in the place of the link',
  });
}
