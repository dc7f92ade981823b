import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Arrivals } from '../../connectors/ftp/arrivals.ts';

it('small chunks that wait for a slow consumer are merged, even after the transfer breaks', async () => {
  const arrivals = new Arrivals();
  const chunks = arrivals.chunks();
  for (const text of ['a', 'b', 'c']) arrivals.write(text);
  await nextTurn();
  expect(String((await chunks.next()).value)).toBe('abc');
  for (const text of ['d', 'e']) arrivals.write(text);
  await nextTurn();
  arrivals.destroy(new Error('broken'));
  arrivals.complete();
  expect(String((await chunks.next()).value)).toBe('de');
  expect(await chunks.next()).toEqual({ done: true, value: undefined });
});
