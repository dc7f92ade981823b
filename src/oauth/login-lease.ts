import { Problem } from '../lib/problem.ts';
import type { Store } from '../state/store.ts';

/** Maximum wait for a renewal in another process. The other process's request times out earlier. */
const maxWaitMs = 60_000;

/**
 * Runs `work` under a login's lease. Leases of dead processes don't count. Throws `LOGIN_BUSY` if another process keeps
 * the lease for too long.
 */
export async function withLoginLease<T>(name: string, { store }: { store: Store }, work: () => Promise<T>): Promise<T> {
  const lease = await store.leases.wait(`login:${name}`, { forMs: maxWaitMs });
  if (lease === undefined) throw busy(name);
  try {
    return await work();
  } finally {
    await lease.release();
  }
}

function busy(name: string): Problem {
  return new Problem({
    code: 'LOGIN_BUSY',
    family: 'try_later',
    message: `Another process has been renewing the "${name}" login for a minute`,
    next: 'no action needed: the next run tries again; "sluice status" shows what is running',
  });
}
