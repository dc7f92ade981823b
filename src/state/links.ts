import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { refuseForeignLinks } from '../lib/foreign-links.ts';

/**
 * Root works on no state folder into which its owner has put a link: in the place of the database, its log, the key of the logins, or
 * a folder of payloads, whose old files are deleted. Throws `FOREIGN_LINK`; does nothing for everybody but root.
 */
export function refuseLinksIn(state: string, user = process.geteuid?.()): void {
  if (user !== 0) return;
  refuseForeignLinks(state, user);
  for (const name of readdirSync(state)) refuseForeignLinks(join(state, name), user);
}
