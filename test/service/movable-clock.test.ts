import { expect, it } from 'vitest';
import type { Clock } from '../../src/lib/clock.ts';
import { MovableClock } from '../../src/service/control/movable-clock.ts';

/** A busy machine: each read of this clock returns a later millisecond than the one before. */
class LateClock implements Clock {
  #now = Date.parse('2026-05-05T12:00:00Z');
  now = () => this.#now++;
  monotonic = () => this.#now;
  sleep = () => Promise.resolve();
}

it('the movable clock advances by exactly the given time, even if reading the real clock takes a while', () => {
  const clock = new MovableClock(new LateClock());
  expect(clock.offsetMs).toBe(0);
  clock.advance(90_000);
  clock.advance(1000);
  expect(clock.offsetMs).toBe(91_000);
});
