import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { scheduleKey } from '../../src/schedule/schedule.ts';
import { useDatabase } from '../../src/state/database.ts';
import { migrate } from '../../src/state/migrate.ts';
import { migrations } from '../../src/state/migrations/index.ts';
import { cleanUp, newFolder, newStore, VirtualClock } from './fixtures.ts';

afterEach(cleanUp);

describe('when a job fires next', () => {
  it('goes on as an older version wrote it down', async () => {
    const folder = newFolder();
    const { db, close } = useDatabase(join(folder, 'sluice.db'));
    await migrate(db, { now: 1, folder, steps: migrations.filter(({ number }) => number < 5) });
    const old = db as unknown as Kysely<unknown>;
    await sql`insert into schedules values ('orders', '30 6 * * MON-FRI', 'Europe/Berlin', 1234)`.execute(old);
    await close();
    const store = await newStore({ clock: new VirtualClock(), folder });
    const schedule = scheduleKey({ cron: '30 6 * * MON-FRI', timezone: 'Europe/Berlin' });
    expect(await store.schedules.all()).toEqual([{ job: 'orders', schedule, next_at: 1234 }]);
  });
});

describe('firings that came to nothing', () => {
  const skip = (first: number, more: object = {}) => ({
    ...{ job: 'orders', reason: 'it runs', first, last: first, firings: 1 },
    ...more,
  });

  it('are one note as long as the reason is the same and no run lies between', async () => {
    const clock = new VirtualClock();
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
