import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../state/store.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import { LoginBreaker } from './login-breaker.ts';

/** Returns the login holds for a config's sources, by source name. */
export async function readLoginHolds(
  config: Pick<Config, 'folder' | 'sealKeys' | 'sources'>,
  store: Store,
  clock: Clock,
): Promise<ReadonlyMap<string, LoginHoldRow>> {
  const found = new Map<string, LoginHoldRow>();
  if ((await store.loginHolds.all()).length === 0) return found;
  const gate = new LoginBreaker({ store, clock, emit: () => undefined, ...config });
  for (const source of config.sources.values()) {
    const hold = await gate.find(source);
    if (hold !== undefined) found.set(source.name, hold);
  }
  return found;
}
