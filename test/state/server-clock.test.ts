import { describe, expect, it } from 'vitest';
import { ServerClock } from '../../src/state/engine/server-clock.ts';
import { noon, SteppingClock } from '../clocks.ts';

/** A server whose clock is two hours ahead of this machine's, and samples that take `delayMs` to arrive. */
function server() {
  const local = new SteppingClock();
  const clock = new ServerClock(local);
  let aheadMs = 2 * 3_600_000;
  const time = () => local.now() + aheadMs;
  return {
    clock,
    time,
    pass: (milliseconds: number) => local.advance(milliseconds),
    set: (byMs: number) => {
      aheadMs += byMs;
    },
    sample(delayMs: number) {
      const now = time();
      local.advance(delayMs);
      clock.sample(now);
    },
  };
}

describe("the server's clock", () => {
  it('is the local clock until the first sample arrives', () => {
    expect(server().clock.now()).toBe(noon);
  });

  it('is never ahead of the server, and never goes back, whatever the samples take', () => {
    const { clock, time, pass, sample } = server();
    let last = 0;
    const delays = [5, 0.5, 80, 900, 3, 2_000, 1, 400];
    for (let nth = 0; nth < 200; nth++) {
      sample(delays[nth % delays.length]!);
      pass(nth * 7);
      expect(clock.monotonic()).toBeLessThanOrEqual(time());
      expect(clock.monotonic()).toBeGreaterThanOrEqual(last);
      last = clock.monotonic();
    }
  });

  it("isn't earlier than a sample that it has received", () => {
    const { clock, time, sample } = server();
    sample(500);
    const sent = time();
    sample(20);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(sent);
  });

  it('is whole milliseconds, rounded down', () => {
    const { clock, sample, pass } = server();
    sample(0);
    pass(0.75);
    expect(clock.now()).toBe(Math.floor(clock.monotonic()));
    expect(clock.now()).not.toBe(clock.monotonic());
  });

  it("follows if the server's clock is set back, after a minute", () => {
    const { clock, time, pass, set, sample } = server();
    sample(1);
    set(-3_600_000);
    for (const waitMs of [30_000, 30_000, 30_000]) {
      pass(waitMs);
      sample(1);
    }
    expect(time() - clock.monotonic()).toBeLessThanOrEqual(1);
    expect(time() - clock.monotonic()).toBeGreaterThanOrEqual(0);
  });

  it("forgets old samples, because this machine's clock may run faster than the server's", () => {
    const { clock, time, pass, set, sample } = server();
    sample(0);
    pass(3_600_000);
    set(-200);
    sample(0);
    pass(300);
    expect(clock.monotonic()).toBeLessThanOrEqual(time());
  });
});
