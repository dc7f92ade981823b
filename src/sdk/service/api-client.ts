import { createHash } from 'node:crypto';
import { Problem } from '../../lib/problem.ts';
import type { ConnectorLog } from '../connector.ts';
import type { HttpClient } from '../http/client.ts';
import type { PageSpool } from '../http/page-spool.ts';
import type { HttpRequest } from '../http/request.ts';
import { withRetries } from '../http/retry.ts';
import type { TokenSource } from '../oauth.ts';
import type { ServiceAnswer } from './answer.ts';
import { buildLink, buildRequest } from './build-request.ts';
import { type Classification, classify } from './classify.ts';
import { CredentialProvider } from './credential-provider.ts';
import type { Decoding, LoginData, ServiceDescription } from './description.ts';
import type { Pacer } from './pacer.ts';
import { type Reply, readReply } from './reply.ts';
import type { RequestData } from './request-data.ts';
import type { ErrorRule } from './rules.ts';
import { answerProblem, Ignored, strangeLink, tooLarge, unreadable, WatermarkLost } from './service-problems.ts';
import type { Scope } from './template.ts';

/** What a run needs to call a service. */
export interface ApiClientOptions {
  readonly service: Pick<ServiceDescription, 'title' | 'base' | 'headers' | 'query' | 'errors'>;
  readonly login: LoginData;
  /** The runner's, where the login is OAuth. */
  readonly tokens: TokenSource | undefined;
  /** Options and `now`. */
  readonly scope: Scope;
  readonly client: HttpClient;
  readonly pacer: Pacer;
  readonly spool: PageSpool;
  readonly retries: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  readonly alive: () => void;
}

/** One call: the request, and how to decode its answer. */
export interface ServiceCall {
  readonly request: RequestData;
  /** URL of the next page from an answer; replaces the URL of the request. */
  readonly link?: URL | undefined;
  readonly scope: Scope;
  readonly decode?: Decoding | undefined;
  readonly errors?: readonly ErrorRule[] | undefined;
  /** A poll: `pending` is a valid answer. Otherwise `pending` means retry. */
  readonly isPoll?: boolean;
}

/** A reply with what the rules say about it: `ok`, `empty` or `pending`. */
export interface ClassifiedReply extends Reply {
  readonly verdict: Classification['kind'];
}

/** A longer wait is left to the next run. */
const maxPauseMs = 2 * 60_000;
/** Interval of the sign of life during a wait. */
const signEveryMs = 10_000;

/** Makes the API calls of a run: rate-limited, authenticated, retried, and classified by the rules of the service. */
export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #credentials: CredentialProvider;
  #hasWarned = false;

  constructor(init: ApiClientOptions) {
    this.#options = init;
    // Not repeated by itself: the call that needs the login is.
    const call = async (request: RequestData) => (await this.#attempt({ request, scope: init.scope }, 'bare')).answer;
    this.#credentials = new CredentialProvider(init.login, { login: init.tokens, call });
  }

  /**
   * One call, repeated as long as the rules say so.
   * @throws Problem where an answer is no good one, {@link Ignored} and {@link WatermarkLost} where the rules say that.
   */
  call(call: ServiceCall): Promise<ClassifiedReply> {
    return this.#repeated(() => this.#attempt(call, 'known'));
  }

  /** A hash of what a request asks for, without the credentials that it is sent with: the same in every attempt of a run. */
  async hashOf(request: RequestData, scope: Scope): Promise<string> {
    const login = await this.#repeated(() => this.#credentials.facts());
    const steady = { ...scope, login: login && { ...login, token: '' } };
    const { method, url, trustedHeaders, body } = buildRequest(request, this.#options.service, steady, {
      headers: {},
      query: [],
    });
    return createHash('sha256')
      .update(JSON.stringify([method, url.href, trustedHeaders, body]))
      .digest('hex');
  }

  /** Ends a session that was opened. */
  end(): Promise<void> {
    return this.#credentials.end();
  }

  async #repeated<T>(attempt: () => Promise<T>): Promise<T> {
    const { retries, signal, log, alive } = this.#options;
    const signs = setInterval(alive, signEveryMs);
    signs.unref();
    const onPause = (problem: Problem, milliseconds: number) =>
      log.warn('retrying after a pause', { because: problem.message, pauseMs: Math.round(milliseconds) });
    try {
      return await withRetries({ retries, signal, maxPauseMs, onPause }, attempt);
    } finally {
      clearInterval(signs);
      alive();
    }
  }

  async #attempt(call: ServiceCall, as: 'known' | 'bare'): Promise<ClassifiedReply> {
    const { pacer, signal, service, client } = this.#options;
    // First, because a login is a separate call that needs its own slot.
    const request = await this.#request(call, as);
    const release = await pacer.turn(signal);
    try {
      const http = await client.send(request);
      const decode = call.decode ?? 'json';
      const { spool, maxBytes } = this.#options;
      const reply = await readReply(http, {
        decode,
        spool,
        maxBytes,
        tooLarge: () => tooLarge(service.title, maxBytes),
      });
      this.#warnOnce(pacer.learn(reply.answer));
      return await this.#classified(call, reply, as);
    } catch (error) {
      if (error !== again) throw error;
    } finally {
      release();
    }
    return this.#attempt(call, as);
  }

  /** Once per run, so that the log explains why it is slow. */
  #warnOnce(low: ReturnType<Pacer['learn']>): void {
    if (low === undefined || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.log.warn('rate limit nearly used up: requests are delayed', low);
  }

  async #request({ request, link, scope }: ServiceCall, as: 'known' | 'bare'): Promise<HttpRequest> {
    const { service } = this.#options;
    if (as === 'bare') return buildRequest(request, service, scope, { headers: {}, query: [] });
    if (request.bare === true) return buildRequest(request, { base: '' }, scope, { headers: {}, query: [] });
    const full = { ...scope, login: await this.#credentials.facts() };
    const credentials = this.#credentials.credentials(full);
    const built = buildRequest(request, service, full, credentials);
    if (link === undefined) return built;
    if (link.origin !== built.url.origin) throw strangeLink(service.title, link, built.url);
    return buildLink(link, service, request, { scope: full, credentials });
  }

  async #classified(call: ServiceCall, reply: Reply, as: 'known' | 'bare'): Promise<ClassifiedReply> {
    const { service } = this.#options;
    const { answer, fault } = reply;
    const judgement = classify(answer, [...(call.errors ?? []), ...(service.errors ?? [])], Date.now());
    const { kind: verdict } = judgement;
    if (verdict === 'login' && as === 'known' && (await this.#credentials.refused())) throw again;
    if (verdict === 'ignore') throw new Ignored(answerProblem(service.title, answer, judgement).message);
    if (verdict === 'reset') throw new WatermarkLost(answerProblem(service.title, answer, judgement).message);
    if (verdict !== 'ok' && verdict !== 'empty' && !(verdict === 'pending' && call.isPoll === true)) {
      throw answerProblem(service.title, answer, judgement);
    }
    if (verdict === 'ok' && fault !== undefined) throw unreadable(service.title, answer, fault);
    if (as === 'known') this.#credentials.accepted();
    return { ...reply, verdict };
  }
}

/** Thrown internally to retry at once with a new token. */
const again = new Problem({ code: 'SERVICE_LOGIN', family: 'login', message: 'the token was refused' });

/** The answer of a call that is no page: for checks, discoveries and jobs. */
export async function answerOf(api: ApiClient, call: ServiceCall): Promise<ServiceAnswer> {
  return (await api.call(call)).answer;
}
