import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { VirtualClock } from '../../src/lib/virtual-clock.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);

describe('a virtual clock', () => {
  it("wakes sleepers one by one in chronological order, and shows each one's exact time", async () => {
    const clock = new VirtualClock(start);
    const woken: [string, number][] = [];
    const sleeper = (name: string, milliseconds: number) =>
      clock.sleep(milliseconds).then(() => void woken.push([name, clock.now() - start]));
    await clock.drive(Promise.all([sleeper('late', 30 * day), sleeper('early', 5), sleeper('same', 5)]));
    expect(woken).toEqual([
      ['early', 5],
      ['same', 5],
      ['late', 30 * day],
    ]);
    expect(clock.monotonic()).toBe(1_000_000 + 30 * day);
  });

  it("doesn't advance while the disk is busy, an event-loop turn is deferred, or the clock is held", async () => {
    const clock = new VirtualClock(start);
    const folder = await mkdtemp(join(tmpdir(), 'sluice-clock-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const seen: number[] = [];
    const work = async () => {
      await writeFile(join(folder, 'file'), Buffer.alloc(5_000_000), { flush: true });
      seen.push(clock.now() - start);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      seen.push(clock.now() - start);
      const letGo = clock.hold();
      await wait(20);
      seen.push(clock.now() - start);
      letGo();
      letGo();
      await clock.sleep(1);
      seen.push(clock.now() - start);
    };
    await clock.drive(Promise.all([work(), clock.sleep(1_000)]));
    expect(seen).toEqual([0, 0, 0, 1]);
  });

  it("doesn't poll while it's held", async () => {
    const clock = new VirtualClock(start);
    const asked = vi.spyOn(process, 'getActiveResourcesInfo');
    onTestFinished(() => asked.mockRestore());
    const letGo = clock.hold();
    const holding = wait(20).then(letGo);
    await clock.drive(Promise.all([holding, clock.sleep(1)]));
    expect(asked.mock.calls.length).toBeLessThan(10);
  });

  it('rejects a sleep whose signal is aborted, and ends a sleep early with the abort reason', async () => {
    const clock = new VirtualClock(start);
    const stop = new AbortController();
    const asleep = clock.sleep(day, stop.signal);
    stop.abort(new Error('enough'));
    await expect(clock.drive(asleep)).rejects.toThrow('enough');
    await expect(clock.sleep(day, stop.signal)).rejects.toThrow('enough');
    await expect(clock.sleep(0)).resolves.toBeUndefined();
    expect(clock.now()).toBe(start);
  });

  it('stops advancing when its signal is aborted', async () => {
    const clock = new VirtualClock(start);
    const stop = new AbortController();
    void clock.sleep(day).then(() => stop.abort(new Error('stopped')));
    await expect(clock.drive(clock.sleep(2 * day), stop.signal)).rejects.toThrow('stopped');
  });
});
