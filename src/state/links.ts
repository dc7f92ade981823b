import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { refuseForeignLinks } from '../lib/foreign-links.ts';

/**
 * If this process runs as root, throws `FOREIGN_LINK` if another user has replaced the database, its log, the login key
 * or a payload folder with a link. Root would follow the link, and the sweep would delete the files there. Checks
 * nothing for other users.
 */
export function refuseLinksIn(state: string, user = process.geteuid?.()): void {
  if (user !== 0) return;
  refuseForeignLinks(state, user);
  for (const name of readdirSync(state)) refuseForeignLinks(join(state, name), user);
}
