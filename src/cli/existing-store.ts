import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import type { Store } from '../state/store.ts';

/** The state of a config where there is one: whoever only looks leaves nothing behind. */
export async function openExisting({ state }: Pick<Config, 'state'>): Promise<Store | undefined> {
  if (!existsSync(join(state, 'sluice.db'))) return undefined;
  const { openStore } = await import('../state/store.ts');
  return openStore(state, { clock: systemClock });
}
