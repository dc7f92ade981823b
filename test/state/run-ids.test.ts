import { afterEach, expect, it } from 'vitest';
import { cleanUp, newStore } from './fixtures.ts';

afterEach(cleanUp);

it('runs never share an ID, no matter how many start within one second', async () => {
  const store = await newStore({});
  const ids = new Set<string>();
  await store.transaction(async ({ runs }) => {
    for (let n = 0; n < 12_000; n++) ids.add(await runs.begin({ job: 'orders', origin: 'schedule' }));
  });
  expect(ids.size).toBe(12_000);
});
