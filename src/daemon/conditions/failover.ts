import { countOf } from '../../lib/count-text.ts';
import type { Condition, Snapshot } from './condition.ts';

/** How long the condition lasts after a failover: until each daily job has run, and today's requests don't count. */
const openMs = 24 * 60 * 60_000;

export const failoverAdvice =
  'see docs/fleet.md, "What happens if something fails"; to prevent it, set synchronous_standby_names on the server';

/** Reports that the state's database recently failed over to a server that may lack the latest transactions. */
export async function findFailover({ store, overview }: Pick<Snapshot, 'store' | 'overview'>): Promise<Condition[]> {
  const failover = await store.trust.lastFailover();
  if (failover === undefined || overview.now - failover.at >= openMs) return [];
  const { at, parked } = failover;
  const unsent =
    parked === 0 ? '' : `; ${countOf(parked, 'payload that was', 'payloads that were')} waiting won't be sent`;
  const what = `the state's database failed over to a server that may lack the latest transactions, so each job sends all its rows again${unsent}; today's request count may be too low`;
  return [{ subject: 'database', kind: 'failover', level: 'warning', since: at, what, jobs: [], fix: failoverAdvice }];
}
