import type { Problem } from '../../lib/problem.ts';
import type { ConnectorLog } from '../connector.ts';
import type { HttpClient } from '../http/client.ts';
import type { PageSpool } from '../http/page-spool.ts';
import type { HttpRequest } from '../http/request.ts';
import { withRetries } from '../http/retry.ts';
import { type LogIn, logInBy } from '../log-in.ts';
import type { TokenSource } from '../oauth.ts';
import { checkPreviewMethod, type PreviewLimits } from '../preview.ts';
import type { ServiceAnswer } from './answer.ts';
import { buildLink, buildRequest, requestHash } from './build-request.ts';
import { type Classification, classify } from './classify.ts';
import { type BareCall, CredentialProvider, logInByCall } from './credential-provider.ts';
import type { Decoding, LoginData, ServiceDescription } from './description.ts';
import type { Pacer } from './pacer.ts';
import { type Reply, readReply } from './reply.ts';
import type { RequestData } from './request-data.ts';
import type { ErrorRule } from './rules.ts';
import { answerProblem, Ignored, strangeLink, tooLarge, unreadable, WatermarkLost } from './service-problems.ts';
import { withSignsOfLife } from './signs-of-life.ts';
import type { Scope } from './template.ts';

/** What a run needs to call a service. */
export interface ApiClientOptions {
  readonly service: Pick<ServiceDescription, 'title' | 'base' | 'headers' | 'query' | 'errors'>;
  readonly login: LoginData;
  /** The runner's tokens, for an OAuth login. */
  readonly tokens: TokenSource | undefined;
  /** The runner's login guard, which covers all requests with credentials. */
  readonly logIn: LogIn | undefined;
  /** Template variables: options and `now`. */
  readonly scope: Scope;
  readonly client: HttpClient;
  readonly pacer: Pacer;
  readonly spool: PageSpool;
  readonly retries: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  readonly alive: () => void;
  readonly preview?: PreviewLimits | undefined;
}

/** One call: the request, and how to decode its response. */
export interface ServiceCall {
  readonly request: RequestData;
  /** The next page's URL from a response, which replaces the request's URL. */
  readonly link?: URL | undefined;
  readonly scope: Scope;
  readonly decode?: Decoding | undefined;
  readonly errors?: readonly ErrorRule[] | undefined;
  /** True for a poll, for which `pending` is a valid result. Other calls are retried if the result is `pending`. */
  readonly isPoll?: boolean;
}

/** A reply and its class according to the service's rules: `ok`, `empty` or `pending`. */
export interface ClassifiedReply extends Reply {
  readonly verdict: Classification['kind'];
}

/** Maximum wait within a run. If a longer wait is needed, the run fails and the next run retries. */
const maxPauseMs = 2 * 60_000;

/** Purpose of a call: `known` calls are sent with the credentials; the other calls open or close a session. */
type Purpose = 'known' | 'login' | 'logout';

/**
 * Makes a run's API calls. Authenticates and retries them, applies rate limits, and classifies responses by the
 * service's rules.
 */
export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #credentials: CredentialProvider;
  #hasWarned = false;

  constructor(init: ApiClientOptions) {
    this.#options = init;
    // A login call isn't retried itself, but the call that needs the login is.
    const call: BareCall = async (request, purpose) =>
      (await this.#attempt({ request, scope: init.scope }, purpose)).answer;
    this.#credentials = new CredentialProvider(init.login, { login: init.tokens, call });
  }

  /**
   * Makes one call, with retries according to the service's rules.
   * @throws Problem for an error response, {@link Ignored} and {@link WatermarkLost} by the rules.
   */
  call(call: ServiceCall): Promise<ClassifiedReply> {
    return this.#repeated(() => this.#attempt(call, 'known'));
  }

  /** A hash of a request without its credentials. All of a run's attempts compute the same hash. */
  async hashOf(request: RequestData, scope: Scope): Promise<string> {
    const login = await this.#repeated(() => this.#credentials.facts());
    const steady = { ...scope, login: login && { ...login, token: '' } };
    return requestHash(buildRequest(request, this.#options.service, steady, { headers: {}, query: [] }));
  }

  /** Ends an open session. */
  end(): Promise<void> {
    return this.#credentials.end();
  }

  #repeated<T>(attempt: () => Promise<T>): Promise<T> {
    const { retries, signal, log, alive } = this.#options;
    const onPause = (problem: Problem, milliseconds: number) =>
      log.warn('retrying after a pause', { because: problem.message, pauseMs: Math.round(milliseconds) });
    return withSignsOfLife(alive, () => withRetries({ retries, signal, maxPauseMs, onPause }, attempt));
  }

  async #attempt(call: ServiceCall, as: Purpose): Promise<ClassifiedReply> {
    const { pacer, signal } = this.#options;
    // The request is built before taking a slot, because building it may require a login, which is a separate call with
    // its own slot.
    const request = await this.#request(call, as);
    if (as === 'known') checkPreviewMethod(this.#options.preview, request.method);
    const release = await pacer.turn(signal);
    try {
      const reply = await this.#asLogin(as, () => this.#exchange(call, request, as));
      if (reply instanceof Error) throw reply;
      return reply;
    } catch (error) {
      if (error !== again) throw error;
    } finally {
      release();
    }
    return this.#attempt(call, as);
  }

  /**
   * Sends requests with credentials through the login guard. The caller must already have a slot, because a run must
   * not hold the guard while it waits for a slot.
   */
  #asLogin<T>(as: Purpose, send: () => Promise<T>): Promise<T> {
    if (as === 'logout') return send();
    if (as === 'login') return logInByCall(this.#options, send, { onRenewed });
    return logInBy(this.#options, send, { isRequest: true, onRenewed });
  }

  /**
   * Sends the request and classifies the reply. An error that ends the read although the service accepted the login is
   * returned rather than thrown.
   */
  async #exchange(call: ServiceCall, request: HttpRequest, as: Purpose): Promise<ClassifiedReply | Error> {
    const { pacer, service, client, spool, maxBytes } = this.#options;
    const http = await client.send(request);
    const reply = await readReply(http, {
      decode: call.decode ?? 'json',
      spool,
      maxBytes,
      tooLarge: () => tooLarge(service.title, maxBytes),
    });
    this.#warnOnce(pacer.learn(reply.answer));
    return this.#classified(call, reply, as);
  }

  /** Warns once per run, so that the log explains why the run is slow. */
  #warnOnce(low: ReturnType<Pacer['learn']>): void {
    if (low === undefined || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.log.warn('rate limit nearly used up: requests are delayed', low);
  }

  async #request({ request, link, scope }: ServiceCall, as: Purpose): Promise<HttpRequest> {
    const { service } = this.#options;
    if (as !== 'known') return buildRequest(request, service, scope, { headers: {}, query: [] });
    if (request.bare === true) return buildRequest(request, { base: '' }, scope, { headers: {}, query: [] });
    const full = { ...scope, login: await this.#credentials.facts() };
    const credentials = this.#credentials.credentials(full);
    const built = buildRequest(request, service, full, credentials);
    if (link === undefined) return built;
    if (link.origin !== built.url.origin) throw strangeLink(service.title, link, built.url);
    return buildLink(link, service, request, { scope: full, credentials });
  }

  async #classified(call: ServiceCall, reply: Reply, as: Purpose): Promise<ClassifiedReply | Error> {
    const { service } = this.#options;
    const { answer, fault } = reply;
    const judgement = classify(answer, [...(call.errors ?? []), ...(service.errors ?? [])], Date.now());
    const { kind: verdict } = judgement;
    if (verdict === 'login' && as === 'known' && (await this.#credentials.refused(this.#options))) throw again;
    if (verdict === 'ignore') return new Ignored(answerProblem(service.title, answer, judgement).message);
    if (verdict === 'reset') return new WatermarkLost(answerProblem(service.title, answer, judgement).message);
    if (verdict !== 'ok' && verdict !== 'empty' && !(verdict === 'pending' && call.isPoll === true)) {
      throw answerProblem(service.title, answer, judgement);
    }
    if (verdict === 'ok' && fault !== undefined) throw unreadable(service.title, answer, fault);
    if (as === 'known') this.#credentials.accepted();
    return { ...reply, verdict };
  }
}

/**
 * Thrown internally to retry immediately with a new token. Not a Problem, because an expired token doesn't mean that
 * the login is invalid.
 */
const again = new Error('The token was refused');

/** The request contains the old secret, so the request must be built again. */
const onRenewed = (): never => {
  throw again;
};

/** The response to a call that doesn't read a page: a check, a discovery or a report job's call. */
export async function answerOf(
  api: { call(call: ServiceCall): Promise<Pick<ClassifiedReply, 'answer'>> },
  call: ServiceCall,
): Promise<ServiceAnswer> {
  return (await api.call(call)).answer;
}
