import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pull } from '../../src/service/refresh/pull.ts';
import { startService } from '../../src/service/service.ts';
import { SteppingClock } from '../clocks.ts';
import { Bench, bench, scratch, until } from './service.ts';

const noon = '2026-03-02T12:00:00Z';
const minute = 60_000;
const tickMs = 5;

/** A pull that records the order of sources by their `name` property. */
function noting(fails: (name: string) => boolean = () => false): { pull: Pull; turns: string[] } {
  const turns: string[] = [];
  return {
    turns,
    pull: async function* ({ properties }) {
      const name = String(properties.name);
      turns.push(name);
      if (fails(name)) throw new Error('the source is unavailable');
      yield Buffer.from(`["${name} ${turns.length}"]`);
    },
  };
}

/** Long enough for several checks of the clock, so that a refresh that isn't due would have had its chance. */
const someTicks = (): Promise<void> => wait(20 * tickMs);

const every = (seconds: number, name: string): object => ({ refresh_interval: seconds, properties: { name } });

describe('a data source with a refresh interval', () => {
  it('is refreshed each time its interval has passed, and never earlier', async () => {
    const clock = new SteppingClock(noon);
    const { pull, turns } = noting();
    const given = await bench({ clock, pull, tickMs });
    await given.source(every(300, 'a'));
    await given.source(every(0, 'never'));
    clock.advance(5 * minute - 1);
    await someTicks();
    expect(turns).toEqual([]);
    clock.advance(1);
    await until(() => turns.length === 1);
    await someTicks();
    clock.advance(5 * minute);
    await until(() => turns.length === 2);
    await someTicks();
    expect(turns).toEqual(['a', 'a']);
  });

  it('is refreshed once for all missed times, and then follows its schedule', async () => {
    const clock = new SteppingClock(noon);
    const { pull, turns } = noting();
    const given = await bench({ clock, pull, tickMs });
    await given.source(every(60, 'a'));
    clock.advance(10.5 * minute);
    await until(() => turns.length === 1);
    await someTicks();
    expect(turns).toHaveLength(1);
    clock.advance(0.5 * minute);
    await until(() => turns.length === 2);
  });

  it('waits in a queue that starts with the source that has been due the longest', async () => {
    const clock = new SteppingClock(noon);
    const { pull, turns } = noting();
    const given = await bench({ clock, pull, tickMs });
    await given.source(every(900, 'slow'));
    await given.source(every(300, 'quick'));
    clock.advance(20 * minute);
    await until(() => turns.length === 2);
    expect(turns).toEqual(['quick', 'slow']);
  });

  it('keeps its old data if a refresh fails, counts the failure, and tries again after an interval', async () => {
    const clock = new SteppingClock(noon);
    const { pull, turns } = noting(() => true);
    const given = await bench({ clock, pull, tickMs });
    const id = await given.source(every(60, 'a'));
    await given.call('PUT', `/datasource-instances/${id}/data`, { body: '["old"]' });
    for (const times of [1, 2]) {
      clock.advance(minute);
      await until(async () => {
        const { data } = (await given.call('GET', `/datasource-instances/${id}`)).body;
        return data.refresh_fail_count === times;
      });
    }
    expect((await given.call('GET', `/datasource-instances/${id}/data?raw=true`)).text).toBe('["old"]');
    expect(turns).toHaveLength(2);
  });

  it("isn't refreshed while it's disabled, and never if it's push-only", async () => {
    const clock = new SteppingClock(noon);
    const { pull, turns } = noting();
    const given = await bench({ clock, pull, tickMs });
    const id = await given.source(every(60, 'disabled'));
    await given.source({ ...every(60, 'push-only'), no_refresh: true });
    await given.call('POST', `/datasources/${id}/@/disable`);
    clock.advance(5 * minute);
    await someTicks();
    expect(turns).toEqual([]);
    await given.call('POST', `/datasources/${id}/@/enable`);
    await until(() => turns.length === 1);
    expect(turns).toEqual(['disabled']);
  });

  it('uses a changed interval, and is no longer refreshed if the interval is 0', async () => {
    const clock = new SteppingClock(noon);
    const { pull, turns } = noting();
    const given = await bench({ clock, pull, tickMs });
    const id = await given.source(every(86_400, 'a'));
    clock.advance(5 * minute);
    await given.call('PUT', `/datasources/${id}`, { body: { name: 'renamed' } });
    await someTicks();
    expect(turns).toEqual([]);
    await given.call('PUT', `/datasources/${id}`, { body: { refresh_interval: 300 } });
    await until(() => turns.length === 1);
    await given.call('PUT', `/datasources/${id}`, { body: { refresh_interval: 0 } });
    clock.advance(60 * minute);
    await someTicks();
    expect(turns).toHaveLength(1);
  });

  it('that is dynamic refreshes all its instances', async () => {
    const clock = new SteppingClock(noon);
    const { pull, turns } = noting();
    const given = await bench({ clock, pull, tickMs });
    await given.source(every(60, 'of {props.region}'));
    clock.advance(minute);
    await until(() => turns.length === 1);
    expect(turns).toEqual(['of ']);
  });

  it('is refreshed after a restart if it became due in the meantime', async () => {
    const folder = await scratch();
    const clock = new SteppingClock(noon);
    const first = await bench({ data: { folder }, clock, tickMs });
    await first.source(every(3600, 'a'));
    await first.close();
    clock.advance(120 * minute);
    const { pull, turns } = noting();
    const second = new Bench(await startService({ data: { folder }, limits: false, clock, pull, tickMs }));
    onTestFinished(() => second.close());
    await until(() => turns.length === 1);
    expect(turns).toEqual(['a']);
  });
});
