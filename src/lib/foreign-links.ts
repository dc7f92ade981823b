import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Problem } from './problem.ts';

/** Linux's limit on symbolic links in one path. */
const maxLinks = 40;

/**
 * Lets root follow only links that root created. A folder's owner can replace any of its files with a link, and root's
 * next command would then overwrite an arbitrary file or change its owner. Checks every component of `path`, including
 * targets of allowed links; the last one may be missing. `user`: who follows the links; users other than root can only
 * harm themselves. Throws `FOREIGN_LINK`.
 */
export function refuseForeignLinks(path: string, user = process.geteuid?.()): void {
  // A process under Node's permission model can't read above its folder; its parent process has checked the path.
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

/**
 * Like {@link refuseForeignLinks}, for a data folder and everything in it. If another user has replaced the database,
 * its log, the login key or a folder with a link, root would follow it, and a sweep would delete the files there.
 */
export function refuseLinksIn(folder: string, user = process.geteuid?.()): void {
  if (user !== 0) return;
  refuseForeignLinks(folder, user);
  for (const name of readdirSync(folder)) refuseForeignLinks(join(folder, name), user);
}

function foreignLink(at: string, uid: number): Problem {
  return new Problem({
    code: 'FOREIGN_LINK',
    family: 'config',
    message: `Root does not follow a symbolic link that user ${uid} owns: ${at}`,
    seen: `${at} -> ${readlinkSync(at)}`,
    allowed: 'files and folders, and links created by root',
    next: 'run Sluice as the owner of the folder, or replace the link with a folder',
  });
}
