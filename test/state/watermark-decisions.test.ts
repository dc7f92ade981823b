import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { cleanUp, newStore } from './fixtures.ts';

afterEach(cleanUp);

const by = { who: 'ada@desk', why: 'loaded again' };
const mark = { job: 'orders', run: 'r1', reading: 'x', text: '1' };

it("a watermark can't be changed during a run of its job, and each change records the user", async () => {
  const store = await newStore({ clock: systemClock });
  await store.watermarks.set(mark);
  const lease = await store.leases.take('job:orders');
  expect(await store.watermarks.decide('orders', () => '9', by)).toBe('busy');
  expect(await store.watermarks.find('orders', 'x')).toBe('1');
  await lease?.release();
  expect(await store.watermarks.decide('orders', () => '9', by)).toBe('done');
  expect(await store.watermarks.find('orders', 'x')).toBe('9');
  await store.watermarks.takeBack('r1');
  expect(await store.watermarks.find('orders', 'x'), 'nothing from before a decision comes back').toBeUndefined();
  expect(await store.watermarks.decide('orders', undefined, by)).toBe('unknown');
  expect(await store.audit.history({ limit: 5 })).toMatchObject([
    { action: 'set', job: 'orders', ...by, former: '1', latter: '9' },
  ]);
});

it("a watermark set by a user is never undone, whatever happens to the last run's payload", async () => {
  const store = await newStore({ clock: systemClock });
  await store.watermarks.set(mark);
  await store.watermarks.set({ ...mark, run: 'r2', text: '2' });
  expect(await store.watermarks.decide('orders', () => '9', by)).toBe('done');
  await store.watermarks.takeBack('r2');
  expect(await store.watermarks.find('orders', 'x')).toBeUndefined();
});

it('clearing a watermark records its previous value', async () => {
  const store = await newStore({ clock: systemClock });
  await store.watermarks.set(mark);
  expect(await store.watermarks.decide('orders', undefined, by)).toBe('done');
  expect(await store.audit.history({ limit: 5 })).toMatchObject([{ action: 'clear', former: '1', latter: null }]);
});

it('a watermark that a run sets twice is rewound to its value before that run', async () => {
  const store = await newStore({ clock: systemClock });
  await store.watermarks.set(mark);
  await store.watermarks.set({ ...mark, run: 'r2', text: '2' });
  await store.watermarks.set({ ...mark, run: 'r2', text: '3' });
  await store.watermarks.takeBack('r2');
  expect(await store.watermarks.find('orders', 'x')).toBe('1');
});

it('a check without changes does not bring back a watermark whose payload has died in the meantime', async () => {
  const store = await newStore({ clock: systemClock });
  await store.watermarks.set(mark);
  await store.watermarks.set({ ...mark, run: 'r2', text: '2' });
  await store.watermarks.takeBack('r2');
  await store.watermarks.renew({ job: 'orders', reading: 'x', former: '2', text: '2' });
  expect(await store.watermarks.find('orders', 'x')).toBe('1');
});

it('a watermark is renewed after a check without changes, but not for a different query, and can still be rewound', async () => {
  const store = await newStore({ clock: systemClock });
  await store.watermarks.set(mark);
  await store.watermarks.set({ ...mark, run: 'r2', text: '2' });
  await store.watermarks.renew({ job: 'orders', reading: 'y', former: '2', text: '8' });
  expect(await store.watermarks.find('orders', 'x')).toBe('2');
  await store.watermarks.renew({ job: 'orders', reading: 'x', former: '2', text: '9' });
  expect(await store.watermarks.find('orders', 'x')).toBe('9');
  await store.watermarks.takeBack('r2');
  expect(await store.watermarks.find('orders', 'x')).toBe('1');
});
