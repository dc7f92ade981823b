import { dueAt } from '../state/outbox/attempts.ts';
import type { OutboxRow } from '../state/tables.ts';
import { AccountLeases } from './account-leases.ts';
import type { Gateway } from './gateway.ts';
import type { DeliveryState } from './send-payload.ts';
import { afterGrace } from './stopping.ts';
import { UploadPool } from './upload-pool.ts';

/** Interval at which to check for payloads from other processes and for clock changes. */
const maxWaitMs = 30_000;
/** Payloads that come due within this time of each other start together, in order of priority. */
const togetherMs = 20;
/** Like {@link maxWaitMs}, for accounts that only this process sends to, or that another process sends to. */
const sharedWaitMs = 1_000;
/** Shortest time between two checks of a state on a server. They read what all processes have enqueued. */
const sharedRestMs = 50;

/**
 * Sends owed payloads continuously: when notified, when a retry is due, and when the quota resets. A stuck payload
 * doesn't block others.
 */
export class Deliverer {
  readonly #gateway: Gateway;
  readonly #stop = new AbortController();
  readonly #underway = new Map<number, Promise<void>>();
  /** Earliest time of the next attempt (monotonic ms), by payload. */
  readonly #notBefore = new Map<number, number>();
  /** Time of the next check for due resends (monotonic ms). */
  #repeatsAt = 0;
  /** Absent if all processes that send are on this machine. */
  readonly #accounts: AccountLeases | undefined;
  #loop: Promise<void> | undefined;
  #nap = new AbortController();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#accounts = gateway.store.isOnServer ? new AccountLeases(gateway.store) : undefined;
  }

  /** Starts the loop, which first sends all owed payloads. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Call this when a payload was enqueued or credentials may have been corrected. */
  nudge(): void {
    this.#gateway.resetAuth();
    this.#notBefore.clear();
    this.#wake();
  }

  /**
   * Stops within a few seconds: requests in progress may finish within that time and are then aborted. Owed payloads
   * remain owed.
   */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { cut, dispose } = afterGrace(signal, this.#gateway.clock);
    const lanes = new UploadPool({ gateway: this.#gateway, priority: 'schedule', signal, cut });
    while (!signal.aborted) {
      this.#nap = new AbortController();
      await this.#sleep(await this.#startDue(lanes).catch(() => maxWaitMs));
      if (this.#accounts !== undefined) await this.#gateway.clock.sleep(sharedRestMs, signal).catch(() => undefined);
    }
    await Promise.all(this.#underway.values());
    await this.#accounts?.close();
    dispose();
  }

  /** Sends due resends, a few at a time, because they're never urgent. */
  async #startRepeats(lanes: UploadPool): Promise<void> {
    const { store, clock } = this.#gateway;
    if (clock.monotonic() < this.#repeatsAt) return;
    this.#repeatsAt = clock.monotonic() + maxWaitMs;
    for (const repeat of await store.resends.all()) {
      const { id } = repeat.row;
      if (repeat.dueAt > clock.now() || this.#underway.has(id) || (await this.#isLeft(repeat.row))) continue;
      const sending = lanes.resend(repeat);
      if (sending !== undefined)
        this.#underway.set(
          id,
          sending.finally(() => this.#underway.delete(id)),
        );
    }
  }

  /** Starts uploading all payloads that can be sent now. Returns the time until the next one, in milliseconds. */
  async #startDue(lanes: UploadPool): Promise<number> {
    const { store, clock } = this.#gateway;
    let wait = maxWaitMs;
    for (const row of await store.outbox.inState('owed')) {
      if (this.#underway.has(row.id)) {
        await this.#isLeft(row);
        continue;
      }
      const rest = (this.#notBefore.get(row.id) ?? 0) - clock.monotonic();
      const left = Math.max(dueAt(row, clock.now()) - clock.now(), rest);
      if (left > 0) wait = Math.min(wait, left + togetherMs);
      else if (await this.#isLeft(row)) wait = Math.min(wait, sharedWaitMs);
      else this.#begin(row, lanes);
    }
    await this.#startRepeats(lanes);
    await this.#accounts?.leaveIdle();
    return this.#accounts?.isHolding === true ? Math.min(wait, sharedWaitMs) : wait;
  }

  /** Returns whether another process sends to the payload's account. */
  async #isLeft({ destination, url }: OutboxRow): Promise<boolean> {
    if (this.#accounts === undefined) return false;
    const gate = this.#gateway.find(destination) ?? this.#gateway.at(url);
    return gate !== undefined && !(await this.#accounts.hold(gate.destination.account));
  }

  #begin(row: OutboxRow, lanes: UploadPool): void {
    const sending = lanes.send(row);
    if (sending === undefined) return;
    const done = sending.then((fate) => {
      this.#underway.delete(row.id);
      this.#notBefore.set(row.id, this.#gateway.clock.monotonic() + this.#restAfter(fate));
      if (fate.state === 'delivered' || fate.state === 'dead') this.#notBefore.delete(row.id);
      this.#wake();
    });
    this.#underway.set(row.id, done);
  }

  async #sleep(milliseconds: number): Promise<void> {
    const waitMs = Math.max(1, Math.min(milliseconds, maxWaitMs));
    await this.#gateway.clock.sleep(waitMs, this.#nap.signal).catch(() => undefined);
  }

  #wake(): void {
    // Passes a constant reason, because creating the default reason with its stack takes longer than the sleep.
    this.#nap.abort('woken');
  }

  /**
   * Milliseconds until the payload's next attempt. Long waits are split, so that a correction of the clock takes
   * effect. If the credentials were refused, there is no next attempt until `nudge` is called.
   */
  #restAfter(fate: DeliveryState): number {
    const now = this.#gateway.clock.now();
    if (fate.state === 'waiting_quota') return Math.min(maxWaitMs, fate.until - now);
    if (fate.state === 'waiting_retry') return Math.min(maxWaitMs, fate.until - now);
    return fate.state === 'waiting_login' ? Number.POSITIVE_INFINITY : 0;
  }
}
