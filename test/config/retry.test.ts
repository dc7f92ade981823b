import { describe, expect, it } from 'vitest';
import type { RetryRule } from '../../src/config/config.ts';
import { configWith, goodJob, load } from './fixtures.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

const byDefault = { firstMs: 30 * second, longestMs: 10 * minute, withinMs: 6 * hour };

/** The retry rule of a job with this value of `retry:`, in a config with this at the top level. */
async function read(written?: string, top = ''): Promise<RetryRule | undefined> {
  const { config, problems } = await load(`${top}${configWith(`${goodJob}${line(written)}`)}`);
  expect(problems).toEqual([]);
  return config!.jobs.get('orders')!.retry;
}

async function faults(written: string, top = '') {
  const { problems } = await load(`${top}${configWith(`${goodJob}${line(written)}`)}`);
  return problems;
}

const line = (written: string | undefined): string => (written === undefined ? '' : `    retry: ${written}\n`);

describe('retry', () => {
  it('is on by default', async () => {
    expect(await read()).toEqual(byDefault);
  });

  it.each([
    ['off', undefined],
    ['{attempts: 5}', { ...byDefault, attempts: 5 }],
    ['{first: 1m, within: 2h}', { ...byDefault, firstMs: minute, withinMs: 2 * hour }],
    ['{first: 5s, longest: 30s, within: 10m}', { firstMs: 5 * second, longestMs: 30 * second, withinMs: 10 * minute }],
    ['{first: 20m}', { ...byDefault, firstMs: 20 * minute, longestMs: 20 * minute }],
  ])('can be set for a job: %s', async (written, rule) => {
    expect(await read(written)).toEqual(rule);
  });

  it.each([
    ['retry: off\n', undefined, undefined],
    ['retry: off\n', '{attempts: 5}', { ...byDefault, attempts: 5 }],
    ['retry: {within: 1h}\n', undefined, { ...byDefault, withinMs: hour }],
    ['retry: {within: 1h}\n', '{first: 1m}', { ...byDefault, firstMs: minute, withinMs: hour }],
    ['retry: {within: 1h}\n', 'off', undefined],
  ])('set at the top level (%s) provides the options that a job (%s) omits', async (top, written, rule) => {
    expect(await read(written, top)).toEqual(rule);
  });

  it.each([
    ['{first: "5"}', '"first" is not a valid duration', '"5"'],
    ['{first: 0s}', '"first" is too short', '"0s"'],
    ['{within: 8d}', '"within" is too long', '"8d"'],
    ['{first: 10m, longest: 1m}', 'the longest wait is shorter than the first', '"1m"'],
  ])('%s is rejected with its location, the allowed values and a fix', async (written, message, seen) => {
    const [fault, ...others] = await faults(written);
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ code: expect.stringMatching(/^CONFIG_/), allowed: expect.any(String) });
    expect(`${fault!.message}`).toContain(message);
    expect(fault!.seen).toBe(seen);
    expect(fault!.where.line).toBeGreaterThan(1);
  });

  it.each(['on', '5', '{tries: 3}', '{attempts: 0}'])('%s is rejected', async (written) => {
    expect(await faults(written)).toMatchObject([{ family: 'config' }]);
    expect(await load(`retry: ${written}\n${configWith(goodJob)}`)).toMatchObject({ problems: [{ family: 'config' }] });
  });

  it("doesn't apply to a refresh", async () => {
    const refresh = '  again:\n    target: { refresh: [ab] }\n    retry: { first: 1m }\n';
    const { problems } = await load(configWith(refresh));
    expect(problems.map(({ code }) => code)).toContain('CONFIG_REFRESH');
  });
});
