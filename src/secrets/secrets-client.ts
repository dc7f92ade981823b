import { exponentialMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import { HttpAgent, type HttpAnswer, sendRequest } from '../lib/http.ts';
import { passingAnswer } from '../lib/passing-answer.ts';
import { secretProblem } from './problems.ts';

export interface SecretRequest {
  /** The provider's name in messages, such as `Vault`. */
  readonly title: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether a response reports throttling even though its status doesn't. */
  readonly isThrottled?: (answer: HttpAnswer) => boolean;
  /** True if the address exists only on some machines, so that there is only one short attempt. */
  readonly isOptional?: boolean;
}

export interface SecretsClientOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly random?: () => number;
}

const timeoutMs = 10_000;
const optionalTimeoutMs = 1000;
const connectTimeoutMs = 5000;
const answerLimitBytes = 1024 * 1024;
/**
 * Maximum number of attempts if the server responds. If the server doesn't respond, there are fewer attempts, because
 * the address is probably wrong.
 */
const maxAttempts = 6;
const maxUnanswered = 3;
/**
 * Maximum time between the first attempt and the end of the last wait, because a user or the starting daemon is
 * waiting.
 */
const patienceMs = 30_000;
const backoff = { firstMs: 200, maxMs: 5000, jitter: 0.5 };

/** The HTTP client that all providers share. It applies timeouts, and retries throttled and failed requests. */
export class SecretsClient {
  readonly #options: SecretsClientOptions;
  readonly #agent = new HttpAgent({ connectTimeoutMs });
  readonly #optionalAgent = new HttpAgent({ connectTimeoutMs: optionalTimeoutMs });
  readonly #stop = new AbortController();

  constructor(options: SecretsClientOptions) {
    this.#options = options;
  }

  /** The HTTP agent for the OAuth client. */
  get agent(): HttpAgent {
    return this.#agent;
  }

  /** The first conclusive response, regardless of its status. Throws `CONFIG_SECRET_UNAVAILABLE` if there is none. */
  async call(request: SecretRequest): Promise<HttpAnswer> {
    const { clock, random } = this.#options;
    const until = clock.monotonic() + patienceMs;
    for (let tries = 0; ; tries++) {
      const outcome = await this.#attempt(request);
      const failure = this.#failureOf(request, outcome);
      if (failure === undefined) return outcome as HttpAnswer;
      const maxTries = request.isOptional ? 1 : failure.isAnswered ? maxAttempts : maxUnanswered;
      const waitMs = Math.max(exponentialMs(tries, backoff, random), failure.retryAfterMs ?? 0);
      if (tries + 1 >= maxTries || clock.monotonic() + waitMs > until) throw unavailable(request, failure, tries + 1);
      await clock.sleep(waitMs, this.#signal());
    }
  }

  /** Ends all requests and connections. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the secrets have been read'));
    await Promise.all([this.#agent.destroy(), this.#optionalAgent.destroy()]);
  }

  #signal(): AbortSignal {
    const { signal } = this.#options;
    return signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]);
  }

  async #attempt({ method, url, headers = {}, body, isOptional }: SecretRequest): Promise<HttpAnswer | Error> {
    const signal = this.#signal();
    signal.throwIfAborted();
    try {
      return await sendRequest({
        agent: isOptional ? this.#optionalAgent : this.#agent,
        ...{ method, url, headers, answerLimitBytes, signal },
        ...(body === undefined ? {} : { body }),
        timeoutMs: isOptional ? optionalTimeoutMs : timeoutMs,
      });
    } catch (error) {
      signal.throwIfAborted();
      return error as Error;
    }
  }

  #failureOf({ isThrottled }: SecretRequest, outcome: HttpAnswer | Error): Failure | undefined {
    if (outcome instanceof Error) {
      const { code, message } = outcome as NodeJS.ErrnoException;
      return { isAnswered: false, seen: code ?? message, cause: outcome };
    }
    const { status, headers, complete } = outcome;
    const passing = passingAnswer(status, headers, this.#options.clock.now());
    if (passing === undefined && complete && isThrottled?.(outcome) !== true) return undefined;
    const seen = complete ? `status ${status}` : `status ${status}, incomplete response`;
    return { isAnswered: true, seen, retryAfterMs: passing?.retryAfterMs };
  }
}

interface Failure {
  readonly isAnswered: boolean;
  readonly seen: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

function unavailable({ title, url }: SecretRequest, failure: Failure, attempts: number): Error {
  const { host } = new URL(url);
  const { isAnswered, seen, retryAfterMs, cause } = failure;
  const wait = retryAfterMs === undefined ? '' : ` (retry after ${Math.ceil(retryAfterMs / 1000)} s)`;
  return secretProblem('CONFIG_SECRET_UNAVAILABLE', {
    message: isAnswered ? `${title} is temporarily unavailable: ${host}` : `${title} is unreachable: ${host}`,
    seen: `${seen}${wait}, after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    next: isAnswered
      ? 'try again later, or ask the provider for higher rate limits'
      : 'check the address and the network',
    cause,
  });
}
