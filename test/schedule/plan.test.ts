import { describe, expect, it } from 'vitest';
import { isDue, missedFirings, planAfter, resumePlan } from '../../src/schedule/plan.ts';
import { scheduleKey } from '../../src/schedule/schedule.ts';

const hourly = { cron: '0 * * * *', timezone: 'UTC' };
const daily = { cron: '0 6 * * *', timezone: 'UTC' };
const at = (text: string) => Date.parse(`2026-11-20T${text}Z`);

describe('the plan of a job', () => {
  it('starts with the first firing after now', () => {
    expect(resumePlan(hourly, undefined, at('10:20'))).toEqual({ schedule: 'UTC 0 * * * *', nextAt: at('11:00') });
  });

  it('survives a restart, also when its instant passed meanwhile, so that nothing is lost', () => {
    const written = planAfter(hourly, at('10:20'));
    const resumed = resumePlan(hourly, written, at('14:20'));
    expect(resumed).toEqual(written);
    expect(isDue(resumed, at('14:20'))).toBe(true);
  });

  it('runs once for all firings that were missed', () => {
    const plan = planAfter(hourly, at('10:20'));
    expect(missedFirings(hourly, plan, at('14:20'))).toBe(3);
    expect(planAfter(hourly, at('14:20')).nextAt).toBe(at('15:00'));
  });

  it('starts afresh when the schedule was edited, and fires nothing late', () => {
    const written = planAfter(hourly, at('10:20'));
    expect(resumePlan(daily, written, at('14:20')).nextAt).toBe(at('06:00') + 86_400_000);
    expect(resumePlan({ ...hourly, timezone: 'Asia/Kathmandu' }, written, at('14:20')).nextAt).toBe(at('15:15'));
  });

  it('is not taken for edited when only blanks changed', () => {
    expect(scheduleKey({ ...hourly, cron: ' 0  * * * * ' })).toBe(scheduleKey(hourly));
  });

  it('is due at its very instant and not before', () => {
    const plan = planAfter(hourly, at('10:20'));
    expect(isDue(plan, at('11:00') - 1)).toBe(false);
    expect(isDue(plan, at('11:00'))).toBe(true);
    expect(isDue({ ...plan, nextAt: null }, at('11:00'))).toBe(false);
  });

  it('is made anew when the clock was set back by years, and left alone when by minutes', () => {
    const farOff = planAfter(hourly, Date.parse('2036-01-01T00:00Z'));
    expect(resumePlan(hourly, farOff, at('10:20')).nextAt).toBe(at('11:00'));
    const near = planAfter(hourly, at('11:01'));
    expect(resumePlan(hourly, near, at('10:58'))).toEqual(near);
  });

  it('counts what was missed only so far', () => {
    const minutely = { cron: '* * * * *', timezone: 'UTC' };
    expect(missedFirings(minutely, planAfter(minutely, 0), at('10:20'))).toBe(1000);
  });
});
