import { describe, expect, it } from 'vitest';
import type { Schedule } from '../../src/schedule/schedule.ts';
import { configWith, goodJob, load } from './fixtures.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** The schedule of a job with this value of `schedule:`, in a config with this at the top level. */
async function read(written: string, top = ''): Promise<Schedule | undefined> {
  const { config, problems } = await load(`${top}${configWith(`${goodJob}    schedule: ${written}\n`)}`);
  expect(problems).toEqual([]);
  return config!.jobs.get('orders')!.schedule;
}

/** The messages for an unusable schedule. */
async function refusal(written: string, top = '') {
  const { problems } = await load(`${top}${configWith(`${goodJob}    schedule: ${written}\n`)}`);
  expect(problems.map(({ message }) => message)).toHaveLength(1);
  const { code, message, seen, next, where } = problems[0]!;
  return { code, message: message.replace('Invalid schedule: ', ''), seen, next, line: where.line };
}

describe('a schedule', () => {
  it.each([
    ['every 15m', { every: hour / 4, from: 0, timezone: 'UTC' }],
    ['every 1h30m', { every: 1.5 * hour, from: 0, timezone: 'UTC' }],
    ['"@every 13h"', { every: 13 * hour, from: 0, timezone: 'UTC' }],
    ['at 06:00, 18:30', { at: ['06:00', '18:30'], timezone: 'UTC' }],
    ['"6:30"', { at: ['06:30'], timezone: 'UTC' }],
    ['at 18:30,6:00 on MON-FRI', { at: ['06:00', '18:30'], days: [1, 2, 3, 4, 5], timezone: 'UTC' }],
    ['"*/15 * * * *"', { cron: '*/15 * * * *', timezone: 'UTC' }],
    ['"@daily"', { cron: '@daily', timezone: 'UTC' }],
    ['{every: 2d, from: 2026-11-21}', { every: 2 * day, from: Date.parse('2026-11-21'), timezone: 'UTC' }],
    [
      '{every: 1h, from: 2026-11-21T06:30, timezone: Europe/Berlin}',
      { every: hour, from: Date.parse('2026-11-21T05:30Z'), timezone: 'Europe/Berlin' },
    ],
    [
      '{every: 1h, from: "2026-11-21T06:30+05:45"}',
      { every: hour, from: Date.parse('2026-11-21T00:45Z'), timezone: 'UTC' },
    ],
    [
      '{at: [06:00, 18:30], days: [saturday, Sun], timezone: Asia/Kathmandu}',
      { at: ['06:00', '18:30'], days: [6, 7], timezone: 'Asia/Kathmandu' },
    ],
    ['{at: 06:00, days: FRI-MON}', { at: ['06:00'], days: [1, 5, 6, 7], timezone: 'UTC' }],
    ['{at: 06:00, days: MON-SUN}', { at: ['06:00'], timezone: 'UTC' }],
    [
      '{cron: 0 6 * * *, misfire: skip, overlap: buffer_one}',
      { cron: '0 6 * * *', timezone: 'UTC', misfire: { policy: 'skip' }, overlap: 'buffer_one' },
    ],
    [
      '{every: 1h, misfire: run_all}',
      { every: hour, from: 0, timezone: 'UTC', misfire: { policy: 'run_all', withinMs: day, atMost: 24 } },
    ],
    [
      '{every: 1h, misfire: {policy: run_all, within: 6h, at_most: 3}}',
      { every: hour, from: 0, timezone: 'UTC', misfire: { policy: 'run_all', withinMs: 6 * hour, atMost: 3 } },
    ],
    [
      '{every: 1h, misfire: {policy: run_once, within: 2h}}',
      { every: hour, from: 0, timezone: 'UTC', misfire: { policy: 'run_once', withinMs: 2 * hour } },
    ],
  ])('is parsed: %s', async (written, schedule) => {
    expect(await read(written)).toEqual(schedule);
  });

  it.each(['manual', 'Manual'])('can be omitted: %s', async (written) => {
    expect(await read(written)).toBeUndefined();
  });

  it('inherits the time zone and rules from the top level, but can override them', async () => {
    const top = 'timezone: Europe/Berlin\nschedules: {misfire: skip, overlap: cancel_other}\n';
    const rules = { misfire: { policy: 'skip' }, overlap: 'cancel_other' };
    expect(await read('at 06:00', top)).toEqual({ at: ['06:00'], timezone: 'Europe/Berlin', ...rules });
    expect(await read('{at: 06:00, timezone: UTC, overlap: skip}', top)).toEqual({
      at: ['06:00'],
      timezone: 'UTC',
      ...rules,
      overlap: 'skip',
    });
  });

  it("is delayed by a part of the spread that depends on the job's name, and not at all if the spread is 0s", async () => {
    const top = 'schedules: {spread: 10m}\n';
    const { offset } = (await read('every 1h', top))!;
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThan(600_000);
    expect(await read('{every: 1h, spread: 10m}')).toMatchObject({ offset });
    expect(await read('{every: 1h, spread: 0s}', top)).toEqual({ every: hour, from: 0, timezone: 'UTC' });
  });
});

describe('an unusable schedule', () => {
  it.each([
    ['every 0s', 'the interval must be greater than zero', 'write schedule: manual'],
    ['{every: 0m}', 'the interval must be greater than zero', 'write schedule: manual'],
    ['every 90 s', 'the interval must be a whole number of minutes', 'write 1m or 2m'],
    ['every 30s', 'the interval must be a whole number of minutes', 'write 1m'],
    ['every 15 m', 'not a valid duration', 'write it as one value: 15m'],
    ['every 2 hours and 30 minutes', 'not a valid duration', 'write it as one value: 2h30m'],
    ['{every: 15}', '"every" has no unit', 'write 15m if you mean minutes'],
    ['every', 'not a valid duration', undefined],
    ['every morning', 'not a valid duration', undefined],
    ['{every: -5m}', 'not a valid duration', undefined],
    ['every 900w', 'the maximum interval is 10 years', undefined],
    ['at 6am', '"6am" is not a valid time', 'did you mean "06:00"?'],
    ['{at: [06:00, "18.30"]}', '"18.30" is not a valid time', 'did you mean "18:30"?'],
    ['{at: "24:00"}', '"24:00" is not a valid time', 'did you mean "00:00"?'],
    ['{at: "25:00"}', '"25:00" is not a valid time', undefined],
    ['at 06:00 on workdays', '"workdays" is not a valid day of the week', 'did you mean "MON-FRI"?'],
    ['{at: 06:00, days: [MON, Caturday]}', '"Caturday" is not a valid day of the week', undefined],
    ['{every: 1h, from: yesterday}', '"from" is not a valid date and time', undefined],
    [
      '{cron: 0 6 * * *, every: 1h}',
      'A schedule can have only one of cron, every and at; this one has cron and every',
      'delete "every", or create a second job',
    ],
    [
      '{timezone: UTC}',
      'Missing schedule: none of cron, every and at is set',
      'add one of them, or delete the schedule to run the job only on request',
    ],
    [
      '{cron: 0 6 * * *, days: MON}',
      '"days" requires "at", which is not set in this schedule',
      'delete "days", and use the last field of the cron expression instead',
    ],
    ['{at: 06:00, from: 2026-11-21}', '"from" requires "every", which is not set in this schedule', undefined],
    ['{every: 1h, spread: soon}', 'a spread is not a valid duration', undefined],
    ['{every: 1h, spread: 10 minutes}', 'a spread is not a valid duration', 'write it as one value: 10m'],
    ['{every: 1h, spread: 2d}', 'a spread is too long', 'write 1d or less'],
    ['{every: 1h, misfire: {policy: run_all, within: 10s}}', '"within" is too short', 'write 1m or more'],
    [
      '{every: 1h, misfire: {policy: skip, within: 1h}}',
      'This misfire policy does not use "within"',
      'delete "within"',
    ],
    [
      '{every: 1h, misfire: {policy: run_once, at_most: 2}}',
      'This misfire policy does not use "at_most"',
      'delete "at_most"',
    ],
    ['hourly', 'a cron expression has five fields, but this one has 1', 'did you mean "@hourly"?'],
  ])('is reported with a fix: %s', async (written, message, next) => {
    const told = await refusal(written);
    expect(told).toMatchObject({ code: expect.stringMatching(/^CONFIG_(SCHEDULE|CRON)$/), message });
    if (next !== undefined) expect(told.next).toContain(next);
  });

  it('is reported with the closest time zone, the closest option or the allowed policies', async () => {
    expect(await refusal('{at: 06:00, timezone: Europe/Berlim}')).toMatchObject({
      next: 'did you mean "Europe/Berlin"?',
    });
    expect(await refusal('{evry: 15m}')).toMatchObject({
      code: 'CONFIG_UNKNOWN_OPTION',
      next: 'did you mean "every"?',
    });
    expect(await refusal('{every: 15m, overlap: skp}')).toMatchObject({ next: 'did you mean "skip"?' });
    expect(await refusal('{every: 15m, misfire: run_al}')).toMatchObject({ code: 'CONFIG_WRONG_VALUE' });
  });

  it.each(['5', '0.5', 'true'])(
    'with %s as its cron expression is reported with a fix that is valid',
    async (written) => {
      const told = await refusal(`{cron: ${written}}`);
      expect(told).toMatchObject({ code: 'CONFIG_WRONG_VALUE', seen: written });
      const [, advised] = /^write text, as in (".+")$/.exec(told.next!)!;
      expect(await read(`{cron: ${advised}}`)).toMatchObject({ cron: JSON.parse(advised!) });
    },
  );

  it('at the top level is reported only once for all jobs', async () => {
    expect(await refusal('every 1h', 'schedules: {spread: 10 m}\n')).toMatchObject({
      line: 1,
      next: 'write it as one value: 10m',
    });
  });
});
