import { afterEach, describe, expect, it } from 'vitest';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newStore, oweText } from '../state/fixtures.ts';

afterEach(cleanUp);

describe('the history of jobs', () => {
  it('contains the medians of past runs with a payload, and the share of runs with new data', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    for (const [text, tookMs] of [
      ['a', 1_000],
      ['bb', 9_000],
      ['ccccc', 3_000],
    ] as const) {
      const began = await store.runs.begin({ job: 'other', origin: 'schedule' });
      clock.advance(tookMs);
      await store.runs.finish(began, { state: 'unchanged', rows: 0, bytes: 0 });
      await oweText(store, { instance: 'i', text, asOf: noon + clock.ticks, job: 'orders' });
    }
    const past = await store.runStats.past();
    expect(past.get('other')).toEqual({ runs: 3, bytes: 0, rows: 0, milliseconds: 3_000, changed: 0 });
    expect(past.get('orders')).toMatchObject({ runs: 3, bytes: 2, rows: 1, changed: 1 });
  });
});
