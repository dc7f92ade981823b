import {
  type BareCall,
  type Budget,
  buildRequest,
  type ConnectorLog,
  CredentialProvider,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
  type LogIn,
  logInBy,
  logInByCall,
  Moment,
  type Pacer,
  type PreviewLimits,
  pacerFor,
  type RequestData,
  rateLimitPauseMs,
  renderDeep,
  type Scope,
  type ServiceAnswer,
  type TokenSource,
  withRetries,
  withSignsOfLife,
} from '#sdk';
import { isTokenInHeaders, loginOf } from './login-of.ts';
import type { RestSource } from './options.ts';
import { isAnonymous, type RequestQuery, type RestCredentials, requestOf } from './request.ts';
import type { RequestSigner } from './request-signer.ts';
import { readSideAnswer } from './side-answer.ts';
import { signerOf } from './sign-request.ts';

export interface RestClientOptions {
  readonly source: RestSource;
  readonly client: HttpClient;
  /** The runner's token store for `client_credentials` and `authorization_code`. */
  readonly login: TokenSource | undefined;
  /** The runner's login guard. It covers all requests with credentials. */
  readonly logIn: LogIn | undefined;
  /** IANA zone for days. */
  readonly zone: string;
  /** The run's logical time. Default: the current time. */
  readonly logicalAt?: number;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  /** Called from time to time during long waits. */
  readonly alive?: () => void;
  /** Set to send each request and each login only once. */
  readonly preview?: PreviewLimits | undefined;
}

/** Whether a response is read although it reports a failure. Throws a Problem if it means something else. */
type IsRead = (answer: HttpResponse) => boolean | Promise<boolean>;

interface FetchOptions {
  readonly isRead?: IsRead;
  /** False if the server may have moved on with a failed request, so that repeating it would skip a page. */
  readonly isRepeatable?: boolean;
  /** What is requested, for log lines. */
  readonly facts?: () => object;
}

/** HTTP client for pages. It logs in, fills templates, retries requests and respects rate limits. */
export class RestClient {
  readonly scope: Scope;
  readonly #options: RestClientOptions;
  readonly #credentials: CredentialProvider;
  readonly #pacer: Pacer;
  readonly #signer: RequestSigner | undefined;

  constructor(init: RestClientOptions) {
    this.#options = init;
    this.scope = { now: Moment.ofRun(init.zone, init.logicalAt) };
    this.#pacer = pacerFor('simple_rest', init.source, budgetOf(init.source));
    this.#signer = signerOf(init.source.auth);
    const call: BareCall = (request, purpose) =>
      purpose === 'logout' ? this.#logOut(request) : logInByCall(init, () => this.#sideCall(request));
    this.#credentials = new CredentialProvider(loginOf(init.source.auth), { login: init.login, call });
  }

  /** The request for a query, with the scope's values in the templates. */
  async request(query: RequestQuery, scope: Scope): Promise<HttpRequest> {
    const credentials = this.#credentials.credentials({ ...scope, login: await this.#credentials.facts() });
    return requestOf(this.#options.source, query, { fill: (value) => renderDeep(value, scope), credentials });
  }

  /** The same request without the login's token, which differs between a run's attempts. */
  plainRequest(query: RequestQuery, scope: Scope): HttpRequest {
    const source = { ...this.#options.source, auth: { kind: 'none' as const } };
    return requestOf(source, query, { fill: (value) => renderDeep(value, scope) });
  }

  /**
   * For every attempt, calls `make` and sends the request that it returns. Calls `read` with the response while a retry
   * is still possible. If the server rejects a token, refreshes the token once.
   */
  fetch<T>(
    make: () => Promise<HttpRequest>,
    read: (answer: HttpResponse, sent: HttpRequest) => Promise<T>,
    { isRead = () => false, isRepeatable = true, facts = () => ({}) }: FetchOptions = {},
  ): Promise<T> {
    const { source, signal, log, preview, alive = () => undefined } = this.#options;
    const onPause = (problem: Error, milliseconds: number) =>
      log.warn('retrying after a pause', { ...facts(), because: problem.message, pauseMs: Math.round(milliseconds) });
    const retries = isRepeatable && preview === undefined ? source.retries : 0;
    const attempt = async () => {
      const { sent, answer } = await this.#exchange(make, isRead);
      return read(answer, sent);
    };
    return withSignsOfLife(alive, () => withRetries({ retries, signal, onPause }, attempt));
  }

  /** Sends a request. If the token is renewed, builds and sends a new request. */
  async #exchange(
    make: () => Promise<HttpRequest>,
    isRead: IsRead,
  ): Promise<{ sent: HttpRequest; answer: HttpResponse }> {
    const sent = await make();
    const used = this.#credentials.newest;
    // Building the request may require a login, which takes its own slot.
    await this.#takeSlot();
    const options = { isRequest: true, isAnonymous: isAnonymous(this.#options.source, sent), onRenewed };
    try {
      return { sent, answer: await logInBy(this.#options, () => this.#send(sent, { used, isRead }), options) };
    } catch (error) {
      if (error !== again) throw error;
    }
    return this.#exchange(make, isRead);
  }

  /** Sends a request that contains the token `used`. */
  async #send(
    sent: HttpRequest,
    { used, isRead }: { readonly used: string | undefined; readonly isRead: IsRead },
  ): Promise<HttpResponse> {
    const { client } = this.#options;
    const answer = await this.#sendSigned(sent);
    if (answer.status === 401 && (await this.#credentials.refused({ ...this.#options, used }))) {
      await answer.body.return(undefined);
      throw again;
    }
    this.#pacer.hold(rateLimitPauseMs(answer.headers, Date.now()));
    if (answer.status !== 304 && !(await isRead(answer))) await client.accept(answer);
    this.#credentials.accepted();
    return answer;
  }

  /** Sends a request with its signature. Answers a challenge of the server once. */
  async #sendSigned(request: HttpRequest): Promise<HttpResponse> {
    const { client } = this.#options;
    const signer = this.#signer;
    if (signer === undefined) return client.send(request);
    const answer = await client.send(await signer.sign(request));
    if (answer.status !== 401 || signer.isChallenged?.(answer) !== true) return answer;
    await answer.body.return(undefined);
    await this.#takeSlot();
    return client.send(await signer.sign(request));
  }

  /** Ends the session if one was started. */
  end(): Promise<void> {
    return this.#credentials.end();
  }

  /** Waits until the source's rate allows another request. The number of requests at once isn't limited. */
  async #takeSlot(): Promise<void> {
    const leave = await this.#pacer.turn(this.#options.signal);
    leave();
  }

  /** Sends the logout request with the session's credentials. */
  async #logOut(data: RequestData): Promise<ServiceAnswer> {
    const scope = { ...this.scope, login: await this.#credentials.facts() };
    return this.#sideCall(data, { scope, credentials: this.#credentials.credentials(scope) });
  }

  async #sideCall(
    data: RequestData,
    { scope, credentials } = { scope: this.scope, credentials: noCredentials },
  ): Promise<ServiceAnswer> {
    const { source, client } = this.#options;
    const request = buildRequest(data, { base: source.url ?? '' }, scope, credentials);
    await this.#takeSlot();
    const follows = !isTokenInHeaders(source.auth);
    const answer = await client.send(request, { follows });
    const isRedirect = !follows && answer.status >= 300 && answer.status < 400;
    return readSideAnswer(isRedirect ? answer : await client.accept(answer));
  }
}

const noCredentials: RestCredentials = { headers: {}, query: [] };

/** At most this many requests begin within any period of that length. */
function budgetOf({ requests_per_second: rate }: RestSource): Budget {
  if (rate === undefined) return {};
  const requests = Math.max(1, Math.floor(rate));
  return { rates: [{ requests, within: requests / rate }] };
}

/**
 * Thrown internally so that the request is sent again with a new token. This doesn't mean that the login is invalid.
 */
const again = new Error('The token was refused');

/** The request contains the old secret, so a new request must be built. */
const onRenewed = (): never => {
  throw again;
};
