import { Problem } from '../lib/problem.ts';
import type { EnvelopeAnswer } from './answer.ts';
import { type ApiMethod, apiRequest } from './api-request.ts';
import { closedProblem } from './closed.ts';
import type { Gateway } from './gateway.ts';
import { type Decision, decide, type RequestOutcome } from './retry.ts';
import type { SendGate } from './send-gate.ts';
import type { Priority } from './send-queue.ts';

export interface DestinationCall {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /**
   * Whether the call is idempotent. Default: true for GET and PUT. A call that isn't idempotent isn't retried if its
   * outcome is unknown; it fails with `CALL_AMBIGUOUS`.
   */
  readonly repeatable?: boolean;
  /** Maximum number of requests; default 4. */
  readonly attempts?: number;
}

const maxAttempts = 4;
/** Maximum pause of an account that a call waits for. If the pause is longer, the call fails with `ACCOUNT_PAUSED`. */
const patienceMs = 60_000;

/**
 * Client for one destination's API. Calls go through the same gate as uploads: they wait for a slot, count against the
 * quota, and are retried by the same rules. A person may be waiting, so a call fails with a Problem rather than wait
 * for long.
 */
export class DestinationClient {
  readonly #gateway: Gateway;
  readonly #gate: SendGate;
  readonly #priority: Priority;
  readonly #signal: AbortSignal;
  readonly #run: string | undefined;
  readonly #rank: number | undefined;

  constructor(given: {
    gateway: Gateway;
    gate: SendGate;
    priority: Priority;
    signal: AbortSignal;
    run?: string;
    rank?: number;
  }) {
    this.#gateway = given.gateway;
    this.#gate = given.gate;
    this.#priority = given.priority;
    this.#signal = given.signal;
    this.#run = given.run;
    this.#rank = given.rank;
  }

  async call(method: ApiMethod, path: string, call: DestinationCall = {}): Promise<EnvelopeAnswer> {
    const repeatable = call.repeatable ?? (method === 'GET' || method === 'PUT');
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#passPatiently(method, path, call);
      if ('error' in outcome && this.#signal.aborted) throw this.#signal.reason;
      const decision = decide(outcome);
      const waitMs = await this.#gate.applyDecision(decision, attempt);
      if ('answer' in outcome && decision.action === 'settle') return outcome.answer;
      if (attempt >= (call.attempts ?? maxAttempts)) throw this.#located(decision);
      if (decision.action === 'login' && this.#gate.login.problem === undefined) continue;
      await this.#waitOrThrow(decision, { repeatable, waitMs, what: `${method} ${path}` });
    }
  }

  async #passPatiently(method: ApiMethod, path: string, call: DestinationCall): Promise<RequestOutcome> {
    const { clock } = this.#gateway;
    const asked = { gateway: this.#gateway, gate: this.#gate, signal: this.#signal };
    for (;;) {
      const passed = await this.#gate.send({
        method,
        path,
        priority: this.#priority,
        rank: this.#rank,
        signal: this.#signal,
        prepare: async ({ runs }) => {
          if (this.#run !== undefined) await runs.countRequest(this.#run);
          return true;
        },
        send: (_, beforeSent) => apiRequest({ ...asked, method, path, query: call.query, body: call.body, beforeSent }),
      });
      if (passed === 'idle') throw new Error('a call always has something to send');
      if (!('closed' in passed)) return passed;
      const { closed } = passed;
      const leftMs =
        closed.why === 'paused' || closed.why === 'away' ? closed.until - clock.now() : Number.POSITIVE_INFINITY;
      if (leftMs > patienceMs) throw closedProblem(closed, this.#gate.destination.name, clock.now());
      await clock.sleep(Math.max(1, leftMs), this.#signal);
    }
  }

  async #waitOrThrow(
    decision: Decision,
    { repeatable, waitMs, what }: { repeatable: boolean; waitMs: number; what: string },
  ): Promise<void> {
    const again = ['retry', 'pause', 'away'].includes(decision.action);
    if (again && decision.ambiguous && !repeatable) throw ambiguousCall(what, this.#located(decision));
    if (!again || waitMs > patienceMs) throw this.#located(decision);
    await this.#gateway.clock.sleep(waitMs, this.#signal);
  }

  #located({ problem }: Decision): Problem {
    return (problem as Problem).at({ destination: this.#gate.destination.name });
  }
}

/** The problem to report if a call's outcome is unknown and the call must not be repeated. */
function ambiguousCall(what: string, cause: Problem): Problem {
  return new Problem({
    code: 'CALL_AMBIGUOUS',
    family: 'try_later',
    message: `${what}: ${cause.message}; it is unknown whether the service processed the request`,
    where: cause.where,
    next: 'run the command again; it first checks what already exists',
    cause,
  });
}
