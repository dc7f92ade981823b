import { expect, it } from 'vitest';
import { BusyRuns, busyRestMs, maxBusyMs } from '../../../src/daemon/fleet/busy-runs.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { BusyWait } from '../../../src/state/runs/fleet-runs.ts';
import { SteppingClock } from '../../clocks.ts';

/** Two processes that try a run in turns, once a second, with a server's clock that can be set. */
function openTries() {
  const local = new SteppingClock();
  let ahead = 0;
  const now = () => local.now() + ahead;
  const clock: Clock = { local, now, monotonic: now, sleep: () => Promise.reject(new Error('not in this test')) };
  const processes = [new BusyRuns(clock), new BusyRuns(clock)];
  let wait: BusyWait | undefined = { busy_ms: 0, busy_at: null };
  let tries = 0;
  const tryAgain = (): boolean => {
    const process = processes[tries % 2]!;
    const isResting = process.resting().includes('orders');
    expect(isResting, 'the process has rested').toBe(false);
    wait = process.wait({ job: 'orders', ...wait! }, maxBusyMs);
    expect(process.resting()).toEqual(['orders']);
    tries++;
    local.advance(busyRestMs);
    return wait !== undefined;
  };
  const set = (by: number): void => {
    ahead += by;
  };
  return { tryAgain, set, tries: () => tries };
}

const expected = maxBusyMs / busyRestMs + 1;

it('a run waits for its busy job for 20 s, whichever processes try it', () => {
  const { tryAgain, tries } = openTries();
  while (tryAgain());
  expect(tries()).toBe(expected);
});

it.each([
  ['ahead, such as by a failover', 25_000],
  ['back', -3_600_000],
])("a run's wait hardly changes if the server's clock is set %s", (_, by) => {
  const { tryAgain, tries, set } = openTries();
  for (let nth = 0; nth < 5; nth++) tryAgain();
  set(by);
  while (tryAgain());
  expect(Math.abs(tries() - expected)).toBeLessThanOrEqual(1);
});
