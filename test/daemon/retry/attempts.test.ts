import { expect, it } from 'vitest';
import { runDetail } from '../../../src/cli/output/run-detail.ts';
import { pastAttempts, spanOf, withPastAttempt } from '../../../src/state/runs/past-attempts.ts';
import { Bank } from '../bank.ts';
import { hour, minute, noon, openWorld } from './world.ts';

/** A daemon with one job at noon whose source is unavailable. */
async function openAway() {
  const world = await openWorld(noon - minute);
  const bank = new Bank(world.clock);
  bank.isAway = true;
  const made = world.job({ name: 'orders', n: 0, cron: '0 12 * * *' });
  const job = { ...made, extract: { ...made.extract!, source: bank.source('right') } };
  const { runtime, named } = await world.live(world.configWith(job));
  return { ...world, bank, runtime, named, last: async () => (await runtime.store.runs.last('orders'))! };
}

it('a run with several attempts starts with the first attempt, and its duration includes all of them', async () => {
  const { bank, pass, named, last } = await openAway();
  await pass(5 * minute);
  bank.isAway = false;
  await pass(20 * minute);
  const run = await last();
  const attempts = named('run.retrying').length + 1;
  expect(run).toMatchObject({ state: 'delivered', attempts });
  const began = named('run.started').map(({ facts }) => facts.clock as number);
  expect(began).toHaveLength(attempts);
  const { started_at, took_ms } = spanOf(run);
  expect(started_at).toBe(Math.round(began[0]!));
  expect(run.started_at).toBe(Math.round(began.at(-1)!));
  expect(took_ms).toBeGreaterThanOrEqual(began.at(-1)! - began[0]!);
  expect(pastAttempts(run).map(({ started_at }) => started_at)).toEqual(began.slice(0, -1).map(Math.round));
  expect(pastAttempts(run)).toContainEqual(
    expect.objectContaining({ code: 'BANK_AWAY', message: 'connection refused' }),
  );

  const finished = named('run.finished');
  expect(finished).toHaveLength(1);
  expect(finished[0]!.facts).toMatchObject({ attempts });
  expect(finished[0]!.facts.milliseconds).toBeGreaterThanOrEqual(began.at(-1)! - began[0]!);
  const lines = runDetail(run).split('\n');
  expect(lines.filter((line) => line.startsWith('attempt '))).toHaveLength(attempts);
  expect(lines.find((line) => line.startsWith('began '))).toContain('2026-11-23 12:00:0');
});

it('a run ends when Sluice gives up on its attempts', async () => {
  const { pass, named, last } = await openAway();
  await pass(7 * hour);
  const run = await last();
  expect(run.state).toBe('failed');
  const { started_at, took_ms } = spanOf(run);
  expect(started_at).toBeLessThan(noon + minute);
  expect(took_ms).toBe(run.ended_at! - started_at);
  expect(named('run.finished')[0]!.facts.milliseconds).toBeGreaterThan(5 * hour);
  const [first, ...others] = pastAttempts(run);
  expect(first!.started_at).toBe(started_at);
  expect(others.length).toBeLessThan(50);
});

it('only the first and the newest of many attempts are kept', () => {
  let text: string | null = null;
  for (let at = 0; at < 200; at++) {
    text = withPastAttempt({ past_attempts: text }, { started_at: at, ended_at: at + 1, code: 'AWAY', message: 'no' });
  }
  const kept = pastAttempts({ past_attempts: text }).map(({ started_at }) => started_at);
  expect(kept).toEqual([0, ...Array.from({ length: 49 }, (_, n) => 151 + n)]);
});
