import type { Destination } from '../config/config.ts';
import { type Clock, localOf } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import { HttpAgent } from '../lib/http.ts';
import type { Problem } from '../lib/problem.ts';
import { accountLock } from '../state/engine/lock-keys.ts';
import type { NoFreeSlot, SlotTicket } from '../state/quota/send-slots.ts';
import { maxTravelMs } from '../state/quota/slot-rest.ts';
import type { SlotSnapshot } from '../state/quota/slot-snapshot.ts';
import type { Repositories, Store } from '../state/store.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { Closed } from './closed.ts';
import { DailyAllowance } from './daily-allowance.ts';
import { DestinationLogin } from './destination-login.ts';
import type { DeliveryEvents } from './events.ts';
import type { GatedRequest, GatedResult } from './gated-request.ts';
import { daysOf } from './quota.ts';
import { backoffMs, type Decision, limitReached, notSent, pauseMs, type RequestOutcome } from './retry.ts';
import type { Priority, SendQueue } from './send-queue.ts';
import { SlotLead } from './slot-lead.ts';
import { SlotReturns } from './slot-returns.ts';

/** A gate's network and source of randomness; tests and the simulation inject their own. */
export interface Network {
  agentFor(destination: Destination): HttpAgent;
  /** Returns a number from 0 to below 1, for jitter. */
  random(): number;
}

interface SendGateOptions {
  readonly destination: Destination;
  readonly network?: Network;
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<DeliveryEvents>;
  readonly line: SendQueue;
}

/** Thrown to roll back a taken slot and the request's count. */
class Rejected extends Error {
  readonly result: { readonly closed: Closed } | 'idle';

  constructor(passed: { readonly closed: Closed } | 'idle') {
    super('turned away');
    this.result = passed;
  }
}

interface Taken<T> {
  readonly ticket: SlotTicket;
  /** When the slot was taken, in monotonic milliseconds of this machine, because the state's clock can be set. */
  readonly at: number;
  readonly prepared: T;
}

/**
 * The longest time between taking a slot and sending the request's first byte, in milliseconds. If the process was
 * stopped for longer, or connecting took longer, processes on other machines may soon consider it dead and its slot
 * free, so the request isn't sent.
 */
const maxPauseMs = 10_000;

/** The send slots' `maxStartMs` depends on this timeout. */
const connectTimeoutMs = 10_000;

const realNetwork: Network = {
  agentFor: ({ timeoutMs }) =>
    new HttpAgent({ connectTimeoutMs: Math.min(connectTimeoutMs, timeoutMs), lingerMs: maxTravelMs }),
  random: Math.random,
};

/** A destination's gate, which rate-limits and counts every request to it. */
export class SendGate {
  readonly destination: Destination;
  readonly agent: HttpAgent;
  readonly login: DestinationLogin;
  readonly #options: SendGateOptions;
  readonly #network: Network;
  /** Consecutive 429s. */
  #pauses = 0;
  readonly #breaker: CircuitBreaker;
  readonly #allowance: DailyAllowance;
  readonly #returns: SlotReturns;
  readonly #lead = new SlotLead();

  constructor(given: SendGateOptions) {
    this.#options = given;
    this.destination = given.destination;
    this.#network = given.network ?? realNetwork;
    this.#breaker = new CircuitBreaker({ clock: given.clock, random: this.#network.random });
    this.#allowance = new DailyAllowance(given);
    this.login = new DestinationLogin(given.destination);
    this.#returns = new SlotReturns(given);
    this.agent = this.#network.agentFor(given.destination);
  }

  /**
   * Waits for a slot, counts the request and sends it. Taking the slot, counting the request and calling `prepare` are
   * one transaction, which is committed to disk before the request starts. Resolves to `closed` or `idle` if nothing
   * was sent or counted; rejects if aborted.
   */
  async send<T>(passage: GatedRequest<T>): Promise<GatedResult> {
    const { line, emit, clock } = this.#options;
    const { method, path, priority, rank = 0, signal } = passage;
    // Wait for the HTTP package to load before taking a slot. A slot is valid only when it's taken, so nothing may
    // delay the request after that.
    await this.agent.dispatcher();
    const asked = clock.monotonic();
    try {
      const taken = await line.acquire(this.#taker(passage), { priority, rank, ...(signal ? { signal } : {}) });
      if (!(await this.#waitForStart(taken, signal))) return await this.#giveBackUnsent(taken);
      const milliseconds = clock.monotonic() - asked;
      emit('request.sent', { account: this.destination.account, method, path, milliseconds });
      return await this.#sendNow(passage, taken);
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      // Look again outside the transaction. The look within it recorded which processes are dead, and the rollback
      // undid that.
      await this.#look(this.#options.store);
      return error.result;
    }
  }

  /** Why no requests can be sent now; undefined if they can be sent. */
  async closed(priority: Priority): Promise<Closed | undefined> {
    const { store, clock } = this.#options;
    const { account, requestsPerSecond } = this.destination;
    const days = daysOf(clock.now());
    const slots = await this.#look(store);
    const { heldUntil } = await store.accounts.look(account, requestsPerSecond);
    const closed =
      this.#blocked(heldUntil) ?? (await this.#allowance.spent(store, days, this.#allowance.limits(slots, priority)));
    if (closed?.why === 'quota') this.#allowance.reportSpent(closed.until);
    return closed;
  }

  /**
   * Records a decision's effect for all senders of this account. If there's a next attempt, returns the wait before it
   * in milliseconds.
   */
  async applyDecision(decision: Decision, attempts: number): Promise<number> {
    const { action, problem, retryAfterMs } = decision;
    this.#pauses = action === 'pause' ? this.#pauses + 1 : 0;
    if (action === 'login' && problem !== undefined) this.#blockLogin(problem);
    if (action === 'pause') await this.#slow();
    if (action === 'wait_for_day') await this.#allowance.close(retryAfterMs);
    if (action === 'away' && problem !== undefined) return this.#breaker.open(problem);
    this.#breaker.close();
    if (action !== 'pause' && action !== 'retry') return 0;
    const { random } = this.#network;
    const waitMs =
      action === 'pause' ? pauseMs(this.#pauses, retryAfterMs, random) : backoffMs(attempts, retryAfterMs, random);
    if (action === 'pause' || retryAfterMs !== undefined) await this.#pauseAccount(waitMs);
    return waitMs;
  }

  async close(): Promise<void> {
    await this.agent.destroy();
    await this.#returns.settled();
  }

  /**
   * Returns a function that tries to take a slot. If no slot is free, it reports the wait once, and throws if the
   * deadline has passed.
   */
  #taker<T>(passage: GatedRequest<T>): () => Promise<Taken<T> | NoFreeSlot> {
    const { clock } = this.#options;
    let isTold = false;
    return async () => {
      const taken = await this.#take(passage);
      if ('ticket' in taken) return taken;
      const { freeInMs = 0, restsForMs = freeInMs } = taken;
      const closed: Closed = { why: 'slots', until: clock.now() + restsForMs };
      if (taken.restsForMs !== undefined && !isTold) {
        isTold = true;
        await passage.waits?.(closed);
      }
      if (passage.deadline !== undefined && clock.now() >= passage.deadline) throw new Rejected({ closed });
      return taken;
    };
  }

  async #take<T>({ priority, keys = [], prepare }: GatedRequest<T>): Promise<Taken<T> | NoFreeSlot> {
    const { account, requestsPerSecond } = this.destination;
    const { store, clock } = this.#options;
    const began = clock.monotonic();
    const taken = await store.transactionOn([accountLock(account), ...keys], async (parts) => {
      const days = daysOf(clock.now());
      const slots = await this.#look(parts);
      const { heldUntil, pace } = await parts.accounts.look(account, requestsPerSecond);
      this.#rejectIf(this.#blocked(heldUntil));
      const ticket = await parts.sendSlots.takeOf(slots, {
        account,
        perSecond: pace,
        days,
        leadMs: store.isOnServer ? this.#lead.ms : 0,
      });
      if (!('ticket' in ticket)) return ticket;
      const at = localOf(clock).monotonic();
      const limits = this.#allowance.limits(slots, priority);
      const spent = await parts.quota.take(account, days, limits);
      if (spent !== undefined) this.#rejectIf(await this.#allowance.spent(parts, [spent], limits));
      const prepared = await prepare(parts);
      if (prepared === undefined) throw new Rejected('idle');
      this.#breaker.probe(connectTimeoutMs);
      this.#allowance.reportNewDay();
      return { ticket, at, prepared };
    });
    if ('ticket' in taken) this.#lead.took(clock.monotonic() - began);
    return taken;
  }

  /** Waits until a slot that was taken in advance is free. Returns whether its request may still be sent. */
  async #waitForStart({ ticket, at }: Taken<unknown>, signal: AbortSignal | undefined): Promise<boolean> {
    const { clock } = this.#options;
    const leftMs = (): number => (ticket.startsAt ?? 0) - clock.monotonic();
    while (leftMs() > 0) {
      if (signal?.aborted === true) return false;
      await clock.sleep(leftMs(), signal).catch(() => undefined);
    }
    return this.#isInTime(at);
  }

  #isInTime(takenAt: number): boolean {
    return localOf(this.#options.clock).monotonic() - takenAt <= maxPauseMs;
  }

  async #sendNow<T>({ method, path, send }: GatedRequest<T>, taken: Taken<T>): Promise<RequestOutcome> {
    const { ticket, at, prepared } = taken;
    const { clock, emit } = this.#options;
    const began = clock.monotonic();
    const { credentials } = this.login;
    const beforeSent = (): void => {
      if (!this.#isInTime(at)) throw unsent();
    };
    const outcome = await send(prepared, beforeSent).catch((error: unknown) => ({ error }));
    await this.#returns.giveBack(ticket, 'error' in outcome ? this.agent.closing() : undefined);
    const milliseconds = clock.monotonic() - began;
    if ('answer' in outcome) await this.login.answered(outcome.answer.status, credentials);
    const answered =
      'answer' in outcome ? { status: outcome.answer.status, limit: limitReached(outcome.answer) } : undefined;
    emit('request.answered', { account: this.destination.account, method, path, milliseconds, ...answered });
    return outcome;
  }

  /** Releases a slot whose request isn't sent. */
  async #giveBackUnsent({ ticket }: Taken<unknown>): Promise<RequestOutcome> {
    await this.#returns.giveBack(ticket, undefined);
    return { error: unsent() };
  }

  #look({ sendSlots }: Pick<Repositories, 'sendSlots'>): Promise<SlotSnapshot> {
    return sendSlots.look(this.destination.account, daysOf(this.#options.clock.now(), maxTravelMs));
  }

  /** Why no requests can be sent, unless the quota is the reason. `heldUntil`: the end of the account's pause. */
  #blocked(heldUntil: number | undefined): Closed | undefined {
    const { problem } = this.login;
    if (problem !== undefined) return { why: 'login', problem };
    return this.#breaker.closed() ?? (heldUntil === undefined ? undefined : { why: 'paused', until: heldUntil });
  }

  #rejectIf(closed: Closed | undefined): void {
    if (closed === undefined) return;
    if (closed.why === 'quota') this.#allowance.reportSpent(closed.until);
    throw new Rejected({ closed });
  }

  #blockLogin(problem: Problem): void {
    if (!this.login.block(problem)) return;
    const { code, message } = problem;
    this.#options.emit('login.refused', { ...this.#names(), code, message });
  }

  /** Lowers the account's rate, because other programs use the account too. */
  async #slow(): Promise<void> {
    const { account, requestsPerSecond } = this.destination;
    const perSecond = await this.#options.store.accounts.slow(account, requestsPerSecond);
    if (perSecond !== undefined) this.#options.emit('account.slowed', { ...this.#names(), per_second: perSecond });
  }

  async #pauseAccount(waitMs: number): Promise<void> {
    const { store, clock, emit } = this.#options;
    await store.accounts.hold(this.destination.account, waitMs);
    emit('account.paused', { ...this.#names(), until: clock.now() + waitMs, refusals: this.#pauses });
  }

  #names() {
    return { account: this.destination.account, destination: this.destination.name };
  }
}

function unsent(): Error {
  const message = 'the request was not sent, because this process was stopped or slow just before';
  return Object.assign(new Error(message), { code: notSent });
}
