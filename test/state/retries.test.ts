import { afterEach, describe, expect, it } from 'vitest';
import { chunksOf } from '../../src/state/engine/chunks.ts';
import { inTransaction, type StoreContext } from '../../src/state/engine/context.ts';
import type { RetryRow } from '../../src/state/tables.ts';
import { SteppingClock } from '../clocks.ts';
import { countStatements } from './counted-statements.ts';
import { cleanUp, newStore } from './fixtures.ts';

afterEach(cleanUp);

const retry = (job: string, run: string): RetryRow => ({
  ...{ job, run, fired_at: 1, logical_at: null, attempt: 1, waits: 1, since: 1, next_at: 1, until: 2, facts: null },
});

describe('the retries of a thousand jobs', () => {
  it('move in a few statements, because the whole state is locked meanwhile', async () => {
    const { retries } = await newStore({ clock: new SteppingClock() });
    const rows = Array.from({ length: 1001 }, (_, i) => retry(`job${String(i).padStart(4, '0')}`, `run${i}`));
    const { context } = retries as unknown as { readonly context: StoreContext };
    await inTransaction(context, async ({ db }) => {
      for (const some of chunksOf(rows)) {
        await db
          .insertInto('retries')
          .values([...some])
          .execute();
      }
    });
    const { counted, statements } = countStatements(retries);
    const later = rows.map((row) => ({ ...row, next_at: 5, waits: 2, until: 9, facts: '{"rows":1}' }));
    const changed = later.map((row) => ({ ...row, attempt: 7 }));
    await counted.move([...changed, retry('absent', 'none')]);
    expect(await retries.all()).toEqual(later);
    expect(statements()).toBeLessThan(12);
  });

  it('move only with the run that waits', async () => {
    const { retries, runs } = await newStore({ clock: new SteppingClock() });
    const run = await runs.begin({ job: 'orders', origin: 'schedule' });
    await retries.plan(run, { code: 'DB_UNREACHABLE', message: 'no' }, retry('orders', run));
    await retries.move([{ ...retry('orders', 'an earlier run'), next_at: 99 }]);
    expect(await retries.all()).toEqual([retry('orders', run)]);
  });
});
