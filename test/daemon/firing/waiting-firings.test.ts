import { expect, it } from 'vitest';
import type { Source } from '../../../src/config/config.ts';
import type { Firing } from '../../../src/daemon/firing/firing.ts';
import type { LoginBreaker } from '../../../src/daemon/login-holds/login-breaker.ts';
import { LoginWaits } from '../../../src/daemon/login-holds/login-waits.ts';
import { holdProblem } from '../../../src/daemon/login-holds/problem.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { LoginHoldRow } from '../../../src/state/tables.ts';

const hold = { connector: 'db', place: 'db:5432', account: 'etl', secret: 'hash', retry_at: 0 } as LoginHoldRow;
const problem = holdProblem('bank', { ...hold, code: 'DB_LOGIN', message: 'refused' });

const firingOf = (name: string, at: number): Firing => ({
  job: { name } as Firing['job'],
  at,
  isCatchUp: false,
});

it('a firing that is replaced during its login lookup is not fired, and another one makes the attempt', async () => {
  const lookups: string[] = [];
  const gate = {
    find: async () => {
      if (lookups.push('') === 1) waits.replaceBy(firingOf('orders', 2));
      return hold;
    },
    isDue: () => true,
  } as unknown as LoginBreaker;
  const fired: string[] = [];
  const waits = new LoginWaits({
    gate,
    clock: { ...systemClock, sleep: () => new Promise((resolve) => setImmediate(resolve)) },
    fire: ({ job, at }) => fired.push(`${job.name} ${at}`),
    sourceOf: () => ({}) as Source,
    failed: (error) => fired.push(String(error)),
    stop: new AbortController().signal,
  });
  waits.defer(firingOf('orders', 1), problem);
  await expect.poll(() => lookups).toHaveLength(1);
  waits.defer(firingOf('refunds', 3), problem);
  await expect.poll(() => fired).toEqual(['refunds 3']);
});
