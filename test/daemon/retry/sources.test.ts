import { expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { reportSources } from '../../../src/daemon/report/report-sources.ts';
import { Bank } from '../bank.ts';
import { hour, minute, noon, openWorld } from './world.ts';

/** A daemon with three jobs of one source, and what is reported about that source. */
async function openSource() {
  const world = await openWorld(noon - minute);
  const bank = new Bank(world.clock);
  const source = bank.source('right');
  const job = (name: string, n: number): Job => {
    const made = world.job({ name, n, cron: '0 12 * * *' });
    return { ...made, extract: { ...made.extract!, source } };
  };
  const jobs = [job('one', 0), job('two', 1), job('three', 2)];
  const config = { ...world.configWith(...jobs), sources: new Map([[source.name, source]]) };
  const { runtime } = await world.live(config);
  const read = async () => (await reportSources(config, runtime.store, world.clock))[0]!;
  return { ...world, bank, config, runtime, read };
}

it('an unavailable source is reported with its start, the number of waiting jobs, and the next attempt', async () => {
  const { bank, pass, read, runtime } = await openSource();
  expect(await read()).toMatchObject({ source: 'bank', state: 'usable', jobs: ['one', 'two', 'three'] });
  expect((await read()).trouble).toBeUndefined();
  bank.isAway = true;
  await pass(5 * minute);
  const rows = await runtime.store.retries.all();
  const { state, trouble } = await read();
  expect(trouble).toMatchObject({
    kind: 'unavailable',
    since: Math.min(...rows.map(({ since }) => since)),
    waiting: ['one', 'two', 'three'],
    next_at: Math.min(...rows.map(({ next_at }) => next_at)),
    code: 'BANK_AWAY',
    message: 'connection refused',
  });
  expect(state).toMatch(
    /^unavailable since \S+ 12:0\d:\d\dZ; 3 jobs are waiting; next attempt (at \S+ \S+Z|now): connection refused$/,
  );
  bank.isAway = false;
  await pass(hour);
  expect(await read()).toMatchObject({ state: 'usable' });
});

it("a source whose jobs all failed permanently isn't reported as usable", async () => {
  const { bank, pass, read } = await openSource();
  bank.isAway = true;
  await pass(7 * hour);
  const { state, trouble } = await read();
  expect(trouble).toMatchObject({ kind: 'failing', waiting: [], next_at: noon + 24 * hour, code: 'BANK_AWAY' });
  expect(state).toContain('failing since ');
});
