import type { Config } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { hasDatabase } from '../state/engine/has-database.ts';
import type { Store } from '../state/store.ts';

/**
 * Opens the state for a config; undefined if no state exists yet. Read-only commands don't create it. Throws like
 * {@link hasDatabase}.
 */
export async function openExistingStore({ state }: Pick<Config, 'state'>): Promise<Store | undefined> {
  if (!hasDatabase(state)) return undefined;
  const { openStore } = await import('../state/store.ts');
  return openStore(state, { clock: systemClock });
}
