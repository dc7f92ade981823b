import { afterEach, expect, it, vi } from 'vitest';
import type { SluiceEvents } from '../../src/daemon/events.ts';
import { startHistoryPruning } from '../../src/daemon/history-pruning.ts';
import { Events } from '../../src/lib/events.ts';
import { quietLog } from '../../src/lib/log.ts';
import { maxKeptRuns } from '../../src/state/recover.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';

afterEach(cleanUp);

it('old runs are deleted every thousand runs, and a failed deletion is reported', async () => {
  const store = await newStore({ clock: new SteppingClock() });
  const prune = vi.spyOn(store.runs, 'prune');
  const events = new Events<SluiceEvents>();
  const error = vi.fn();
  const stop = startHistoryPruning({ store, events, log: { ...quietLog, error } });
  const finish = (times: number): void => {
    const facts = {
      job: 'orders',
      run: 'r',
      outcome: 'delivered',
      rows: 1,
      bytes: 1,
      requests: 1,
      milliseconds: 1,
    } as const;
    for (let run = 0; run < times; run++) events.emit('run.finished', facts);
  };
  finish(999);
  expect(prune).not.toHaveBeenCalled();
  finish(1);
  expect(prune.mock.calls).toEqual([[maxKeptRuns]]);
  await prune.mock.results[0]!.value;
  prune.mockRejectedValueOnce(new Error('disk full'));
  finish(1000);
  await expect.poll(() => error).toHaveBeenCalledOnce();
  stop();
  finish(1000);
  expect(prune).toHaveBeenCalledTimes(2);
});
