import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Schedule } from '../../src/schedule/schedule.ts';
import { SteppingClock } from '../clocks.ts';
import fc, { runsOf } from '../property.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';
import { Life, Real } from './scheduler-life.ts';
import { Model, text } from './scheduler-model.ts';

/**
 * The real scheduler with its timer, queue and store, on a clock that the test advances, next to a model of what it
 * must do. Promises that the test holds represent runs.
 */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.parse('2026-03-28T20:07:00Z');

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(async () => {
  vi.useRealTimers();
  await cleanUp();
});

type Step = fc.AsyncCommand<Model, Real>;

abstract class Command implements Step {
  check(): boolean {
    return true;
  }

  abstract act(model: Model, real: Real): Promise<void>;
  abstract toString(): string;

  async run(model: Model, real: Real): Promise<void> {
    await this.act(model, real);
    await compare(model, real);
  }
}

/**
 * The model and the scheduler have seen the same, job by job: the same runs are active, the same firings are planned,
 * and the same is on disk.
 */
async function compare(model: Model, real: Real): Promise<void> {
  await real.rest();
  const { clock, store, seen, faults, life } = real;
  model.settle(clock.now());
  expect(faults).toEqual([]);
  for (const name of names) {
    const of = (all: readonly string[]) => all.filter((one) => one.startsWith(`${name} `));
    expect(of(seen)).toEqual(of(model.seen));
  }
  const running = [...model.standing].filter(([, { state }]) => state === 'running').map(([name]) => name);
  expect(life.running()).toEqual(running.sort());
  const planned = [...model.planned]
    .filter(([, { next }]) => next !== null)
    .map(([name, { next }]) => `${name} ${text(next!)}`);
  expect(life.next().sort()).toEqual(planned.sort());
  const rows = (await store.schedules.all()).map((row) => [row.job, row.schedule, text(row.next_at)].join(' '));
  expect(rows.sort()).toEqual([...model.kept].map(([name, { key, at }]) => [name, key, text(at)].join(' ')).sort());
}

const names = ['a', 'b', 'c', 'd'] as const;

/** Time passes, and no firing that is due is missed. */
class Advance extends Command {
  readonly milliseconds: number;
  constructor(milliseconds: number) {
    super();
    this.milliseconds = milliseconds;
  }

  async act(model: Model, real: Real): Promise<void> {
    const { clock } = real;
    const until = clock.now() + this.milliseconds;
    while (clock.now() < until) {
      const to = Math.min(until, Math.max(model.nextLook(), clock.now() + 1000));
      clock.advance(to - clock.now());
      real.life.look();
      model.look(clock.now());
      await real.rest();
      model.settle(clock.now());
    }
  }

  toString = () => `advance ${this.milliseconds / minute} min`;
}

/** Only the wall clock moves: the machine was suspended, or the clock was set. */
class Jump extends Command {
  readonly milliseconds: number;
  constructor(milliseconds: number) {
    super();
    this.milliseconds = milliseconds;
  }

  async act(model: Model, real: Real): Promise<void> {
    real.clock.wall += this.milliseconds;
    real.life.compareClocks();
    model.jump(real.clock.now());
    model.look(real.clock.now());
  }

  toString = () => `jump ${this.milliseconds / minute} min`;
}

class Finish extends Command {
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
  }

  async act(model: Model, real: Real): Promise<void> {
    real.life.finish(this.name);
    model.finish(this.name, real.clock.now());
  }

  toString = () => `finish ${this.name}`;
}

/** The process ends, gracefully or not, and another one starts later. */
class Restart extends Command {
  readonly way: 'crash' | 'stop';
  readonly away: number;
  constructor(way: 'crash' | 'stop', away: number) {
    super();
    this.way = way;
    this.away = away;
  }

  async act(model: Model, real: Real): Promise<void> {
    await real.life[this.way]();
    model[this.way]();
    real.clock.advance(this.away);
    real.life = new Life(real);
    await real.life.start();
    model.start(real.schedules, real.clock.now());
  }

  toString = () => `${this.way}, ${this.away / minute} min away`;
}

/** A job is edited, added or removed, several times in a row. */
class Reload extends Command {
  readonly edits: readonly (readonly [string, Schedule | undefined])[];
  constructor(edits: readonly (readonly [string, Schedule | undefined])[]) {
    super();
    this.edits = edits;
  }

  async act(model: Model, real: Real): Promise<void> {
    for (const [name, schedule] of this.edits) {
      if (schedule === undefined) real.schedules.delete(name);
      else real.schedules.set(name, schedule);
      await real.life.reload();
      model.adopt(real.schedules, real.clock.now());
      model.look(real.clock.now());
      await real.rest();
      model.settle(real.clock.now());
    }
  }

  toString = () => `reload ${this.edits.map(([name, schedule]) => `${name}: ${JSON.stringify(schedule)}`).join(', ')}`;
}

const misfire = fc.constantFrom(
  undefined,
  { policy: 'skip' } as const,
  { policy: 'run_once' } as const,
  { policy: 'run_once', withinMs: 2 * hour } as const,
  { policy: 'run_all', withinMs: 2 * hour, atMost: 24 } as const,
  { policy: 'run_all', withinMs: 12 * hour, atMost: 24 } as const,
  { policy: 'run_all', withinMs: day, atMost: 3 } as const,
);
const overlap = fc.constantFrom(undefined, 'skip' as const, 'buffer_one' as const, 'cancel_other' as const);
const timezone = 'Europe/Berlin';
const times = fc.constantFrom(
  { cron: '*/20 * * * *', timezone },
  { cron: '30 2 * * *', timezone },
  { every: 50 * minute, from: 7 * minute, timezone },
  { every: 13 * hour, from: 0, timezone },
  { at: ['02:30', '06:00', '18:30'], timezone },
);
const schedule: fc.Arbitrary<Schedule> = fc
  .record({ times, misfire, overlap, offset: fc.constantFrom(undefined, 90_000) })
  .map(({ times: when, ...rules }) => {
    const said = Object.entries(rules).filter(([, rule]) => rule !== undefined);
    return { ...when, ...Object.fromEntries(said) } as Schedule;
  });
const edit = fc.tuple(fc.constantFrom(...names), fc.option(schedule, { nil: undefined, freq: 4 }));

const steps: fc.Arbitrary<Step>[] = [
  fc.integer({ min: 1, max: 240 }).map((minutes) => new Advance(minutes * minute)),
  fc.constantFrom(...names).map((name) => new Finish(name)),
  fc.constantFrom(...names).map((name) => new Finish(name)),
  fc.constantFrom(10 * minute, 5 * hour, day, 3 * day, -10 * minute, -5 * hour, -day).map((by) => new Jump(by)),
  fc
    .record({ way: fc.constantFrom('crash' as const, 'stop' as const), away: fc.integer({ min: 0, max: 600 }) })
    .map(({ way, away }) => new Restart(way, away * minute)),
  fc.array(edit, { minLength: 1, maxLength: 4 }).map((edits) => new Reload(edits)),
];

describe('the scheduler', () => {
  /** Applies the same steps to the model and the scheduler. */
  async function takeSteps(given: Iterable<readonly [string, Schedule]>, commands: Iterable<Step>): Promise<void> {
    const clock = new SteppingClock(start);
    const store = await newStore({ clock, durable: false });
    const schedules = new Map(given);
    const setup = async () => {
      const [model, real] = [new Model(), new Real(store, clock, schedules)];
      await real.life.start();
      model.start(schedules, clock.now());
      return { model, real };
    };
    await fc.asyncModelRun(setup, commands);
    await store.close();
  }

  it('behaves like its model in any sequence of events', async () => {
    const first = fc.array(fc.tuple(fc.constantFrom(...names), schedule), { minLength: 2, maxLength: 4 });
    await fc.assert(fc.asyncProperty(first, fc.commands(steps, { maxCommands: 40 }), takeSteps), {
      numRuns: runsOf(60),
      endOnFailure: false,
    });
  });

  // The interrupted run belongs to tomorrow's date. Firings that are due today must not be lost along with it.
  it('resumes from the earlier firing if the clock was set back during a run interrupted by a shutdown', async () => {
    await takeSteps(
      [['a', { cron: '*/20 * * * *', timezone }]],
      [new Advance(13 * minute), new Jump(-day), new Restart('stop', 20 * minute), new Advance(30 * minute)],
    );
  });

  // The clock was set back, so 20:40 is due twice: the first firing waits, the second is skipped.
  it.each([
    ['by hours', [new Advance(169 * minute), new Jump(-5 * hour), new Advance(164 * minute)]],
    ['by a day', [new Restart('crash', 13 * minute), new Jump(day), new Jump(-day), new Jump(day)]],
  ])(
    'keeps a waiting firing if another one for the same instant is skipped after the clock was set back %s',
    async (_, commands) => {
      await takeSteps([['a', { cron: '*/20 * * * *', timezone, overlap: 'buffer_one' }]], commands);
    },
  );
});
