import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/lib/clock.ts';
import { createTimer, type Timer } from '../../src/schedule/timer.ts';

const minute = 60_000;
const begin = Date.parse('2026-11-20T10:20:30Z');
let jump = 0;
let slept = 0;
let timer: Timer;

/** Wall clock and monotonic clock in fake time. `jump` is how far the wall clock has been set since the start. */
const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => Date.now() - jump,
  asleep: () => slept,
  sleep: () => Promise.resolve(),
};

/** Sets the wall clock as an operator or a time server would; timers aren't affected. */
function setClock(to: number): void {
  jump += to - Date.now();
  vi.setSystemTime(to);
}

beforeEach(() => {
  jump = 0;
  slept = 0;
  vi.useFakeTimers({ now: begin });
  timer = createTimer(clock);
});

afterEach(() => {
  timer.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** A plan with one job every `everyMs`, and what fired, in order. */
function run(nextAt: number, everyMs: number) {
  const fired: number[] = [];
  const failures: unknown[] = [];
  let next = nextAt;
  timer.start({
    dueAt: () => [{ job: 'orders', at: next }],
    fire: ({ at }) => {
      fired.push(at);
      next = Math.max(at, Date.now()) + everyMs;
    },
    failed: (error) => failures.push(error),
  });
  return { fired, failures };
}

describe('the timer', () => {
  it('fires overdue jobs immediately at startup', () => {
    expect(run(begin - 5 * minute, 60 * minute).fired).toEqual([begin - 5 * minute]);
  });

  it('fires a due job in the second in which its minute starts', async () => {
    const due = Date.parse('2026-11-20T10:22:00Z');
    const { fired } = run(due, 60 * minute);
    await vi.advanceTimersByTimeAsync(due - begin - 1);
    expect(fired).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(fired).toEqual([due]);
  });

  it('fires a job on time that is due later than the 24.8 days that a Node timer can wait', async () => {
    const due = begin + 26 * 24 * 60 * minute;
    const { fired } = run(due, 1e12);
    await vi.advanceTimersByTimeAsync(25 * 24 * 60 * minute);
    expect(fired).toEqual([]);
    await vi.advanceTimersByTimeAsync(25 * 60 * minute);
    expect(fired).toEqual([due]);
  });

  it('notices within seconds which jobs became due while the machine was suspended', async () => {
    const due = begin + 3 * 60 * minute;
    const { fired } = run(due, 60 * minute);
    setClock(begin + 5 * 60 * minute);
    await vi.advanceTimersByTimeAsync(6000);
    expect(fired).toEqual([due]);
  });

  it('notices a clock that was set forward by twenty years, and continues from there', async () => {
    const { fired } = run(begin + 365 * 24 * 60 * minute, 2 * minute);
    const future = Date.parse('2046-11-20T10:20:30Z');
    setClock(future);
    await vi.advanceTimersByTimeAsync(6000);
    expect(fired).toEqual([begin + 365 * 24 * 60 * minute]);
    await vi.advanceTimersByTimeAsync(10 * minute);
    expect(fired.length).toBeGreaterThanOrEqual(4);
  });

  it('keeps ticking after the clock was set back by twenty years', async () => {
    const past = Date.parse('2006-11-20T10:20:30Z');
    const plan = [{ job: 'orders', at: past + 2 * minute }];
    const fired: number[] = [];
    timer.start({
      dueAt: () => (Date.now() > begin - minute ? [] : plan),
      fire: ({ at }) => void (fired.push(at) && plan.pop()),
      failed: () => {},
    });
    setClock(past);
    await vi.advanceTimersByTimeAsync(minute);
    expect(fired).toEqual([]);
    await vi.advanceTimersByTimeAsync(2 * minute);
    expect(fired).toEqual([past + 2 * minute]);
  });

  it('continues if a hook throws, and reports the error', async () => {
    const failures: unknown[] = [];
    const fired: string[] = [];
    timer.start({
      dueAt: () => [
        { job: 'bad', at: begin - 2 },
        { job: 'good', at: begin - 1 },
      ],
      fire: ({ job }) => {
        if (job === 'bad') throw new Error('broken');
        fired.push(job);
      },
      failed: (error) => failures.push(error),
    });
    expect(fired).toEqual(['good']);
    expect(failures).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2 * minute);
    expect(fired.length).toBeGreaterThan(1);
  });

  it('fires jobs in chronological order, and also checks on request', () => {
    const plan = [{ job: 'b', at: begin - 1 }];
    const fired: string[] = [];
    timer.start({
      dueAt: () => plan,
      fire: ({ job }) => {
        fired.push(job);
        plan.splice(
          plan.findIndex((due) => due.job === job),
          1,
        );
      },
      failed: () => {},
    });
    plan.push({ job: 'd', at: begin }, { job: 'c', at: begin - 10 }, { job: 'later', at: begin + 1 });
    timer.look();
    expect(fired).toEqual(['b', 'c', 'd']);
  });

  it('reads the plan once per check while nothing is due', () => {
    const dueAt = vi.fn(() => [{ job: 'later', at: begin + minute }]);
    timer.start({ dueAt, fire: () => {}, failed: () => {} });
    timer.look();
    expect(dueAt).toHaveBeenCalledTimes(2);
  });

  it('wakes up for jobs that are due within the minute', async () => {
    const { fired } = run(begin + 7_250, 60 * minute);
    await vi.advanceTimersByTimeAsync(7_249);
    expect(fired).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(fired).toEqual([begin + 7_250]);
  });

  it('continues after the process was suspended, without reporting that its tick stopped', async () => {
    const { fired, failures } = run(begin + minute, 60 * minute);
    await vi.advanceTimersByTimeAsync(7_000);
    // Lets time pass on both clocks without calling any timer.
    vi.setSystemTime(Date.now() + 130_000);
    expect(timer.silence()).toBe(137_000);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(fired).toEqual([begin + minute]);
    expect(failures).toEqual([]);
    expect(timer.silence()).toBeLessThan(5_001);
  });

  it('restarts a tick that stopped, and reports it', async () => {
    const ticks: (() => void)[] = [];
    const dead = createTimer(clock, (look) => {
      ticks.push(look);
      return { aim() {}, destroy() {} };
    });
    timer.stop();
    timer = dead;
    const { fired, failures } = run(begin + minute, 60 * minute);
    await vi.advanceTimersByTimeAsync(85_000);
    expect([ticks.length, fired.length]).toEqual([1, 0]);
    expect(timer.silence()).toBe(85_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ticks).toHaveLength(2);
    expect(fired).toEqual([begin + minute]);
    expect(String(failures)).toContain('stopped and was restarted');
  });

  it('reports a clock change before its next check', async () => {
    const said: string[] = [];
    timer.start({ dueAt: () => [], fire: () => {}, jumped: () => said.push('jumped'), failed: () => {} });
    await vi.advanceTimersByTimeAsync(2 * minute);
    expect(said).toEqual([]);
    setClock(Date.now() - 24 * 60 * minute);
    await vi.advanceTimersByTimeAsync(6000);
    expect(said).toEqual(['jumped']);
  });

  it("reports a clock change of two seconds or more only once, and doesn't report time spent suspended", async () => {
    const said: number[] = [];
    timer.start({ dueAt: () => [], fire: () => {}, jumped: (by) => said.push(by), failed: () => {} });
    setClock(Date.now() + 1_500);
    await vi.advanceTimersByTimeAsync(6000);
    setClock(Date.now() - 3_000);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(said).toEqual([-3_000]);
    slept += 60 * minute;
    setClock(Date.now() + 60 * minute);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(said).toEqual([-3_000, 0]);
    setClock(Date.now() - 60 * minute);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(said).toEqual([-3_000, 0, -60 * minute]);
  });

  it("fires nothing after it's stopped", async () => {
    const { fired } = run(begin + minute, minute);
    timer.stop();
    timer.look();
    await vi.advanceTimersByTimeAsync(10 * minute);
    expect(fired).toEqual([]);
  });
});
