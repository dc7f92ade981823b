import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { refuseForeignLinks } from '../lib/foreign-links.ts';

/**
 * As root, refuses a state folder in which another user has placed a link: in place of the database, its log, the login
 * key or a payload folder (root would follow it, and the sweep would delete files there). Throws `FOREIGN_LINK`. Other
 * users aren't checked.
 */
export function refuseLinksIn(state: string, user = process.geteuid?.()): void {
  if (user !== 0) return;
  refuseForeignLinks(state, user);
  for (const name of readdirSync(state)) refuseForeignLinks(join(state, name), user);
}
