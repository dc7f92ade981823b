import { expect, it } from 'vitest';
import { Poll } from '../../../src/daemon/fleet/poll.ts';
import { SteppingClock } from '../../clocks.ts';

it('a poll reports the first failure of an outage only, and goes on', async () => {
  const clock = new SteppingClock();
  const stop = new AbortController();
  const failures: unknown[] = [];
  let looks = 0;
  const poll = new Poll({
    ...{ clock, everyMs: 250, stop: stop.signal },
    look: async () => {
      looks++;
      if (looks === 20) stop.abort();
      if ([2, 3, 4, 5, 10, 11].includes(looks)) throw new Error(`look ${looks}`);
    },
    failed: (error) => failures.push((error as Error).message),
  });
  poll.start();
  await poll.idle();
  expect(looks).toBe(20);
  expect(failures).toEqual(['look 2', 'look 10']);
});
