import { expect, it } from 'vitest';
import { MovableClock } from '../../src/service/control/movable-clock.ts';
import { SteppingClock } from '../clocks.ts';

it('the movable clock advances by exactly the given time, even if reading the real clock takes a while', () => {
  const real = new SteppingClock();
  real.now = () => real.wall++;
  const clock = new MovableClock(real);
  expect(clock.offsetMs).toBe(0);
  clock.advance(90_000);
  clock.advance(1000);
  expect(clock.offsetMs).toBe(91_000);
});
