import type { Destination } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import { HttpAgent } from '../lib/http.ts';
import type { Problem } from '../lib/problem.ts';
import type { DayUse } from '../state/quota.ts';
import { maxTravelMs, type NoTicket, type Slots, type Ticket } from '../state/sends.ts';
import type { Parts, Store } from '../state/store.ts';
import type { Closed } from './closed.ts';
import type { DeliveryEvents } from './events.ts';
import type { Line, Priority } from './pacing.ts';
import { closing, daysOf, limitOf, resumeAfter } from './quota.ts';
import { backoffMs, type Decision, limitReached, type Outcome } from './retry.ts';
import { SlotReturns } from './slot-returns.ts';

export interface Passage<T> {
  readonly priority: Priority;
  /** Among requests of the same priority the higher goes first; 0 where nothing is said. */
  readonly rank?: number;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Ends the wait for a place; the request itself is `send`'s own affair. */
  readonly signal?: AbortSignal;
  /** Written down together with the place and the quota; undefined gives both back: there is nothing to send. */
  readonly prepare: (parts: Parts) => Promise<T | undefined>;
  /** Never rejects: what the network threw is an outcome too. */
  readonly send: (prepared: T) => Promise<Outcome>;
}

/** `idle`: `prepare` found nothing to send. */
export type Passed = Outcome | { readonly closed: Closed } | 'idle';

/** What lies between us and a destination: where it is not the real network, and not real luck, somebody hands it in. */
export interface Network {
  agentFor(destination: Destination): HttpAgent;
  /** From 0 to below 1, for pauses that must not coincide. */
  random(): number;
}

interface GateGiven {
  readonly destination: Destination;
  readonly network?: Network;
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<DeliveryEvents>;
  readonly line: Line;
}

/** Thrown to take back a place and its payment. */
class TurnedAway extends Error {
  readonly passed: { readonly closed: Closed } | 'idle';

  constructor(passed: { readonly closed: Closed } | 'idle') {
    super('turned away');
    this.passed = passed;
  }
}

interface Taken<T> {
  readonly ticket: Ticket;
  readonly prepared: T;
}

type Limits = (use: DayUse, day: string) => number;

/** `maxStartMs` of the send slots rests on it. */
const connectTimeoutMs = 10_000;

const realNetwork: Network = {
  agentFor: ({ timeoutMs }) =>
    new HttpAgent({ connectTimeoutMs: Math.min(connectTimeoutMs, timeoutMs), lingerMs: maxTravelMs }),
  random: Math.random,
};

/** The one way to a destination: every request of every kind passes here, is paced here and paid for here. */
export class Gate {
  readonly destination: Destination;
  readonly agent: HttpAgent;
  readonly #given: GateGiven;
  readonly #network: Network;
  #login: Problem | undefined;
  #spentUntil: number | undefined;
  /** 429s in a row: the longer it goes on, the longer the pauses. */
  #pauses = 0;
  /** As long as nobody is there: how often in a row that was so, and until when (monotonic ms) nothing else is sent. */
  #away: { readonly times: number; readonly until: number; readonly problem: Problem } | undefined;

  readonly #returns: SlotReturns;

  constructor(given: GateGiven) {
    this.#given = given;
    this.destination = given.destination;
    this.#network = given.network ?? realNetwork;
    this.#returns = new SlotReturns(given);
    this.agent = this.#network.agentFor(given.destination);
  }

  /**
   * Waits for a place, pays, sends. Place, payment and `prepare` are one transaction that is on the disk before the
   * request begins. Resolves to `closed` or `idle` where nothing was sent and nothing paid; rejects when aborted.
   */
  async pass<T>(passage: Passage<T>): Promise<Passed> {
    const { line, emit, clock } = this.#given;
    const { method, path, priority, rank = 0, signal } = passage;
    // A place in the line is for now: nothing may stand between it and the request.
    await this.agent.dispatcher();
    const asked = clock.monotonic();
    try {
      const taken = await line.enter(() => this.#take(passage), { priority, rank, ...(signal ? { signal } : {}) });
      const milliseconds = clock.monotonic() - asked;
      emit('request.sent', { account: this.destination.account, method, path, milliseconds });
      return await this.#send(passage, taken);
    } catch (error) {
      if (!(error instanceof TurnedAway)) throw error;
      // What the dead left behind is written down, though what found it was taken back.
      await this.#look(this.#given.store);
      return error.passed;
    }
  }

  /** Why nothing can be sent now; undefined when something can. */
  async closed(priority: Priority): Promise<Closed | undefined> {
    const { store, clock } = this.#given;
    const { account, requestsPerSecond } = this.destination;
    const days = daysOf(clock.now());
    const slots = await this.#look(store);
    const { heldUntil } = await store.accounts.look(account, requestsPerSecond);
    const closed = this.#shut(heldUntil) ?? (await this.#spentIn(store, days, this.#limits(slots, priority)));
    if (closed?.why === 'quota') this.#saySpent(closed.until);
    return closed;
  }

  /**
   * Writes down what a decision means for everybody who sends to this account. Returns the wait before the next
   * attempt in milliseconds, where there is to be one.
   */
  async heed(decision: Decision, attempts: number): Promise<number> {
    const { action, problem, retryAfterMs } = decision;
    this.#pauses = action === 'pause' ? this.#pauses + 1 : 0;
    if (action === 'login' && problem !== undefined) this.#refuse(problem);
    if (action === 'pause') await this.#slow();
    if (action === 'wait_for_day') await this.#closeDay(retryAfterMs);
    if (action === 'away' && problem !== undefined) return this.#stayAway(problem);
    this.#away = undefined;
    if (action !== 'pause' && action !== 'retry') return 0;
    const waitMs = backoffMs(action === 'pause' ? this.#pauses : attempts, retryAfterMs, this.#network.random);
    if (action === 'pause' || retryAfterMs !== undefined) await this.#hold(waitMs);
    return waitMs;
  }

  /** The credentials are worth another try: they changed, or a new run has come. */
  forgive(): void {
    this.#login = undefined;
  }

  async close(): Promise<void> {
    await this.agent.destroy();
    await this.#returns.settled();
  }

  #take<T>({ priority, prepare }: Passage<T>): Promise<Taken<T> | NoTicket> {
    const { account, requestsPerSecond } = this.destination;
    const { store, clock } = this.#given;
    return store.transaction(async (parts) => {
      const days = daysOf(clock.now());
      const slots = await this.#look(parts);
      const { heldUntil, pace } = await parts.accounts.look(account, requestsPerSecond);
      this.#turnAwayIf(this.#shut(heldUntil));
      const ticket = await parts.sends.takeOf(slots, { account, perSecond: pace, days });
      if (!('ticket' in ticket)) return ticket;
      const limits = this.#limits(slots, priority);
      const spent = await parts.quota.take(account, days, limits);
      if (spent !== undefined) this.#turnAwayIf(await this.#spentIn(parts, [spent], limits));
      const prepared = await prepare(parts);
      if (prepared === undefined) throw new TurnedAway('idle');
      // One goes ahead and sees whether somebody is there again.
      if (this.#away !== undefined) this.#away = { ...this.#away, until: clock.monotonic() + connectTimeoutMs };
      this.#sayTurned();
      return { ticket, prepared };
    });
  }

  async #send<T>({ method, path, send }: Passage<T>, { ticket, prepared }: Taken<T>): Promise<Outcome> {
    const { clock, emit } = this.#given;
    const began = clock.monotonic();
    const outcome = await send(prepared).catch((error: unknown) => ({ error }));
    await this.#returns.giveBack(ticket, 'error' in outcome ? this.agent.closing() : undefined);
    const milliseconds = clock.monotonic() - began;
    const answered = 'answer' in outcome ? { status: outcome.answer.status } : {};
    const limit = 'answer' in outcome ? limitReached(outcome.answer) : undefined;
    const reached = limit === undefined ? {} : { limit };
    emit('request.answered', {
      account: this.destination.account,
      method,
      path,
      milliseconds,
      ...answered,
      ...reached,
    });
    return outcome;
  }

  #look({ sends }: Pick<Parts, 'sends'>): Promise<Slots> {
    return sends.look(this.destination.account, daysOf(this.#given.clock.now(), maxTravelMs));
  }

  /** Why nothing can go, whatever is left of the day; `heldUntil`: what is known of the account. */
  #shut(heldUntil: number | undefined): Closed | undefined {
    if (this.#login !== undefined) return { why: 'login', problem: this.#login };
    const { clock } = this.#given;
    const awayMs = (this.#away?.until ?? 0) - clock.monotonic();
    if (this.#away !== undefined && awayMs > 0) {
      return { why: 'away', until: clock.now() + awayMs, problem: this.#away.problem };
    }
    return heldUntil === undefined ? undefined : { why: 'held', until: heldUntil };
  }

  async #spentIn(
    { quota }: Pick<Parts, 'quota'>,
    days: readonly string[],
    limits: Limits,
  ): Promise<Closed | undefined> {
    for (const day of days) {
      const use = await quota.use(this.destination.account, day);
      if (use.spentUntil !== undefined) return { why: 'quota', until: use.spentUntil };
      if (use.used >= limits(use, day)) return { why: 'quota', until: resumeAfter(day) };
    }
    return undefined;
  }

  /** What may be used of a day. A request that was sent before the day turned may arrive after it: it counts on both. */
  #limits(slots: Slots, priority: Priority): Limits {
    return (use, day) => limitOf(this.destination, priority, use) - slots.underway(day);
  }

  #turnAwayIf(closed: Closed | undefined): void {
    if (closed === undefined) return;
    if (closed.why === 'quota') this.#saySpent(closed.until);
    throw new TurnedAway({ closed });
  }

  /** The longer nobody is there, the longer it is until the next look. Those who failed together look together. */
  #stayAway(problem: Problem): number {
    const now = this.#given.clock.monotonic();
    const times = (this.#away?.times ?? 0) + 1;
    const waitMs = backoffMs(times, 0, this.#network.random);
    this.#away = { times, until: now + waitMs, problem };
    return waitMs;
  }

  #refuse(problem: Problem): void {
    this.#login = problem;
    const { code, message } = problem;
    this.#given.emit('login.refused', { ...this.#names(), code, message });
  }

  async #closeDay(retryAfterMs: number | undefined): Promise<void> {
    const { store, clock } = this.#given;
    const { day, until } = closing(clock.now(), retryAfterMs);
    await store.quota.close(this.destination.account, day, until);
    this.#saySpent(until);
  }

  /** Others are on the account as well: room is made for them. */
  async #slow(): Promise<void> {
    const { account, requestsPerSecond } = this.destination;
    const perSecond = await this.#given.store.accounts.slow(account, requestsPerSecond);
    if (perSecond !== undefined) this.#given.emit('account.slowed', { ...this.#names(), per_second: perSecond });
  }

  async #hold(waitMs: number): Promise<void> {
    const { store, clock, emit } = this.#given;
    await store.accounts.hold(this.destination.account, waitMs);
    emit('account.held', { ...this.#names(), until: clock.now() + waitMs, refusals: this.#pauses });
  }

  #saySpent(until: number): void {
    if (this.#spentUntil === until) return;
    this.#spentUntil = until;
    this.#given.emit('quota.spent', { ...this.#names(), until });
  }

  #sayTurned(): void {
    if (this.#spentUntil === undefined || this.#given.clock.now() < this.#spentUntil) return;
    this.#spentUntil = undefined;
    this.#given.emit('quota.turned', this.#names());
  }

  #names() {
    return { account: this.destination.account, destination: this.destination.name };
  }
}
