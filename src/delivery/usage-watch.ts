import type { Destination } from '../config/config.ts';
import { asObject } from './answer.ts';
import { apiRequest } from './api-request.ts';
import type { Gateway } from './gateway.ts';
import { daysOf, startOfDay } from './quota.ts';
import { decide, type RequestOutcome } from './retry.ts';
import type { SendGate } from './send-gate.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** At most one in this many of a day's requests is a usage check. */
const worth = 50;
/** Minimum interval between store lookups. */
const lookAgainMs = 60_000;
/** After this many consecutive rate-limit responses, each following a pause, the daily limit may be the cause. */
const doubtful = 3;
/** Shorter minimum interval while it's unclear which limit was reached. */
const doubtMs = 10 * 60_000;
const path = '/usage-overview/api-usage';

/**
 * Polls the service for an account's request count, which includes requests from other programs. Each poll counts
 * against the quota, so polls have the lowest priority and are sent only after other requests.
 */
export class UsageWatch {
  readonly #gateway: Gateway;
  readonly #stop = new AbortController();
  /** Earliest time of the next check, by account (monotonic ms). */
  readonly #notBefore = new Map<string, number>();
  readonly #asking = new Set<Promise<void>>();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  /** Call this when a request was sent for the account. Returns immediately. */
  look(account: string): void {
    const { clock } = this.#gateway;
    if (this.#stop.signal.aborted || clock.monotonic() < (this.#notBefore.get(account) ?? 0)) return;
    this.#notBefore.set(account, clock.monotonic() + lookAgainMs);
    this.#begin(account, (gate) => Math.max(hourMs, (dayMs * worth) / gate.destination.requestsPerDay));
  }

  /**
   * Call this when the account was rate-limited, with the number of consecutive refusals. If the per-second limit is an
   * unlikely cause, checks the day's count. If no requests are left, blocks all requests until the daily reset. Returns
   * immediately.
   */
  doubt(account: string, refusals: number): void {
    if (!this.#stop.signal.aborted && refusals >= doubtful) this.#begin(account, () => doubtMs);
  }

  #begin(account: string, everyMs: (gate: SendGate) => number): void {
    const gate = [...this.#gateway.gates()].find(({ destination }) => asks(destination, account));
    if (gate === undefined) return;
    const asking = this.#ask(gate, everyMs(gate))
      .catch(() => undefined)
      .finally(() => this.#asking.delete(asking));
    this.#asking.add(asking);
  }

  /** Stops checking and aborts a check in progress. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.idle();
  }

  /** Resolves when no check is in progress. */
  async idle(): Promise<void> {
    await Promise.all(this.#asking);
  }

  async #ask(gate: SendGate, everyMs: number): Promise<void> {
    const { store, clock } = this.#gateway;
    if (!(await store.usageChecks.claim(gate.destination.account, everyMs))) return;
    const heldUntil = await store.accounts.heldUntil(gate.destination.account);
    if (heldUntil !== undefined) await clock.sleep(heldUntil - clock.now(), this.#stop.signal);
    const now = clock.now();
    const query = { start_date: Math.floor(startOfDay(now) / 1000), end_date: Math.floor(now / 1000) };
    const signal = this.#stop.signal;
    const passed = await gate.send({
      method: 'GET',
      path,
      priority: 'schedule',
      rank: -1,
      signal,
      prepare: async () => true,
      send: (_, beforeSent) =>
        apiRequest({ gateway: this.#gateway, gate, method: 'GET', path, query, signal, beforeSent }),
    });
    if (passed !== 'idle' && !('closed' in passed)) await this.#hear(gate, passed);
  }

  async #hear(gate: SendGate, outcome: RequestOutcome): Promise<void> {
    if ('error' in outcome) return;
    const { answer } = outcome;
    const { store, clock, emit } = this.#gateway;
    const { account, name: destination } = gate.destination;
    // A failed usage check affects other requests only if it was rate-limited.
    if (answer.status === 429) await gate.applyDecision(decide(outcome), 1);
    if (isRefusal(answer)) {
      await store.usageChecks.refuse(account, answer.words);
      emit('usage.refused', { account, destination, message: answer.words });
    }
    if (!answer.success) return;
    const usage = usageFor(daysOf(clock.now()), answer.data.overview);
    if (usage === undefined) return;
    const { used, others, allowance } = await store.quota.reconcile(account, usage.day, usage);
    emit('usage.reported', { account, destination, day: usage.day, used, others, ...(allowance && { allowance }) });
  }
}

const asks = ({ account, askUsage }: Destination, wanted: string): boolean => askUsage && account === wanted;

/**
 * Whether the service refuses to report usage: the permission is missing, or there's no such report. Refused
 * credentials don't count, because uploads report them.
 */
function isRefusal({ status, errorCode }: { status: number; errorCode: string | undefined }): boolean {
  return status === 403 || status === 404 || (status === 401 && errorCode === 'permission_denied');
}

/** The newest usage record for any of the given days. All its values are strings (service document, section 2.14). */
function usageFor(
  days: readonly string[],
  overview: unknown,
): { day: string; reported: number; allowance: number | undefined } | undefined {
  const records = Array.isArray(overview) ? overview.map((record) => asObject(record) ?? {}) : [];
  for (const day of days.toReversed()) {
    const record = records.find(({ calendar_date: date }) => typeof date === 'string' && date.startsWith(day));
    const reported = countIn(record?.api_usage);
    const limit = countIn(record?.api_limit);
    if (reported !== undefined) return { day, reported, allowance: limit === 0 ? undefined : limit };
  }
  return undefined;
}

function countIn(text: unknown): number | undefined {
  const count = Number(typeof text === 'string' && text.trim() !== '' ? text : Number.NaN);
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
