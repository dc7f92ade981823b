import type { Problem } from '../../lib/problem.ts';
import type { Destination } from '../config.ts';
import { below, type Document } from '../text/document.ts';
import { Faults } from '../text/faults.ts';
import type { LoadResult } from './context.ts';

/**
 * Warns if an account's name is the name of another destination whose account is different. The user probably meant
 * both destinations to share one account. If they don't, together they may use the daily allowance twice.
 */
export function warnUnsharedAccounts(
  destinations: ReadonlyMap<string, LoadResult<Destination>>,
  document: Document,
): Problem[] {
  const all = [...destinations.values()].flatMap(({ value }) => value ?? []);
  return all.flatMap(({ name, account }) => {
    const meant = destinations.get(account)?.value;
    if (meant === undefined || meant.name === name || meant.account === account) return [];
    const faults = new Faults(document, { destination: name });
    faults.warn({
      code: 'CONFIG_ACCOUNT',
      message: `The "${meant.name}" destination has its own account, so it does not share its limits with this destination`,
      path: below(below('/destinations', name), 'account'),
      seen: account,
      next: `write "account: ${account}" in the "${meant.name}" destination too`,
    });
    return faults.warnings;
  });
}
