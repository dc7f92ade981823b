import { describe, expect, it } from 'vitest';
import { resumePlan } from '../../src/schedule/plan.ts';
import { scheduleKey } from '../../src/schedule/schedule.ts';

const hourly = { cron: '0 * * * *', timezone: 'UTC' };
const daily = { cron: '0 6 * * *', timezone: 'UTC' };
const at = (text: string) => Date.parse(`2026-11-20T${text}Z`);

describe("a job's plan", () => {
  it('starts with the first firing after now', () => {
    expect(resumePlan(hourly, undefined, at('10:20'))).toEqual({ schedule: 'UTC 0 * * * *', nextAt: at('11:00') });
  });

  it('survives a restart, even if its time has passed, so that no firing is lost', () => {
    const written = resumePlan(hourly, undefined, at('10:20'));
    expect(resumePlan(hourly, written, at('14:20'))).toEqual(written);
  });

  it('starts over if the schedule was edited, without late firings', () => {
    const written = resumePlan(hourly, undefined, at('10:20'));
    expect(resumePlan(daily, written, at('14:20')).nextAt).toBe(at('06:00') + 86_400_000);
    expect(resumePlan({ ...hourly, timezone: 'Asia/Kathmandu' }, written, at('14:20')).nextAt).toBe(at('15:15'));
    expect(resumePlan({ ...hourly, offset: 60_000 }, written, at('14:20')).nextAt).toBe(at('15:01'));
  });

  it("doesn't change if only white space or the misfire policy was edited", () => {
    expect(scheduleKey({ ...hourly, cron: ' 0  * * * * ' })).toBe(scheduleKey(hourly));
    expect(scheduleKey({ ...hourly, misfire: { policy: 'skip' }, overlap: 'buffer_one' })).toBe(scheduleKey(hourly));
  });

  it('is recalculated if the clock was set back by years or minutes, but not if it was set back by seconds', () => {
    const farOff = resumePlan(hourly, undefined, Date.parse('2036-01-01T00:00Z'));
    expect(resumePlan(hourly, farOff, at('10:20')).nextAt).toBe(at('11:00'));
    const near = resumePlan(hourly, undefined, at('11:01'));
    expect(resumePlan(hourly, near, at('10:58')).nextAt).toBe(at('11:00'));
    expect(resumePlan(hourly, near, at('10:59:30')), 'it has fired a moment ago').toEqual(near);
  });

  it('delays a job that runs every minute by at most two minutes, no matter how far the clock was set back', () => {
    const minutely = { cron: '* * * * *', timezone: 'UTC' };
    const written = resumePlan(minutely, undefined, at('11:00:30'));
    for (let back = 1; back <= 7200; back++) {
      const now = at('11:00:30') - back * 1000;
      expect(resumePlan(minutely, written, now).nextAt! - now, `${back} s`).toBeLessThanOrEqual(120_000);
    }
  });
});
