import { describe, expect, it } from 'vitest';
import { firingsBetween, nextFiring, type Schedule } from '../../src/schedule/schedule.ts';
import { allZones, type Change, changesOf, luck, minuteMs, shown } from './zones.ts';

const dayMinutes = 1440;
const changes = allZones.flatMap((zone) => changesOf(zone));
/**
 * Many zones change their clocks at the same time in the same way. Each of these changes in one zone and one change in
 * each zone need a quarter of the time.
 */
const tested: readonly Change[] = [
  ...new Set([
    ...new Map(changes.map((change) => [`${change.at} ${change.before} ${change.after}`, change])).values(),
    ...new Map(changes.map((change) => [change.zone, change])).values(),
  ]),
];
/** Zones without clock changes: any day is as good as any other. */
const quiet: Change[] = allZones
  .filter((zone) => !changes.some((change) => change.zone === zone))
  .map((zone) => {
    const at = Date.UTC(2026, 2, 29) / minuteMs;
    const offset =
      Temporal.Instant.fromEpochMilliseconds(at * minuteMs).toZonedDateTimeISO(zone).offsetNanoseconds / 60e9;
    return { zone, at, before: offset, after: offset };
  });

/** The firings in (from, until], in minutes. */
function fired(schedule: Schedule, from: number, until: number): number[] {
  return [...firingsBetween(schedule, from * minuteMs, until * minuteMs)].map((at) => at / minuteMs);
}

interface Window {
  readonly change: Change;
  readonly from: number;
  readonly until: number;
}

/** Compares the calendar with a check of every minute around each clock change. Returns the differences. */
function compare(
  around: number,
  make: (
    change: Change,
    random: (below: number) => number,
  ) => { schedule: Schedule; wanted: (window: Window) => number[] },
): string[] {
  const wrong: string[] = [];
  for (const [index, change] of [...tested, ...quiet].entries()) {
    const { schedule, wanted } = make(change, luck(index));
    const window = { change, from: change.at - around, until: change.at + around };
    const [is, should] = [fired(schedule, window.from, window.until), wanted(window)];
    if (String(is) !== String(should)) {
      const text = (minutes: number[]) =>
        minutes.map((at) => new Date(at * minuteMs).toISOString().slice(0, 16)).join(' ');
      wrong.push(`${JSON.stringify(schedule)} at ${text([change.at])}: ${text(is)} instead of ${text(should)}`);
    }
  }
  return wrong.slice(0, 5);
}

/**
 * For each wanted local time, the first minute when the clock has reached it, found by checking every minute. There is
 * exactly one for each.
 */
function timesByLooking({ change, from, until }: Window, isWanted: (local: number) => boolean): number[] {
  const found = new Set<number>();
  // A clock that is set back shows times again; a clock that jumps ahead reaches all skipped times at once.
  let reached = shown(change, from - dayMinutes);
  for (let minute = from - dayMinutes; minute <= until; minute++) {
    const local = shown(change, minute);
    for (; reached < local; reached++) if (isWanted(reached + 1)) found.add(minute);
  }
  return [...found].filter((minute) => minute > from);
}

/** The minutes at which the clock shows a wanted local time. */
function shownByLooking({ change, from, until }: Window, isWanted: (local: number) => boolean): number[] {
  const found: number[] = [];
  for (let minute = from + 1; minute <= until; minute++) if (isWanted(shown(change, minute))) found.push(minute);
  return found;
}

/** Times of day near those that a clock change skips or repeats, and one random time. */
function timesNear({ at, before, after }: Change, random: (below: number) => number): number[] {
  const near = [before, after].map((offset) => at + offset - 60 + random(120));
  return [...near, random(dayMinutes)].map((minute) => ((minute % dayMinutes) + dayMinutes) % dayMinutes);
}

const text = (time: number): string =>
  `${String(Math.floor(time / 60)).padStart(2, '0')}:${String(time % 60).padStart(2, '0')}`;
const timeOf = (local: number): number => ((local % dayMinutes) + dayMinutes) % dayMinutes;
const weekdayOf = (local: number): number => ((Math.floor(local / dayMinutes) + 3) % 7) + 1;

describe('in every time zone, around every clock change from 2015 to 2037', () => {
  it('over 400 zones and each of their 6,000 changes are covered', () => {
    expect(allZones.length).toBeGreaterThan(400);
    expect(changes.length).toBeGreaterThan(6000);
    expect(tested.length).toBeGreaterThan(1000);
    expect(new Set(tested.map(({ zone }) => zone))).toEqual(new Set(changes.map(({ zone }) => zone)));
    expect(new Set(changes.map(({ before, after }) => after - before))).toEqual(
      new Set([60, -60, 30, -30, 120, -120, 180, -180]),
    );
  });

  it('times of day fire exactly once a day, as soon as the clock has reached them', () => {
    const wrong = compare(2 * dayMinutes, (change, random) => {
      const times = [...new Set(timesNear(change, random))];
      const schedule = { at: times.map(text).sort(), timezone: change.zone };
      return { schedule, wanted: (window) => timesByLooking(window, (local) => times.includes(timeOf(local))) };
    });
    expect(wrong).toEqual([]);
  });

  it('times of day on some weekdays fire only on those days', () => {
    const wrong = compare(3 * dayMinutes, (change, random) => {
      const [time = 0] = timesNear(change, random);
      const days = [1, 2, 3, 4, 5, 6, 7].filter(() => random(2) === 0);
      if (days.length === 0) days.push(7);
      const schedule = { at: [text(time)], days, timezone: change.zone };
      const isWanted = (local: number) => timeOf(local) === time && days.includes(weekdayOf(local));
      return { schedule, wanted: (window) => timesByLooking(window, isWanted) };
    });
    expect(wrong).toEqual([]);
  });

  it('a cron expression with times of day fires exactly once for each of them', () => {
    const wrong = compare(1.25 * dayMinutes, (change, random) => {
      const [a = 0, b = 0] = timesNear(change, random);
      const [minutes, hours] = [
        [a % 60, b % 60],
        [Math.floor(a / 60), Math.floor(b / 60)],
      ];
      const schedule = { cron: `${minutes} ${hours} * * *`, timezone: change.zone };
      const isWanted = (local: number) =>
        minutes.includes(timeOf(local) % 60) && hours.includes(Math.floor(timeOf(local) / 60));
      return { schedule, wanted: (window) => timesByLooking(window, isWanted) };
    });
    expect(wrong).toEqual([]);
  });

  it('a cron expression with steps fires whenever the local time matches it', () => {
    const wrong = compare(220, (change, random) => {
      const step = [7, 15, 20, 30][random(4)]!;
      const every = [1, 2, 3, 5][random(4)]!;
      const schedule = { cron: `*/${step} */${every} * * *`, timezone: change.zone };
      const isWanted = (local: number) =>
        (timeOf(local) % 60) % step === 0 && Math.floor(timeOf(local) / 60) % every === 0;
      return { schedule, wanted: (window) => shownByLooking(window, isWanted) };
    });
    expect(wrong).toEqual([]);
  });

  it('an interval keeps its length in elapsed time', () => {
    const wrong = compare(2 * dayMinutes, (change, random) => {
      const [every, from] = [1 + random(600), random(20_000_000)];
      const schedule = { every: every * minuteMs, from: from * minuteMs, timezone: change.zone };
      const wanted = ({ from: after, until }: Window): number[] => {
        const first = after + every - ((((after - from) % every) + every) % every);
        return Array.from({ length: Math.floor((until - first) / every) + 1 }, (_, n) => first + n * every);
      };
      return { schedule, wanted };
    });
    expect(wrong).toEqual([]);
  });

  it('a spread delays every firing by the same amount and changes nothing else', () => {
    const wrong = compare(2 * dayMinutes, (change, random) => {
      const [time = 0] = timesNear(change, random);
      const offset = random(dayMinutes);
      const schedule = { at: [text(time)], timezone: change.zone, offset: offset * minuteMs };
      const plain = { ...schedule, offset: 0 };
      return {
        schedule,
        wanted: ({ from, until }) => fired(plain, from - offset, until - offset).map((at) => at + offset),
      };
    });
    expect(wrong).toEqual([]);
  });

  it('the next firing after a time is the same for all times between two firings', () => {
    const wrong = tested.filter((change, index) => {
      const random = luck(index);
      const timezone = change.zone;
      const schedules: Schedule[] = [
        { at: timesNear(change, random).map(text).sort(), timezone },
        { cron: `${random(60)} ${random(24)} * * *`, timezone },
        { cron: '*/30 * * * *', timezone },
      ];
      return schedules.some((schedule) => {
        const first = nextFiring(schedule, change.at * minuteMs - random(dayMinutes * minuteMs))!;
        const second = nextFiring(schedule, first)!;
        const between = first + random(second - first);
        return nextFiring(schedule, between) !== second || nextFiring(schedule, first - 1) !== first;
      });
    });
    expect(wrong).toEqual([]);
  });
});
