import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { Problem } from '../../../src/lib/problem.ts';
import { useDatabase } from '../../../src/state/engine/database.ts';
import { clockAtHalfPast, overdue, setUp, startDaemon } from '../rig.ts';

const hour = 3_600_000;

/** Makes the state read-only, like a disk that was remounted as read-only. */
function freezer(folder: string): (isFrozen: boolean) => Promise<unknown> {
  const { db, close } = useDatabase(join(folder, 'sluice.db'));
  onTestFinished(close);
  return (isFrozen) => sql.raw(`pragma query_only = ${isFrozen ? 1 : 0}`).execute(db);
}

it('a firing that fails because of a disk error is retried once the state is writable, long before the next firing', async () => {
  const { config, source } = await setUp();
  const clock = clockAtHalfPast();
  const { runtime, hear, count } = await startDaemon(config, { clock });
  const freeze = freezer(runtime.store.folder);
  await freeze(true);
  clock.wall += hour;
  await hear('firing.deferred', { job: 'orders', code: 'STATE_UNREADABLE' });
  expect(source.asked).toBe(0);
  await freeze(false);
  await expect.poll(() => count('payload.delivered')).toBe(1);
  expect(source.asked).toBe(1);
});

it("a firing whose run finds the disk full is deferred to the daemon's next start", async () => {
  const { config, job, source } = await setUp({ cron: '0 0 1 1 *' });
  const says = source.says;
  source.says = () =>
    Promise.reject(new Problem({ code: 'DISK_FULL', family: 'try_later', message: 'No space left on device' }));
  const first = await startDaemon(config, { before: overdue(job) });
  await first.hear('firing.deferred', { job: 'orders', code: 'DISK_FULL' });
  await first.stop();
  source.says = says;
  const second = await startDaemon(config);
  await second.hear('payload.delivered', { job: 'orders' });
  expect(await second.runtime.store.deferredFirings.earliest()).toEqual(new Map());
  expect(source.asked).toBe(2);
});
