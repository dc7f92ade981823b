import type { Clock } from '../lib/clock.ts';
import { Problem } from '../lib/problem.ts';
import type { Lease } from '../state/leases.ts';
import type { Store } from '../state/store.ts';

/** Longest wait for another process that renews: its request ends earlier. */
const longestMs = 60_000;
const lookMs = 100;

/** Does something with a login while no other process does; what died gave its turn back. Throws `LOGIN_BUSY`. */
export async function inTurn<T>(
  name: string,
  { store, clock }: { store: Store; clock: Clock },
  work: () => Promise<T>,
): Promise<T> {
  const lease = await waitForLease(name, { store, clock });
  try {
    return await work();
  } finally {
    await lease.release();
  }
}

async function waitForLease(name: string, { store, clock }: { store: Store; clock: Clock }): Promise<Lease> {
  const end = clock.monotonic() + longestMs;
  for (;;) {
    const lease = await store.leases.take(`login:${name}`);
    if (lease !== undefined) return lease;
    if (clock.monotonic() > end) throw busy(name);
    await clock.sleep(lookMs);
  }
}

function busy(name: string): Problem {
  return new Problem({
    code: 'LOGIN_BUSY',
    family: 'try_later',
    message: `Another process has been renewing the login "${name}" for a minute`,
    next: 'The next run tries again; "sluice status" shows who is running',
  });
}
