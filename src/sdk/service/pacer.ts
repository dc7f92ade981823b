import { setTimeout as wait } from 'node:timers/promises';
import type { AnswerPath, ServiceAnswer } from './answer.ts';
import { pickAll } from './answer.ts';
import { waitOf } from './classify.ts';
import { textOf } from './exact-json.ts';
import { secondsOf } from './moment.ts';
import type { Budget, Gauge } from './rules.ts';

/** However much a gauge asks for: after this long we look again. */
const maxHoldMs = 5 * 60_000;

/** A gauge that stands low: where it stands in the answer, what it says, how long the next request waits. */
interface Low {
  readonly at: string;
  readonly said: string;
  readonly pauseMs: number;
}

/** Keeps all runs of one source in this process inside what its vendor allows. */
export class Pacer {
  readonly #budget: Budget;
  readonly #rates: readonly { readonly requests: number; readonly milliseconds: number }[];
  /** When the last requests began, monotonic milliseconds; as many as the widest rate needs. */
  #begun: number[] = [];
  #underWay = 0;
  #heldUntil = 0;
  /** Ends the wait of each caller that has no slot yet, in the order of asking. */
  readonly #waiting: (() => void)[] = [];

  constructor(budget: Budget) {
    this.#budget = budget;
    this.#rates = (budget.rates ?? []).map(({ requests, within }) => ({
      requests,
      milliseconds: secondsOf(within) * 1000,
    }));
  }

  /** Waits until one more request may go out; call what it gives when the answer has been read. */
  async turn(signal: AbortSignal): Promise<() => void> {
    await this.#enter(signal);
    for (;;) {
      const now = performance.now();
      const pause = Math.max(this.#heldUntil - now, ...this.#rates.map((rate) => this.#pauseFor(rate, now)));
      if (pause <= 0) break;
      await wait(pause, undefined, { signal }).catch((error: unknown) => this.#giveUp(error, signal));
    }
    this.#begun.push(performance.now());
    const most = Math.max(0, ...this.#rates.map(({ requests }) => requests));
    this.#begun = this.#begun.slice(Math.max(0, this.#begun.length - most));
    return () => this.#leave();
  }

  /** Looks at what an answer says about what is left; gives what said too little, and for how many milliseconds we hold on. */
  learn(answer: ServiceAnswer): Low | undefined {
    let low: Low | undefined;
    for (const gauge of this.#budget.gauges ?? []) {
      const said = lowValue(gauge, answer);
      if (said === undefined) continue;
      const pauseMs = Math.min(waitOf(gauge.pause, answer, Date.now()) ?? 1000, maxHoldMs);
      this.#heldUntil = Math.max(this.#heldUntil, performance.now() + pauseMs);
      if (low === undefined || pauseMs > low.pauseMs) low = { at: nameOf(gauge.at), said, pauseMs };
    }
    return low;
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

  /** Hands the slot to the first one that waits, so that it is never taken by a later one or lost with a stopped one. */
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

/** The pacer of a source: the same one for all runs that name the same key. */
export function pacerFor(key: string, budget: Budget = {}): Pacer {
  const known = pacers.get(key);
  if (known !== undefined) return known;
  const pacer = new Pacer(budget);
  pacers.set(key, pacer);
  return pacer;
}

/** The first value there that says that too little is left. */
function lowValue(gauge: Gauge, answer: ServiceAnswer): string | undefined {
  return pickAll(answer, gauge.at)
    .map(textOf)
    .find((text) => saysLow(gauge, text));
}

function nameOf(at: AnswerPath): string {
  if (typeof at === 'string') return at;
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
