import { expect, it } from 'vitest';
import { untilAvailable } from '../../src/cli/start/until-available.ts';
import type { Config } from '../../src/config/config.ts';
import { type Log, quietLog } from '../../src/lib/log.ts';
import { Problem } from '../../src/lib/problem.ts';

const away = new Problem({ code: 'STATE_UNREACHABLE', family: 'try_later', message: 'Connection refused' });
const config = { stateDatabase: {} } as Config;

/** Steps of a start that take time on a clock of their own. Each try and each pause takes `tryMs`. */
function openStart({ tryMs }: { readonly tryMs: number }) {
  let now = 0;
  const waits: string[] = [];
  const log: Log = { ...quietLog, warn: (line) => void waits.push(line) };
  const clock = {
    now: () => now,
    async pause() {
      now += tryMs;
    },
  };
  const runStep = untilAvailable({ config, log, stop: new AbortController().signal }, clock);
  const stepFailing = (times: number) => () => {
    now += tryMs;
    return times-- > 0 ? Promise.reject(away) : Promise.resolve('done');
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { runStep, stepFailing, waits, pass };
}

it('steps of a start that need the state are repeated for a minute in total', async () => {
  const { runStep, stepFailing, waits } = openStart({ tryMs: 5_000 });
  expect(await runStep(stepFailing(3))).toBe('done');
  expect(await runStep(stepFailing(2))).toBe('done');
  await expect(runStep(stepFailing(9))).rejects.toBe(away);
  expect(waits).toEqual(['state.waiting', 'state.waiting', 'state.waiting']);
});

it('steps of a start that succeed may take longer than a minute', async () => {
  const { runStep, stepFailing, pass } = openStart({ tryMs: 5_000 });
  expect(await runStep(stepFailing(1))).toBe('done');
  await runStep(async () => pass(300_000));
  expect(await runStep(stepFailing(1))).toBe('done');
});
