import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { refuseForeignLinks } from '../lib/foreign-links.ts';

/**
 * If run as root, refuses a state folder in which another user has replaced the database, its log, the login key or a
 * payload folder with a link: root would follow it, and the sweep would delete files there. Throws `FOREIGN_LINK`.
 * Doesn't check anything for other users.
 */
export function refuseLinksIn(state: string, user = process.geteuid?.()): void {
  if (user !== 0) return;
  refuseForeignLinks(state, user);
  for (const name of readdirSync(state)) refuseForeignLinks(join(state, name), user);
}
