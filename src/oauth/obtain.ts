import type { Login } from '../config/config.ts';
import type { Store } from '../state/store.ts';
import type { Entry } from './book.ts';
import type { Granted } from './granted.ts';
import { clientRefused, endedByVendor, oddRefusal } from './login-problems.ts';
import { Refusal } from './refusal.ts';
import { inTurn } from './turn.ts';

/**
 * A login from its start: what `ask` brings replaces whatever was kept under its name. A refusal leaves that as it was.
 */
export async function obtain(
  { vault }: Entry,
  given: { login: Login; store: Store; ask: () => Promise<Granted> },
): Promise<void> {
  let granted: Granted;
  try {
    granted = await given.ask();
  } catch (thrown) {
    throw thrown instanceof Refusal ? explained(given.login, thrown) : thrown;
  }
  await inTurn(given.login.name, given, () => vault.keep(granted, undefined, { fresh: true }));
}

function explained(login: Login, refusal: Refusal) {
  if (refusal.meaning === 'client') return clientRefused(login, refusal);
  return refusal.meaning === 'ended' ? endedByVendor(login, refusal, undefined) : oddRefusal(login, refusal);
}
