import { describe, expect, it } from 'vitest';
import { cronFault, timezoneFault } from '../../src/schedule/cron.ts';
import { firingsBetween, nextFiring } from '../../src/schedule/schedule.ts';
import fc, { runsOf } from '../property.ts';

/** Firings after `from` as local times with offset, so that the two 2:30s of an autumn night can be distinguished. */
function firings(cron: string, timezone: string, from: string, n: number): string[] {
  const found: string[] = [];
  let at: number | null = Date.parse(from);
  while (found.length < n) {
    at = nextFiring({ cron, timezone }, at);
    if (at === null) break;
    found.push(zoned(at, timezone).toString({ timeZoneName: 'never', smallestUnit: 'minute' }).slice(5));
  }
  return found;
}

function zoned(at: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
}

const berlin = 'Europe/Berlin';

describe('on the day when the clocks go forward', () => {
  it('a daily time inside the gap fires once, at the time of the jump', () => {
    expect(firings('30 2 * * *', berlin, '2026-03-28T12:00Z', 2)).toEqual(['03-29T03:00+02:00', '03-30T02:30+02:00']);
    expect(firings('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', 2)).toEqual([
      '10-04T02:30+11:00',
      '10-05T02:15+11:00',
    ]);
    expect(firings('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00Z', 2)).toEqual([
      '11-04T01:00-02:00',
      '11-05T00:00-02:00',
    ]);
  });

  it('a daily time inside a gap across midnight fires on its own day', () => {
    expect(firings('30 23 * * *', 'America/Nuuk', '2026-03-28T12:00Z', 3)).toEqual([
      '03-29T00:00-01:00',
      '03-29T23:30-01:00',
      '03-30T23:30-01:00',
    ]);
  });

  it('several daily times inside one gap fire together, and only once', () => {
    expect(firings('0,30 2 * * *', berlin, '2026-03-28T12:00Z', 3)).toEqual([
      '03-29T03:00+02:00',
      '03-30T02:00+02:00',
      '03-30T02:30+02:00',
    ]);
  });

  it('an expression with steps keeps its interval in elapsed time', () => {
    expect(firings('*/15 * * * *', berlin, '2026-03-29T00:40Z', 3)).toEqual([
      '03-29T01:45+01:00',
      '03-29T03:00+02:00',
      '03-29T03:15+02:00',
    ]);
  });
});

describe('on the day when the clocks go back', () => {
  it('a daily time that occurs twice fires only the first time', () => {
    expect(firings('30 2 * * *', berlin, '2026-10-24T12:00Z', 2)).toEqual(['10-25T02:30+02:00', '10-26T02:30+01:00']);
    expect(firings('0 2,14 * * *', berlin, '2026-10-24T13:00Z', 3)).toEqual([
      '10-25T02:00+02:00',
      '10-25T14:00+01:00',
      '10-26T02:00+01:00',
    ]);
  });

  it('an expression with steps also fires in the repeated hour', () => {
    expect(firings('*/15 * * * *', berlin, '2026-10-25T00:40Z', 4)).toEqual([
      '10-25T02:45+02:00',
      '10-25T02:00+01:00',
      '10-25T02:15+01:00',
      '10-25T02:30+01:00',
    ]);
  });
});

describe('a cron expression', () => {
  it('fires on days that match the day of month or the day of week if both are set', () => {
    expect(firings('0 9 1 * 1', berlin, '2026-11-25T00:00Z', 3)).toEqual([
      '11-30T09:00+01:00',
      '12-01T09:00+01:00',
      '12-07T09:00+01:00',
    ]);
  });

  it('fires strictly after the given time, to the millisecond', () => {
    const at = Date.parse('2026-11-25T09:00Z');
    const schedule = { cron: '0 9 * * *', timezone: 'UTC' };
    expect(nextFiring(schedule, at - 1)).toBe(at);
    expect(nextFiring(schedule, at)).toBe(at + 86_400_000);
    expect(nextFiring(schedule, at + 500)).toBe(at + 86_400_000);
  });

  it('waits years for a leap day, and never fires for February 31', () => {
    const after = Date.parse('2096-03-01T00:00Z');
    expect(nextFiring({ cron: '0 0 29 2 *', timezone: 'UTC' }, after)).toBe(Date.parse('2104-02-29T00:00Z'));
    expect(nextFiring({ cron: '0 0 31 2 *', timezone: 'UTC' }, after)).toBeNull();
  });

  it.each([
    ['61 * * * *', 'invalid value for minute: 61'],
    ['* * * *', 'a cron expression has five fields, but this one has 4'],
    ['0 0 * * * *', 'a cron expression has five fields, but this one has 6'],
    ['', 'a cron expression has five fields, but this one has 0'],
    ['0 0 31 2,4 *', 'it never fires: the date does not exist'],
    ['0 22-2 * * *', 'the range 22-2 is reversed; write it as two ranges separated by a comma'],
    ['@reboot', '@reboot is not one of @hourly, @daily, @weekly, @monthly, @yearly'],
    ['0 0 * * 8', 'invalid value for dayOfWeek: 8'],
  ])('"%s" is rejected: %s', (cron, fault) => {
    expect(cronFault(cron)).toBe(fault);
  });

  it.each(['*/15 * * * *', '0 9 * * MON-FRI', '@daily', ' 0  0 1 JAN * ', '0 0 L * *', '0 0 29 2 *', '0 9 * * 1#2'])(
    '"%s" is accepted',
    (cron) => {
      expect(cronFault(cron)).toBeUndefined();
    },
  );
});

describe('a time zone', () => {
  it('must be a valid name, not an offset', () => {
    expect(['Europe/Berlin', 'UTC', 'Asia/Kathmandu'].map(timezoneFault)).toEqual([undefined, undefined, undefined]);
    expect(timezoneFault('Mars/Phobos')).toBe('unknown time zone');
    expect(timezoneFault('+02:00')).toContain('use a name');
    expect(timezoneFault('')).toBeDefined();
  });
});

const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'America/St_Johns',
] as const;

/** Every clock change between 2015 and 2037, by zone. */
const transitions: { zone: string; at: number }[] = zones.flatMap((zone) => {
  const found: { zone: string; at: number }[] = [];
  let at = Temporal.Instant.from('2015-01-01T00:00Z').toZonedDateTimeISO(zone);
  for (
    let next = at.getTimeZoneTransition('next');
    next !== null && next.year < 2038;
    next = at.getTimeZoneTransition('next')
  ) {
    found.push({ zone, at: next.epochMilliseconds });
    at = next;
  }
  return found;
});

const day = 86_400_000;

describe('around every clock change from 2015 to 2037', () => {
  it('over 200 clock changes are checked', () => {
    expect(transitions.length).toBeGreaterThan(200);
  });

  it('a daily time fires exactly once on every local day, in order', () => {
    const time = fc.record({ hour: fc.integer({ min: 0, max: 23 }), minute: fc.integer({ min: 0, max: 59 }) });
    fc.assert(
      fc.property(fc.constantFrom(...transitions), time, ({ zone, at }, { hour, minute }) => {
        const start = zoned(at, zone).subtract({ days: 3 }).startOfDay();
        const end = start.add({ days: 7 });
        const fired = [
          ...firingsBetween(
            { cron: `${minute} ${hour} * * *`, timezone: zone },
            start.epochMilliseconds - 1,
            end.epochMilliseconds - 1,
          ),
        ];
        const days = fired.map((instant) => zoned(instant, zone).toPlainDate().toString());
        const wanted = Array.from({ length: 7 }, (_, i) => start.toPlainDate().add({ days: i }).toString());
        expect(days).toEqual(wanted);
      }),
      { numRuns: runsOf(300) },
    );
  });

  it("every daily time fires at its local time, or at the end of the gap if that time doesn't exist", () => {
    fc.assert(
      fc.property(fc.constantFrom(...transitions), fc.integer({ min: 0, max: 1439 }), ({ zone, at }, minuteOfDay) => {
        const hour = Math.floor(minuteOfDay / 60);
        const minute = minuteOfDay % 60;
        const start = zoned(at, zone).startOfDay();
        const fired = nextFiring({ cron: `${minute} ${hour} * * *`, timezone: zone }, start.epochMilliseconds - 1)!;
        const wall = start.toPlainDate().toPlainDateTime({ hour, minute });
        const earlier = wall.toZonedDateTime(zone, { disambiguation: 'earlier' });
        const isGap = !earlier.toPlainDateTime().equals(wall);
        expect(fired).toBe(isGap ? at : earlier.epochMilliseconds);
      }),
      { numRuns: runsOf(400) },
    );
  });

  it('an expression with steps keeps its interval in elapsed time', () => {
    // Whole-hour changes only: at Lord Howe, half an hour is missing, and its times can't fire.
    const whole = transitions.filter(({ zone }) => zone !== 'Australia/Lord_Howe');
    const steps = fc.constantFrom(1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30);
    fc.assert(
      fc.property(fc.constantFrom(...whole), steps, ({ zone, at }, step) => {
        const fired = [...firingsBetween({ cron: `*/${step} * * * *`, timezone: zone }, at - day / 8, at + day / 8)];
        const gaps = new Set(fired.slice(1).map((instant, i) => (instant - fired[i]!) / 60_000));
        expect([...gaps]).toEqual([step]);
      }),
      { numRuns: runsOf(150) },
    );
  });

  it('every expression fires in ascending order, at whole minutes, and only at matching times or the end of a gap', () => {
    const field = (min: number, max: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: 2, max: Math.max(2, Math.floor(max / 2)) }).map((n) => `*/${n}`),
        fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }).map((list) => list.join(',')),
        fc
          .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
          .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      );
    const cron = fc.tuple(
      field(0, 59),
      field(0, 23),
      fc.constantFrom('*', '1-28', '15'),
      fc.constant('*'),
      fc.constantFrom('*', '1-5'),
    );
    fc.assert(
      fc.property(fc.constantFrom(...transitions), cron, ({ zone, at }, fields) => {
        let last = at - 2 * day;
        for (let i = 0; i < 40; i++) {
          const next = nextFiring({ cron: fields.join(' '), timezone: zone }, last);
          expect(next).not.toBeNull();
          expect(next!).toBeGreaterThan(last);
          expect(next! % 60_000).toBe(0);
          const { minute, hour } = zoned(next!, zone);
          const matches = accepts(fields[0], minute) && accepts(fields[1], hour);
          expect(matches || next === at).toBe(true);
          last = next!;
          if (last > at + 2 * day) break;
        }
      }),
      { numRuns: runsOf(200) },
    );
  });
});

/** An independent, simple parser of one cron field. */
function accepts(field: string, value: number): boolean {
  return field.split(',').some((part) => {
    const [range, step = '1'] = part.split('/');
    const [from, to = from] = range === '*' ? ['0', '59'] : range!.split('-');
    return value >= Number(from) && value <= Number(to) && (value - Number(from)) % Number(step) === 0;
  });
}
