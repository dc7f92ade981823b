import { describe, it } from 'vitest';
import fc, { runsOf } from '../property.ts';
import { failing, hour, minute, remindMs, settleMs, Told } from './world.ts';

const jobs = ['a', 'b', 'c', 'd'];
const longestPause = 4 * hour;
/** Maximum number of a group's messages per day: after 0, 10, 30 and 90 minutes, then every four hours. */
const mostADay = 10;

/** The actual level of each failing job. */
type Truth = Map<string, 1 | 2>;

/** The state as known to someone who reads every message. */
class Reader {
  readonly believed = new Map<string, number>();
  read = 0;

  catchUp(told: Told): void {
    for (const { bulletin } of told.log.slice(this.read)) {
      for (const { subject, level } of bulletin.fresh) {
        if ((this.believed.get(subject) ?? 0) >= level) throw new Error(`${subject} was reported twice`);
        this.believed.set(subject, level);
      }
      for (const { subject } of bulletin.recovered) {
        if (!this.believed.delete(subject)) throw new Error(`the end of ${subject} was never reported`);
      }
      const open = bulletin.open.map(({ subject }) => subject);
      for (const subject of open)
        if (!this.believed.has(subject)) throw new Error(`${subject} is open but was never reported`);
    }
    this.read = told.log.length;
  }
}

function conditionsOf(truth: Truth) {
  return [...truth].map(([job, level]) => failing(job, { level }));
}

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('break' as const), job: fc.constantFrom(...jobs), level: fc.constantFrom(1, 2) }),
    fc.record({ kind: fc.constant('fix' as const), job: fc.constantFrom(...jobs) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 3 * hour }) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 2 * minute }) }),
    fc.record({
      kind: fc.constant('flap' as const),
      job: fc.constantFrom(...jobs),
      times: fc.integer({ min: 2, max: 60 }),
      ms: fc.integer({ min: 1000, max: 20 * minute }),
    }),
  ),
  { minLength: 1, maxLength: 120 },
);

describe('jobs that break and recover in any order', () => {
  it('are reported once and never too often, and the last messages match the real state', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const told = new Told();
        const reader = new Reader();
        const truth: Truth = new Map();
        for (const step of all) {
          if (step.kind === 'break') truth.set(step.job, step.level as 1 | 2);
          if (step.kind === 'fix') truth.delete(step.job);
          for (let n = 0; step.kind === 'flap' && n < step.times; n++) {
            if (n % 2 === 0) truth.set(step.job, 1);
            else truth.delete(step.job);
            told.after(step.ms, ...conditionsOf(truth));
            told.after(settleMs, ...conditionsOf(truth));
            reader.catchUp(told);
          }
          const bulletins = told.after(step.kind === 'wait' ? step.ms : 0, ...conditionsOf(truth));
          reader.catchUp(told);
          if (bulletins.length > 0 && told.look(...conditionsOf(truth)).length > 0)
            throw new Error('reported again immediately');
        }
        told.after(settleMs, ...conditionsOf(truth));
        told.after(longestPause, ...conditionsOf(truth));
        told.after(settleMs, ...conditionsOf(truth));
        reader.catchUp(told);
        const believed = [...reader.believed.keys()].sort().join();
        const real = [...truth.keys()]
          .map((job) => `job:${job}`)
          .sort()
          .join();
        if (believed !== real) throw new Error(`believed ${believed}, but it is ${real}`);
        const times = told.log.map(({ at }) => at);
        for (const from of times) {
          const within = times.filter((at) => at >= from && at < from + remindMs).length;
          if (within > mostADay) throw new Error(`${within} messages in a day`);
        }
      }),
      { numRuns: runsOf(1500) },
    );
  });
});
