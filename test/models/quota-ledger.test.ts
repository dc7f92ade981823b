import { afterEach, describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/delivery/answer.ts';
import type { GatedResult } from '../../src/delivery/gated-request.ts';
import { Gateway } from '../../src/delivery/gateway.ts';
import { decide, type RequestOutcome } from '../../src/delivery/retry.ts';
import type { SendGate } from '../../src/delivery/send-gate.ts';
import type { Priority } from '../../src/delivery/send-queue.ts';
import { SteppingClock } from '../clocks.ts';
import { destinationAt } from '../delivery/fixtures.ts';
import fc, { runsOf } from '../property.ts';
import { cleanUp, newFolder, newStore, Population } from '../state/fixtures.ts';

afterEach(cleanUp);

/**
 * The daily quota ledger under everything that can happen to it: several processes, users and schedules, slow
 * responses, crashes between the charge and the request, midnight in New York on days of 23, 24 and 25 hours, a wall
 * clock that jumps, and other programs on the same account. The model below uses no database and no processes.
 */

const slots = 5;
const second = 1000;
const hour = 3600 * second;

interface Model {
  readonly limit: number;
  readonly reserve: number;
  /**
   * For each day of our wall clock: charged requests, the observed usage of other programs, and what the service
   * reported.
   */
  readonly days: Map<string, { ours: number; others: number; closed?: { from: number; until: number } }>;
  /** The days on which each request in progress was charged. */
  readonly underway: (readonly string[])[];
  /** The same for requests whose process has died, until its death is noticed. */
  ghosts: (readonly string[])[];
}

interface Underway {
  readonly charged: readonly string[];
  readonly owner: Member;
  answer(): void;
  readonly done: Promise<GatedResult>;
}

interface Member {
  readonly name: string;
  readonly gate: SendGate;
  readonly reconcile: (day: string, reported: number) => Promise<unknown>;
}

interface Real {
  readonly clock: SteppingClock;
  /** How far the service's clock is ahead of ours. Changes with each jump of our clock. */
  skew: number;
  readonly underway: Underway[];
  readonly members: Member[];
  readonly people: Population;
  /** For each day of the service: what arrived from us, and from other programs. */
  readonly arrived: Map<string, { ours: number; others: number }>;
  readonly allowance: number;
  open(): Promise<Member>;
}

const eastern = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York', dateStyle: 'short' });
/** Calculated differently than in the product. */
const dayOf = (at: number): string => eastern.format(at);
const daysOf = (now: number, ahead = 0): string[] => [
  ...new Set([dayOf(now - 5 * second), dayOf(now + ahead + 5 * second)]),
];
/** A request may still arrive this long after its process has died. */
const travel = 30 * second;

/** The start of the next day in New York, found by bisection. */
function midnightAfter(at: number): number {
  let [before, after] = [at, at + 26 * hour];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dayOf(middle) === dayOf(at)) before = middle;
    else after = middle;
  }
  return after;
}

const dayIn = (model: Model, day: string) => {
  const known = model.days.get(day) ?? { ours: 0, others: 0 };
  model.days.set(day, known);
  return known;
};

function arrivals({ arrived, clock, skew }: Real) {
  const day = dayOf(clock.now() + skew);
  const known = arrived.get(day) ?? { ours: 0, others: 0 };
  arrived.set(day, known);
  return known;
}

/** Whether the model allows a request now. */
function isOpen(model: Model, priority: Priority, now: number): boolean {
  const most = priority === 'person' ? model.limit : model.limit - model.reserve;
  return daysOf(now).every((day) => {
    const { ours, others, closed } = dayIn(model, day);
    const isShut = closed !== undefined && closed.from <= now && now < closed.until;
    const late = model.underway.filter((paid) => !paid.includes(day)).length;
    return !isShut && ours + others + late < most;
  });
}

const answered = (status: number, code?: string, retryAfterMs?: number): RequestOutcome => ({
  answer: readAnswer(
    {
      status,
      headers: retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
      text: JSON.stringify({ meta: { success: status < 300, status, ...(code && { error_code: code }) }, data: {} }),
      complete: true,
    },
    0,
  ),
});

class Send implements fc.AsyncCommand<Model, Real> {
  readonly #which: number;
  readonly #priority: Priority;
  readonly #travel: number;

  constructor(which: number, priority: Priority, travel: number) {
    this.#which = which;
    this.#priority = priority;
    this.#travel = travel;
  }

  check = ({ underway }: Readonly<Model>) => underway.length < slots;
  toString = () => `send(${this.#which}, ${this.#priority}, ${this.#travel} ms)`;

  async run(model: Model, real: Real): Promise<void> {
    const member = real.members[this.#which % real.members.length]!;
    for (const paid of model.ghosts.splice(0)) {
      for (const day of daysOf(real.clock.now(), travel)) if (!paid.includes(day)) dayIn(model, day).ours++;
    }
    const sent = Promise.withResolvers<(outcome: RequestOutcome) => void>();
    const done = member.gate.send({
      method: 'PUT',
      path: '/',
      priority: this.#priority,
      prepare: async () => true,
      send: () => new Promise<RequestOutcome>((answer) => sent.resolve(answer)),
    });
    const first = await Promise.race([sent.promise, done]);
    // Waiting for a slot took time, and what counts is the time of the charge.
    const now = real.clock.now();
    if (typeof first !== 'function') {
      expect(first, 'refused').toMatchObject({ closed: { why: 'quota' } });
      expect(isOpen(model, this.#priority, now), 'refused although requests were left').toBe(false);
      return;
    }
    expect(isOpen(model, this.#priority, now), 'allowed although no requests were left').toBe(true);
    const charged = daysOf(now);
    for (const day of charged) dayIn(model, day).ours++;
    model.underway.push(charged);
    real.clock.advance(this.#travel);
    const there = arrivals(real);
    const isRefused = there.ours + there.others >= real.allowance;
    if (!isRefused) there.ours++;
    const theirs = real.clock.now() + real.skew;
    const left = Math.ceil((midnightAfter(theirs) - theirs) / second) * second;
    const outcome = isRefused ? answered(429, 'daily_limit_reached', left) : answered(200);
    real.underway.push({ charged, owner: member, done, answer: () => first(outcome) });
  }
}

class Answer implements fc.AsyncCommand<Model, Real> {
  readonly #which: number;

  constructor(which: number) {
    this.#which = which;
  }

  check = ({ underway }: Readonly<Model>) => underway.length > 0;
  toString = () => `answer(${this.#which})`;

  async run(model: Model, real: Real): Promise<void> {
    const [one] = real.underway.splice(this.#which % real.underway.length, 1);
    if (one === undefined) return;
    const now = real.clock.now();
    one.answer();
    const passed = await one.done;
    model.underway.splice(model.underway.indexOf(one.charged), 1);
    for (const day of daysOf(now)) if (!one.charged.includes(day)) dayIn(model, day).ours++;
    if (passed === 'idle' || 'closed' in passed) throw new Error('it was sent');
    const decision = decide(passed);
    await one.owner.gate.applyDecision(decision, 1);
    if (decision.action !== 'wait_for_day') return;
    const told = now + (decision.retryAfterMs ?? 0) + 5 * second;
    const own = midnightAfter(now - 5 * second) + 5 * second;
    dayIn(model, dayOf(now - 5 * second)).closed = { from: now, until: Math.min(told, own) };
  }
}

/** A process dies while it has requests in progress; another process replaces it. */
class Crash implements fc.AsyncCommand<Model, Real> {
  readonly #which: number;

  constructor(which: number) {
    this.#which = which;
  }

  check = () => true;
  toString = () => `crash(${this.#which})`;

  async run(model: Model, real: Real): Promise<void> {
    const at = this.#which % real.members.length;
    const member = real.members[at]!;
    real.people.dead.add(member.name);
    for (const one of real.underway.filter(({ owner }) => owner === member)) {
      real.underway.splice(real.underway.indexOf(one), 1);
      model.underway.splice(model.underway.indexOf(one.charged), 1);
      model.ghosts.push(one.charged);
    }
    real.members[at] = await real.open();
    // The dead process's slots rest from the time when its death is noticed.
    real.clock.advance(2 * second);
  }
}

class Pass implements fc.AsyncCommand<Model, Real> {
  readonly #by: number;
  readonly #from: 'now' | 'midnight';

  constructor(by: number, from: 'now' | 'midnight' = 'now') {
    this.#by = by;
    this.#from = from;
  }

  check = () => true;
  toString = () => `pass(${this.#by} ms from ${this.#from})`;

  async run(_: Model, { clock }: Real): Promise<void> {
    const from = this.#from === 'now' ? 0 : midnightAfter(clock.now()) - clock.now();
    clock.advance(Math.max(0, from + this.#by));
  }
}

class Others implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  toString = () => 'others()';

  async run(_: Model, real: Real): Promise<void> {
    const there = arrivals(real);
    if (there.ours + there.others < real.allowance) there.others++;
  }
}

class Reconcile implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  toString = () => 'reconcile()';

  async run(model: Model, real: Real): Promise<void> {
    const { ours, others } = arrivals(real);
    const day = dayOf(real.clock.now() + real.skew);
    await real.members[0]!.reconcile(day, ours + others);
    const known = dayIn(model, day);
    known.others = Math.max(known.others, ours + others - known.ours);
  }
}

class Jump implements fc.AsyncCommand<Model, Real> {
  readonly #by: number;

  constructor(by: number) {
    this.#by = by;
  }

  check = () => true;
  toString = () => `jump(${this.#by})`;

  async run(_: Model, real: Real): Promise<void> {
    real.clock.wall += this.#by;
    real.skew -= this.#by;
  }
}

const starts = ['2026-06-15T03:00Z', '2026-03-08T04:30Z', '2026-11-01T03:30Z'].map((text) => Date.parse(text));
const which = fc.nat(9);
const plain = [
  fc
    .tuple(which, fc.constantFrom<Priority>('person', 'schedule'), fc.nat(20 * second))
    .map(([one, priority, travel]) => new Send(one, priority, travel)),
  fc.tuple(which, fc.nat(5)).map(([one]) => new Send(one, 'schedule', 1)),
  which.map((one) => new Answer(one)),
  which.map((one) => new Answer(one)),
  which.map((one) => new Crash(one)),
  fc.oneof(fc.nat(15 * second), fc.nat(hour), fc.nat(25 * hour)).map((by) => new Pass(by)),
  fc.integer({ min: -30 * second, max: 10 * second }).map((by) => new Pass(by, 'midnight')),
];

interface Given {
  readonly start: number;
  readonly skew: number;
  readonly limit: number;
  readonly reserve: number;
  readonly allowance: number;
}

async function play(given: Given, commands: Iterable<fc.AsyncCommand<Model, Real>>) {
  const { start, skew, limit, reserve, allowance } = given;
  const clock = new SteppingClock(start);
  const folder = newFolder();
  const people = new Population();
  const destination = destinationAt('http://127.0.0.1:9', {
    requestsPerDay: limit,
    reserveRequests: reserve,
    requestsPerSecond: slots,
  });
  let opened = 0;
  const open = async (): Promise<Member> => {
    const name = `process-${++opened}`;
    const store = await newStore({ clock, folder, processes: people.member(name) });
    const gateway = new Gateway({ store, destinations: [destination], clock, emit: () => undefined });
    const reconcile = (day: string, reported: number) =>
      store.quota.reconcile(destination.account, day, { reported, allowance: undefined });
    return { name, gate: gateway.of(destination), reconcile };
  };
  const members = [await open(), await open()];
  const model: Model = { limit, reserve, days: new Map(), underway: [], ghosts: [] };
  const real: Real = { clock, skew, underway: [], members, people, arrived: new Map(), allowance, open };
  await fc.asyncModelRun(() => ({ model, real }), commands);
  for (const one of real.underway) one.answer();
  await Promise.all(real.underway.map(({ done }) => done));
  return { model, real };
}

const givenOf = (skew: fc.Arbitrary<number>, allowance: fc.Arbitrary<number>) =>
  fc.record({
    start: fc.constantFrom(...starts),
    skew,
    limit: fc.integer({ min: 1, max: 4 }),
    reserve: fc.nat(1),
    allowance,
  });

describe('the daily ledger', () => {
  it('always allows Sluice the full allowance on a service day, but never more', async () => {
    const given = givenOf(fc.integer({ min: -4_900, max: 4_900 }), fc.constant(1_000));
    await fc.assert(
      fc.asyncProperty(given, fc.commands(plain, { maxCommands: 40, size: 'max' }), async (one, commands) => {
        const { real } = await play(one, commands);
        for (const [day, { ours }] of real.arrived) expect(ours, day).toBeLessThanOrEqual(one.limit);
        await cleanUp();
      }),
      { numRuns: runsOf(40) },
    );
  });

  it('agrees with the model despite clock jumps, other programs on the account, and limits that the service reports', async () => {
    const given = givenOf(fc.integer({ min: -9 * hour, max: 9 * hour }), fc.integer({ min: 1, max: 8 }));
    const wild = [
      ...plain,
      fc.integer({ min: -30 * hour, max: 30 * hour }).map((by) => new Jump(by)),
      fc.integer({ min: -20 * second, max: 20 * second }).map((by) => new Jump(by)),
      fc.constant(new Others()),
      fc.constant(new Reconcile()),
    ];
    await fc.assert(
      fc.asyncProperty(given, fc.commands(wild, { maxCommands: 50, size: 'max' }), async (one, commands) => {
        const { real } = await play(one, commands);
        for (const [day, { ours, others }] of real.arrived)
          expect(ours + others, day).toBeLessThanOrEqual(one.allowance);
        await cleanUp();
      }),
      { numRuns: runsOf(40) },
    );
  });
});
