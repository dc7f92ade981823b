import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type AnswerPath, pickAll, type ServiceAnswer } from './answer.ts';
import { waitOf } from './classify.ts';
import { textOf } from './exact-json.ts';
import { secondsOf } from './moment.ts';
import type { Budget, Gauge } from './rules.ts';

/** Maximum pause after a low gauge value. */
const maxHoldMs = 5 * 60_000;

/** A gauge with a low value: the gauge's location in the response, its value, and the wait before the next request. */
interface Low {
  readonly at: string;
  readonly value: string;
  readonly pauseMs: number;
}

/** Rate limiter shared by all of this process's runs that read the same source. */
export class Pacer {
  readonly #budget: Budget;
  readonly #rates: readonly { readonly requests: number; readonly milliseconds: number }[];
  /** Start times of the latest requests, in monotonic milliseconds; as many as the largest limit requires. */
  #begun: number[] = [];
  #underWay = 0;
  #heldUntil = 0;
  /** Resolve functions of the callers that are waiting for a slot, in order. */
  readonly #waiting: (() => void)[] = [];

  constructor(budget: Budget) {
    this.#budget = budget;
    this.#rates = (budget.rates ?? []).map(({ requests, within }) => ({
      requests,
      milliseconds: (typeof within === 'number' ? within : secondsOf(within)) * 1000,
    }));
  }

  /** Waits for a slot. The caller must call the returned function after reading the response. */
  async turn(signal: AbortSignal): Promise<() => void> {
    await this.#enter(signal);
    for (;;) {
      const now = performance.now();
      const pause = Math.max(this.#heldUntil - now, ...this.#rates.map((rate) => this.#pauseFor(rate, now)));
      if (pause <= 0) break;
      await wait(pause, undefined, { signal }).catch((error: unknown) => this.#giveUp(error, signal));
    }
    this.#begun.push(performance.now());
    const maxRequests = Math.max(0, ...this.#rates.map(({ requests }) => requests));
    this.#begun = this.#begun.slice(Math.max(0, this.#begun.length - maxRequests));
    return () => this.#leave();
  }

  /** Checks the gauges in a response. Returns the low gauge with the longest pause, if any. */
  learn(answer: ServiceAnswer): Low | undefined {
    let low: Low | undefined;
    for (const gauge of this.#budget.gauges ?? []) {
      const value = lowValue(gauge, answer);
      if (value === undefined) continue;
      const pauseMs = Math.min(waitOf(gauge.pause, answer, Date.now()) ?? 1000, maxHoldMs);
      this.hold(pauseMs);
      if (low === undefined || pauseMs > low.pauseMs) low = { at: nameOf(gauge.at), value, pauseMs };
    }
    return low;
  }

  /** Lets no request begin for this long, because the server's limit is used up. */
  hold(milliseconds: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + milliseconds);
  }

  #pauseFor({ requests, milliseconds }: { requests: number; milliseconds: number }, now: number): number {
    const oldest = this.#begun.at(-requests);
    return oldest === undefined ? 0 : oldest + milliseconds - now;
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#underWay < (this.#budget.at_once ?? Number.POSITIVE_INFINITY)) {
      this.#underWay += 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#waiting.push(wake);
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    signal.removeEventListener('abort', wake);
    if (!signal.aborted) return;
    const at = this.#waiting.indexOf(wake);
    if (at >= 0) this.#waiting.splice(at, 1);
    else this.#leave();
    signal.throwIfAborted();
  }

  /** Passes the slot directly to the first waiting caller, so that no later caller can take it. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#underWay -= 1;
    else next();
  }

  #giveUp(error: unknown, signal: AbortSignal): never {
    this.#leave();
    signal.throwIfAborted();
    throw error;
  }
}

const pacers = new Map<string, Pacer>();

/** The pacer that all of this process's runs share if they read a source with the same connector and options. */
export function pacerFor(connector: string, source: Readonly<Record<string, unknown>>, budget: Budget = {}): Pacer {
  const key = `${connector} ${createHash('sha256').update(JSON.stringify(source)).digest('hex')}`;
  const known = pacers.get(key);
  if (known !== undefined) return known;
  const pacer = new Pacer(budget);
  pacers.set(key, pacer);
  return pacer;
}

/** The first low value at the gauge's location. */
function lowValue(gauge: Gauge, answer: ServiceAnswer): string | undefined {
  return pickAll(answer, gauge.at)
    .map(textOf)
    .find((text) => saysLow(gauge, text));
}

function nameOf(at: AnswerPath): string {
  if (typeof at === 'string') return at;
  if ('place' in at) return at.place.text;
  if ('last_record' in at) return nameOf(at.last_record as string | readonly string[]);
  return 'header' in at ? `header ${at.header}` : at.join('.');
}

function saysLow({ means, threshold }: Gauge, text: string | undefined): boolean {
  if (text === undefined) return false;
  if (means === 'used/limit') {
    const [, used, limit] = /(\d+(?:\.\d+)?)\s*\/\s*(\d+(?:\.\d+)?)/.exec(text) ?? [];
    return limit !== undefined && Number(used) / Number(limit) > (threshold ?? 0.9);
  }
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  return means === 'left' ? value < (threshold ?? 1) : value / 100 > (threshold ?? 0.9);
}
