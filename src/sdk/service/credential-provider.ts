import { Problem } from '../../lib/problem.ts';
import { registerSecret } from '../../lib/redact.ts';
import { type LogInAttemptOptions, logInBy } from '../log-in.ts';
import type { Token, TokenSource } from '../oauth.ts';
import type { PreviewLimits } from '../preview.ts';
import { pick, type ServiceAnswer } from './answer.ts';
import { type AuthParameters, textsOf } from './build-request.ts';
import type { LoginData } from './description.ts';
import { textOf } from './exact-json.ts';
import { placeText } from './page-problems.ts';
import type { RequestData } from './request-data.ts';
import { noTokenIn, tokenMissing } from './service-problems.ts';
import { renderText, type Scope } from './template.ts';

/**
 * Sends the calls that open and close a session, without a token. The login call is sent through {@link logInByCall}.
 */
export type BareCall = (request: RequestData, purpose: 'login' | 'logout') => Promise<ServiceAnswer>;

interface Facts {
  readonly token: string;
  readonly kept: Readonly<Record<string, string>>;
  readonly client_id: string | undefined;
}

interface RefusalOptions {
  readonly preview?: PreviewLimits | undefined;
  readonly used?: string | undefined;
}

/** Provides a service's credentials during a run, and refreshes them. */
export class CredentialProvider {
  readonly #data: LoginData;
  readonly #login: TokenSource | undefined;
  readonly #call: BareCall;
  #token: Token | undefined;
  #newest: string | undefined;
  #refusals = 0;
  /** Shared by all requests that need the token at the same time, so that they log in once. */
  #acquiring: Promise<Token | undefined> | undefined;
  #reporting: Promise<void> | undefined;

  constructor(data: LoginData, given: { login: TokenSource | undefined; call: BareCall }) {
    this.#data = data;
    this.#login = given.login;
    this.#call = given.call;
  }

  /** The login's template variables. */
  async facts(): Promise<Facts | undefined> {
    this.#acquiring ??= this.#acquire().finally(() => {
      this.#acquiring = undefined;
    });
    const token = await this.#acquiring;
    if (token === undefined) return undefined;
    const { access_token, kept, client_id } = token;
    return { token: access_token, kept, client_id };
  }

  /** The newest token, even if it was refused. A request that was just built contains it. */
  get newest(): string | undefined {
    return this.#newest;
  }

  /** Headers and parameters for one request. `scope` contains the login's variables under `login`. */
  credentials(scope: Scope): AuthParameters {
    const data = this.#data;
    if (data.kind === 'none') return { headers: {}, query: [] };
    const headers = textsOf(data.headers, scope);
    const query = Object.entries(textsOf(data.query, scope));
    if (data.kind === 'basic') return { headers: { authorization: basicOf(data, scope), ...headers }, query };
    const isPlaced = data.headers !== undefined || data.query !== undefined;
    const bearer = isPlaced || data.kind === 'key' ? {} : textsOf({ authorization: 'Bearer {{ login.token }}' }, scope);
    for (const value of [...Object.values(headers), ...query.map(([, text]) => text)]) registerSecret(value);
    return { headers: { ...bearer, ...headers }, query };
  }

  /**
   * Call this if the service refused `used`, the token of a request (default: the current one). Returns true if a new
   * token may help: always if the token is no longer the current one, because another request was refused first.
   * Otherwise only once until the next successful response. In a preview, a session's token is new, so another login
   * wouldn't help.
   */
  async refused({ preview, used = this.#token?.access_token }: RefusalOptions = {}): Promise<boolean> {
    if (used === undefined) return false;
    // The runner may be about to return the refused token again.
    while (this.#token?.access_token === used && this.#acquiring !== undefined) {
      await this.#acquiring.catch(() => undefined);
    }
    const token = this.#token;
    if (token?.access_token !== used) return true;
    if (this.#refusals > 0) return false;
    if (preview !== undefined && this.#data.kind === 'session') return false;
    this.#refusals += 1;
    this.#token = undefined;
    if (this.#data.kind === 'oauth') await this.#report(token);
    return true;
  }

  /** Call this if the service accepted the credentials. */
  accepted(): void {
    this.#refusals = 0;
  }

  /** Ends an open session. Never throws, because the run has already ended. */
  async end(): Promise<void> {
    const data = this.#data;
    if (data.kind !== 'session' || data.logout === undefined || this.#token === undefined) return;
    await this.#call(data.logout, 'logout').catch(() => undefined);
  }

  async #acquire(): Promise<Token | undefined> {
    // The runner returns a token until it knows that the service refused it.
    await this.#reporting;
    if (this.#data.kind === 'oauth') {
      if (this.#login === undefined) throw tokenMissing();
      this.#remember(await this.#login.token());
    }
    if (this.#data.kind === 'session' && this.#token === undefined) await this.#logIn();
    return this.#token;
  }

  async #report(token: Token): Promise<void> {
    this.#reporting = this.#login?.refused(token).finally(() => {
      this.#reporting = undefined;
    });
    await this.#reporting;
  }

  async #logIn(): Promise<void> {
    if (this.#data.kind !== 'session') return;
    const { call, token: at, place } = this.#data;
    const answer = await this.#call(call, 'login');
    const token = textOf(typeof at === 'function' ? at(answer) : pick(answer, at));
    if (token === undefined || token === '')
      throw noTokenIn(answer, place ?? placeText(typeof at === 'function' ? undefined : at));
    this.#remember({ access_token: token, kept: {} });
  }

  #remember(token: Token): void {
    if (token.access_token !== this.#token?.access_token) registerSecret(token.access_token);
    this.#token = token;
    this.#newest = token.access_token;
  }
}

/** Requests a session token. If the service refuses the request, it has refused the login itself. */
export function logInByCall<T>(
  context: Parameters<typeof logInBy>[0],
  call: () => Promise<T>,
  options?: LogInAttemptOptions,
): Promise<T> {
  const ofLogin = (thrown: unknown): never => {
    throw thrown instanceof Problem && thrown.refusedPath !== undefined ? thrown.ofLogin() : thrown;
  };
  return logInBy(context, () => call().catch(ofLogin), options);
}

/** The login that applies: the first one that requires no option or whose option is set. */
export function loginOf(
  logins: LoginData | readonly LoginData[],
  options: Readonly<Record<string, unknown>>,
): LoginData {
  const all = [logins].flat() as readonly LoginData[];
  return all.find(({ when }) => when === undefined || isSet(options[when])) ?? { kind: 'none' };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function basicOf(data: Extract<LoginData, { kind: 'basic' }>, scope: Scope): string {
  const password = renderText(data.password, scope) ?? '';
  registerSecret(password);
  const pair = Buffer.from(`${renderText(data.user, scope) ?? ''}:${password}`, 'utf8').toString('base64');
  registerSecret(pair);
  return `Basic ${pair}`;
}
