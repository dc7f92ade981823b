import { setTimeout as wait } from 'node:timers/promises';
import {
  type BareCall,
  buildRequest,
  type ConnectorLog,
  CredentialProvider,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
  type LogIn,
  type LoginData,
  logInBy,
  logInByCall,
  Moment,
  type OAuthDescription,
  parseExact,
  type RequestData,
  rateLimitPauseMs,
  registerSecret,
  renderDeep,
  type Scope,
  secretName,
  type TokenSource,
  withRetries,
} from '#sdk';
import type { Auth, SideCall } from './auth.ts';
import type { RestQuery, RestSource } from './options.ts';
import { requestOf } from './request.ts';

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
}

/** Whether a response with this status is passed on to be read, although it reports a failure. */
type IsRead = (status: number) => boolean;

interface FetchOptions {
  readonly isRead?: IsRead;
  /** False if the server may have moved on with a failed request, so that repeating it would skip a page. */
  readonly isRepeatable?: boolean;
}

/** HTTP client for pages. It logs in, fills templates, retries requests and respects rate limits. */
export class RestClient {
  readonly scope: Scope;
  readonly #options: RestClientOptions;
  readonly #credentials: CredentialProvider;
  #notBefore = 0;

  constructor(init: RestClientOptions) {
    this.#options = init;
    this.scope = { now: Moment.ofRun(init.zone, init.logicalAt) };
    const call: BareCall = (request, purpose) =>
      purpose === 'logout' ? this.#sideCall(request) : logInByCall(init, () => this.#sideCall(request));
    this.#credentials = new CredentialProvider(loginOf(init.source.auth), { login: init.login, call });
  }

  /** The request for a query, with the scope's values in the templates. */
  async request(
    query: Pick<RestQuery, 'path' | 'endpoint_url' | 'method' | 'parameters' | 'body'>,
    scope: Scope,
  ): Promise<HttpRequest> {
    const credentials = this.#credentials.credentials({ ...scope, login: await this.#credentials.facts() });
    return requestOf(this.#options.source, query, { fill: (value) => renderDeep(value, scope), credentials });
  }

  /**
   * For every attempt, calls `make` and sends the request that it returns. Calls `read` with the response while a retry
   * is still possible. If the server rejects a token, refreshes the token once.
   */
  fetch<T>(
    make: () => Promise<HttpRequest>,
    read: (answer: HttpResponse, sent: HttpRequest) => Promise<T>,
    { isRead = () => false, isRepeatable = true }: FetchOptions = {},
  ): Promise<T> {
    const { source, signal, log } = this.#options;
    const onPause = (problem: Error, milliseconds: number) =>
      log.warn('retrying after a pause', { because: problem.message, pauseMs: Math.round(milliseconds) });
    return withRetries({ retries: isRepeatable ? source.retries : 0, signal, onPause }, async () => {
      await this.#pause();
      const { sent, answer } = await this.#exchange(make, isRead);
      return read(answer, sent);
    });
  }

  /** Sends a request. If the token is renewed, builds and sends a new request. */
  async #exchange(
    make: () => Promise<HttpRequest>,
    isRead: IsRead,
  ): Promise<{ sent: HttpRequest; answer: HttpResponse }> {
    const sent = await make();
    try {
      return {
        sent,
        answer: await logInBy(this.#options, () => this.#send(sent, isRead), { isRequest: true, onRenewed }),
      };
    } catch (error) {
      if (error !== again) throw error;
    }
    return this.#exchange(make, isRead);
  }

  async #send(sent: HttpRequest, isRead: IsRead): Promise<HttpResponse> {
    const { client } = this.#options;
    const answer = await client.send(sent);
    if (answer.status === 401 && (await this.#credentials.refused())) {
      await answer.body.return(undefined);
      throw again;
    }
    this.#notBefore = performance.now() + rateLimitPauseMs(answer.headers, Date.now());
    if (answer.status !== 304 && !isRead(answer.status)) await client.accept(answer);
    this.#credentials.accepted();
    return answer;
  }

  /** Ends the session if one was started. */
  end(): Promise<void> {
    return this.#credentials.end();
  }

  async #pause(): Promise<void> {
    const pause = this.#notBefore - performance.now();
    const { signal } = this.#options;
    if (pause > 0) await wait(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
  }

  async #sideCall(data: RequestData) {
    const { source, client } = this.#options;
    const request = buildRequest(data, { base: source.url ?? '' }, this.scope, { headers: {}, query: [] });
    const { url, status, headers, body } = await client.fetch(request);
    const text = Buffer.concat(await Array.fromAsync(body)).toString('utf8');
    const flat = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')] as const);
    return { url, status, headers: Object.fromEntries(flat), body: parsed(text), text };
  }
}

/**
 * Thrown internally so that the request is sent again with a new token. This doesn't mean that the login is invalid.
 */
const again = new Error('The token was refused');

/** The request contains the old secret, so a new request must be built. */
const onRenewed = (): never => {
  throw again;
};

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Converts `auth` to an SDK login. The credentials of methods without a token are added directly to the requests. */
function loginOf(auth: Auth): LoginData {
  const oauth = describedLogin(auth);
  if (oauth !== undefined) return { kind: 'oauth', oauth };
  if (auth.kind !== 'login_call') return { kind: 'none' };
  const { name = 'authorization', in: place, call, token_path = '', logout } = auth;
  registerWithin([call, logout]);
  const scheme = auth.scheme ?? (auth.name === undefined ? 'Bearer' : '');
  const value = scheme === '' ? '{{ login.token }}' : `${scheme} {{ login.token }}`;
  return {
    kind: 'session',
    call: dataOf(call!),
    token: token_path,
    ...(place === 'query' ? { query: { [name]: '{{ login.token }}' } } : { headers: { [name]: value } }),
    logout: logout === undefined ? undefined : dataOf(logout),
  };
}

/** Registers a login call's secrets, which are nested in `auth` and identified by their names. */
function registerWithin(value: unknown, name = ''): void {
  if (typeof value === 'string' && secretName.test(name)) registerSecret(value);
  if (typeof value !== 'object' || value === null) return;
  for (const [inner, one] of Object.entries(value)) registerWithin(one, Array.isArray(value) ? name : inner);
}

function dataOf({ path, method, headers, body, form }: SideCall): RequestData {
  return {
    path,
    method,
    headers,
    json: body,
    form,
  };
}

/** The OAuth description for `client_credentials` and `authorization_code`; undefined for all other kinds. */
export function describedLogin(auth: Auth): OAuthDescription | undefined {
  const { kind, token_url, scopes, client_authentication, token_parameters } = auth;
  if (token_url === undefined) return undefined;
  const shared = { token_url, scopes, client_authentication, token_parameters };
  if (kind === 'client_credentials') return { ...shared, grants: [kind], refresh: 'none' };
  if (kind !== 'authorization_code') return undefined;
  const { authorize_url, authorize_parameters, revoke_url, device_url, pkce = true } = auth;
  const device = device_url === undefined ? undefined : { url: device_url };
  // Treats all refresh tokens as single-use. This also works if they can be used more than once.
  const person = { grants: [kind], pkce, refresh: 'rotating' as const };
  return { ...shared, ...person, authorize_url, authorize_parameters, revoke_url, device };
}
