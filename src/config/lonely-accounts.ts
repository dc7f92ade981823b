import type { Problem } from '../lib/problem.ts';
import type { Destination } from './config.ts';
import { below, type Document } from './document.ts';
import { Faults } from './faults.ts';
import type { Outcome } from './load.ts';

/**
 * A purse that is called like another destination, which pays from one of its own: whoever wrote that meant to share, and
 * would spend the day's requests twice. A remark for each.
 */
export function remarkLonelyAccounts(
  destinations: ReadonlyMap<string, Outcome<Destination>>,
  document: Document,
): Problem[] {
  const all = [...destinations.values()].flatMap(({ value }) => value ?? []);
  return all.flatMap(({ name, account }) => {
    const meant = destinations.get(account)?.value;
    if (meant === undefined || meant.name === name || meant.account === account) return [];
    const faults = new Faults(document, { destination: name });
    faults.warn({
      code: 'CONFIG_ACCOUNT',
      message: `The destination "${meant.name}" pays from an account of its own, so nothing is shared with it`,
      path: below(below('/destinations', name), 'account'),
      seen: account,
      next: `Write "account: ${account}" in the destination "${meant.name}", too`,
    });
    return faults.warnings;
  });
}
