import { expect, it } from 'vitest';
import { addressOf } from '../../../src/delivery/address.ts';
import { rollback } from '../../../src/delivery/decide.ts';
import { nextFiring, type Schedule, scheduleKey } from '../../../src/schedule/schedule.ts';
import type { RunRow } from '../../../src/state/tables.ts';
import fc, { runsOf } from '../../property.ts';
import type { Event } from '../rig.ts';
import { type Away, hour, type Life, minute, noon, openWorld, second, usual } from './world.ts';

const span = 5 * hour;
const at = fc.integer({ min: 0, max: span / second }).map((seconds) => noon + seconds * second);

const outage = fc.record({ from: at, ms: fc.integer({ min: 2, max: 100 * 60 }).map((seconds) => seconds * second) });

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant('restart'), at, offMs: fc.constantFrom(0, 30_000, 40 * minute) }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constantFrom('reload', 'change'), at, offMs: fc.constant(0) }) },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constantFrom('hold', 'rollback'), at, offMs: fc.constantFrom(minute, hour) }),
  },
);

/**
 * What a firing does to a running attempt. Only attempts that a firing cancels may be slow, because other slow attempts
 * would prevent firings.
 */
const overlap = fc.oneof(
  fc.constant({ overlap: 'skip', takesMs: second } as const),
  fc.record({ overlap: fc.constant('cancel_other' as const), takesMs: fc.constantFrom(second, 25 * minute) }),
);

const history = fc.record({
  outages: fc.array(outage, { minLength: 1, maxLength: 5 }),
  steps: fc.array(step, { maxLength: 5 }),
  crons: fc.array(fc.constantFrom('0 * * * *', '*/20 * * * *', '30 12 * * *', '7 12,15 * * *'), {
    minLength: 1,
    maxLength: 3,
  }),
  attempts: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
  overlap,
  misfire: fc.constantFrom('run_once', 'skip', 'run_all'),
  /** With few of them, some firings are skipped. */
  requestsPerDay: fc.constantFrom(1000, 12),
});

type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

interface Seen {
  readonly heard: readonly Event[];
  readonly runs: readonly RunRow[];
  readonly away: Away;
  /** Periods, from start to end, in which nothing ran or the job was on hold. */
  readonly off: readonly (readonly [number, number])[];
  readonly schedules: readonly Schedule[];
  /** The duration of an attempt. */
  readonly takesMs: number;
  /** The maximum number of attempts; undefined: no limit. */
  readonly cap: number | undefined;
  /** Times after which a wait may be shorter than the retry rule says. */
  readonly hurried: readonly number[];
}

const ann = { who: 'ann', why: 'rollback' };

/**
 * Restores an earlier payload of a job, which puts the job on hold. Returns false if there is none, or if a run of the
 * job is active.
 */
async function rollBack({ runtime: { store, gateway }, daemon }: Life, name: string): Promise<boolean> {
  const job = daemon.config.jobs.get(name)!;
  const [former] = await store.goodPayloads.former({ url: job.destination.url, ...(await addressOf(store, job)) });
  if (former === undefined || (await store.leases.holder(`job:${name}`)) !== undefined) return false;
  await rollback(gateway, former, { job: name, by: ann });
  return true;
}

async function play(given: History): Promise<Seen> {
  const { outages, steps, crons, attempts, misfire, requestsPerDay } = given;
  const { overlap, takesMs } = given.overlap;
  const { clock, away, job, configWith, live, pass, destination } = await openWorld(noon - second);
  away.takesMs = takesMs;
  away.fault = (now) => (outages.some(({ from, ms }) => now >= from && now < from + ms) ? {} : undefined);
  const retry = attempts === undefined ? usual : { ...usual, attempts };
  const schedules = crons.map((cron): Schedule => ({ cron, timezone: 'UTC', overlap, misfire: { policy: misfire } }));
  const short = { ...destination, requestsPerDay, whenShort: 'throttle' } as const;
  const jobs = schedules.map((schedule, n) => job({ name: `job${n}`, n, schedule, retry, destination: short }));
  const keep = { payloads: 3, milliseconds: 24 * hour };
  let config = { ...configWith(...jobs), keep };
  const heard: Event[] = [];
  const off: [number, number][] = [];
  const hurried: number[] = [];
  let life: Life = await live(config, { durable: true });
  const end = async (): Promise<void> => {
    await life.stop();
    heard.push(...life.heard);
  };
  for (const one of steps.toSorted((a, b) => a.at - b.at)) {
    if (one.at > clock.now()) await pass(one.at - clock.now());
    const since = clock.now();
    if (one.what === 'restart') {
      await end();
      if (one.offMs > 0) await pass(one.offMs);
      life = await live(config, { durable: true });
    } else if (one.what === 'hold' || one.what === 'rollback') {
      if (one.what === 'hold') await life.runtime.store.holds.set('job0', ann);
      else if (!(await rollBack(life, 'job0'))) continue;
      expect(await life.runtime.store.retries.find('job0')).toBeUndefined();
      await pass(one.offMs);
      await life.runtime.store.holds.release('job0', ann);
      off.push([since, clock.now()]);
    } else {
      const stallTimeoutMs = one.what === 'change' ? clock.now() : 0;
      const changed = jobs.map((each) => ({ ...each, extract: { ...each.extract!, stallTimeoutMs } }));
      config = { ...configWith(...changed), keep };
      await clock.drive(life.daemon.adopt(config));
    }
    hurried.push(since, clock.now());
  }
  await pass(Math.max(0, noon + span - clock.now()) + 20 * second);
  const { store } = life.runtime;
  // A rollback has a row in the runs.
  const runs = (await store.runs.history({ limit: 10_000 })).filter(({ origin }) => origin === 'schedule');
  const rows = await store.retries.all();
  // Every waiting retry is a row, and every row is a waiting retry.
  const waiting = runs.filter(({ state }) => state === 'retrying').map(({ id }) => id);
  const running = runs.filter(({ state }) => state === 'running').map(({ id }) => id);
  expect(
    rows
      .map(({ run }) => run)
      .filter((id) => !running.includes(id))
      .toSorted(),
  ).toEqual(waiting.toSorted());
  // If the source and everything else have been available for longer than the longest wait, everything must have caught
  // up.
  const quietSince = Math.max(...outages.map(({ from, ms }) => from + ms), ...hurried);
  if (clock.now() - quietSince > 11 * minute + 2 * takesMs)
    expect(rows.filter(({ run }) => !running.includes(run))).toEqual([]);
  await end();
  return { heard, runs, away, off, hurried, schedules, takesMs, cap: attempts };
}

const timeOf = ({ facts }: Event): number => facts.clock as number;

function hold({ heard, runs, off, hurried, schedules, takesMs, away, cap }: Seen): void {
  const of = (name: string, run: string) => heard.filter((one) => one.name === name && one.facts.run === run);
  // Only one probe runs at a time, or one firing of each job.
  expect(away.source.most).toBeLessThanOrEqual(schedules.length);
  for (const run of runs) {
    const schedule = schedules[Number(run.job.slice('job'.length))]!;
    const started = of('run.started', run.id);
    const failed = of('run.retrying', run.id);
    const finished = of('run.finished', run.id).filter(({ facts }) => facts.outcome !== 'stopped');
    // A run ends once, and the event for its end matches the history.
    const isOver = !['running', 'retrying', 'interrupted'].includes(run.state);
    expect(finished.length, `${run.id} ${run.state}`).toBe(isOver ? 1 : 0);
    expect(of('payload.owed', run.id).length).toBeLessThanOrEqual(1);
    // A firing that has started isn't skipped, and neither are its attempts. A skipped firing may start after a
    // restart, which catches up on what was interrupted.
    const passedOver = heard.filter(({ name, facts }) => name === 'firing.throttled' && facts.job === run.job);
    const isAfterStart = (one: Event): boolean => timeOf(one) >= timeOf(started[0]!);
    expect(passedOver.filter((one) => one.facts.at === run.fired_at && isAfterStart(one))).toEqual([]);
    // The next firing wins unless it's skipped: no attempt of an older firing starts at that time or later.
    const skipped = heard.filter(({ name, facts }) => name === 'firing.skipped' && facts.job === run.job);
    const overlapped = skipped.filter(({ facts }) => facts.reason === 'the previous run of this job is still running');
    const isPassedOver = (at: number) => [...passedOver, ...overlapped].some(({ facts }) => facts.at === at);
    let next = nextFiring(schedule, timeOf(started[0]!))!;
    while (isPassedOver(next)) next = nextFiring(schedule, next)!;
    for (const attempt of started.slice(1))
      expect(timeOf(attempt), `${run.id} of ${scheduleKey(schedule)}`).toBeLessThan(next);
    // If nothing else has ended it, a run is given up no earlier than one wait before the next firing. Another job may
    // have probed the source in its place.
    const last = heard
      .filter((one) => one.name === 'run.started' && timeOf(one) <= run.ended_at!)
      .map(timeOf)
      .at(-1)!;
    const isLeft = hurried.every((one) => one < timeOf(started.at(-1)!) || one > next);
    if (
      run.state === 'failed' &&
      isLeft &&
      passedOver.length === 0 &&
      started.length < (cap ?? Number.POSITIVE_INFINITY)
    ) {
      expect(next - last, `${run.id} of ${scheduleKey(schedule)}`).toBeLessThanOrEqual(10 * minute + takesMs + second);
    }
    // Nothing starts while the job is on hold.
    if (run.job === 'job0') {
      for (const [from, until] of off) {
        expect(started.filter((one) => timeOf(one) > from && timeOf(one) < until)).toEqual([]);
      }
    }
    // Each wait is at least half of the first one, unless something shortened it.
    for (const [i, attempt] of started.slice(1).entries()) {
      const before = failed.findLast((one) => timeOf(one) <= timeOf(attempt));
      if (before === undefined || i < 0) continue;
      const waited = timeOf(attempt) - timeOf(before);
      const isHurried =
        hurried.some((one) => one >= timeOf(before) && one <= timeOf(attempt)) ||
        heard.some(
          (one) => one.name === 'payload.spooled' && timeOf(one) >= timeOf(before) && timeOf(one) <= timeOf(attempt),
        );
      if (!isHurried) expect(waited).toBeGreaterThanOrEqual(15 * second);
    }
  }
  expectInOrder(runs, of);
}

/** Each run of a job starts for a later firing than the previous run, unless it repeats an interrupted run. */
function expectInOrder(runs: readonly RunRow[], of: (name: string, run: string) => readonly Event[]): void {
  for (const all of Map.groupBy(runs, ({ job }) => job).values()) {
    const begun = all.toSorted((a, b) => timeOf(of('run.started', a.id)[0]!) - timeOf(of('run.started', b.id)[0]!));
    for (const [i, run] of begun.slice(1).entries()) {
      expect(run.fired_at).toBeGreaterThanOrEqual(begun[i]!.fired_at!);
    }
  }
}

/**
 * The run of a missed firing fails after the next regular firing was due. The missed firings that wait for it run
 * before its next attempt.
 */
const missed: History = {
  outages: [{ from: noon + 5 * minute, ms: hour + minute }],
  steps: [{ what: 'restart', at: noon, offMs: 40 * minute }],
  crons: ['*/20 * * * *'],
  attempts: undefined,
  overlap: { overlap: 'cancel_other', takesMs: 25 * minute },
  misfire: 'run_all',
  requestsPerDay: 1000,
};

/** A firing that is due during an attempt is skipped, so it ends no attempts. */
const overlapped: History = {
  outages: [
    { from: noon, ms: 2 * second },
    { from: noon + 30 * minute + 2 * second, ms: 2999 * second },
  ],
  steps: [],
  crons: ['30 12 * * *', '7 12,15 * * *', '*/20 * * * *'],
  attempts: undefined,
  overlap: { overlap: 'skip', takesMs: second },
  misfire: 'run_once',
  requestsPerDay: 1000,
};

/** An attempt that waits for a slow probe of its source wasn't missed. */
const behindProbe: History = {
  outages: [{ from: noon, ms: 32 * minute + second }],
  steps: [],
  crons: ['7 12,15 * * *', '0 * * * *'],
  attempts: undefined,
  overlap: { overlap: 'cancel_other', takesMs: 25 * minute },
  misfire: 'skip',
  requestsPerDay: 1000,
};

/** Missed firings that are skipped one by one for lack of requests while an earlier one's attempt is waiting. */
const shortDay: History = {
  outages: [
    { from: 1795440701000, ms: 4969 * second },
    { from: 1795446997000, ms: 4459 * second },
    { from: 1795444502000, ms: 3569 * second },
  ],
  steps: [{ what: 'restart', at: 1795441261000, offMs: 40 * minute }],
  crons: ['*/20 * * * *', '30 12 * * *'],
  attempts: 5,
  overlap: { overlap: 'skip', takesMs: second },
  misfire: 'run_all',
  requestsPerDay: 12,
};

it('every retry rule holds during random outages, firings, restarts, reloads and holds', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (given) => hold(await play(given))),
    {
      numRuns: runsOf(12),
      examples: [[missed], [overlapped], [behindProbe], [shortDay]],
      // A history that hangs is reported without being shrunk, because the runner would give up before that and show no
      // seed.
      timeout: 120_000,
      endOnFailure: true,
    },
  );
});
