import { afterEach, describe, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { countStatements } from './counted-statements.ts';
import { cleanUp, newStore } from './fixtures.ts';

afterEach(cleanUp);

describe('the schedules of a thousand jobs', () => {
  it('change in a few statements, because the whole state is locked meanwhile', async () => {
    const { schedules } = await newStore({ clock: new SteppingClock() });
    const { counted, statements } = countStatements(schedules);
    const rows = Array.from({ length: 1001 }, (_, i) => ({ job: `job${i}`, schedule: 'UTC 0 * * * *', next_at: i }));
    await counted.change({ put: rows, forget: ['absent'] });
    expect(await schedules.all()).toEqual(rows);
    const later = rows.map((row) => ({ ...row, schedule: 'UTC 0 0 * * *', next_at: row.next_at + 1 }));
    await counted.change({ put: later, forget: [] });
    expect(await schedules.all()).toEqual(later);
    const moves = later.map(({ job, next_at }) => ({ job, from: next_at, to: next_at + 5 }));
    await counted.move([...moves.slice(1), { ...moves[0]!, from: 7 }, { job: 'absent', from: 1, to: 2 }]);
    const moved = later.map((row, i) => ({ ...row, next_at: row.next_at + (i === 0 ? 0 : 5) }));
    expect(await schedules.all()).toEqual(moved);
    await counted.change({ put: [], forget: rows.slice(1).map(({ job }) => job) });
    expect(await schedules.all()).toEqual(moved.slice(0, 1));
    expect(statements()).toBeLessThan(16);
  });
});

describe('skipped firings', () => {
  const skip = (first: number, more: object = {}) => ({
    ...{ job: 'orders', reason: 'it runs', first, last: first, firings: 1 },
    ...more,
  });

  it('share one record as long as the reason is the same and no run happens in between', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const noted = async () =>
      (await store.skips.history({ job: 'orders', limit: 9 })).map(({ reason, first_at, last_at, firings }) =>
        [reason, first_at, last_at, firings].join(' '),
      );
    await store.skips.note(skip(1));
    clock.advance(60_000);
    await store.skips.note(skip(2));
    await store.skips.note(skip(3, { last: 9, firings: 7 }));
    await store.skips.note(skip(5, { job: 'stock' }));
    expect(await noted()).toEqual(['it runs 1 9 9']);
    await store.skips.note(skip(10, { reason: 'it is held' }));
    clock.advance(60_000);
    await store.runs.begin({ job: 'orders', origin: 'schedule' });
    clock.advance(60_000);
    await store.skips.note(skip(11, { reason: 'it is held' }));
    expect(await noted()).toEqual(['it is held 11 11 1', 'it is held 10 10 1', 'it runs 1 9 9']);
    expect(await store.skips.history({ limit: 1 })).toMatchObject([{ first_at: 11 }]);
  });
});

describe('a waiting firing', () => {
  it('is in the store at all times, even while a newer firing replaces it', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const waiting = async () => [...(await store.deferredFirings.earliest()).keys()];
    const add = (at: number) => store.deferredFirings.add({ job: 'orders', at, logical_at: null });
    await add(1);
    const [, meanwhile] = await Promise.all([add(2), waiting()]);
    expect(meanwhile).toEqual(['orders']);
    expect(await store.deferredFirings.earliest()).toEqual(new Map([['orders', 2]]));
  });
});
