import { Problem } from '../../lib/problem.ts';
import { registerSecret } from '../../lib/redact.ts';
import { type LogInAttemptOptions, logInBy } from '../connector.ts';
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

/** Provides a service's credentials during a run, and refreshes them. */
export class CredentialProvider {
  readonly #data: LoginData;
  readonly #login: TokenSource | undefined;
  readonly #call: BareCall;
  #token: Token | undefined;
  #refusals = 0;

  constructor(data: LoginData, given: { login: TokenSource | undefined; call: BareCall }) {
    this.#data = data;
    this.#login = given.login;
    this.#call = given.call;
  }

  /** The login's template variables. */
  async facts(): Promise<Facts | undefined> {
    if (this.#data.kind === 'oauth') {
      if (this.#login === undefined) throw tokenMissing();
      this.#remember(await this.#login.token());
    }
    if (this.#data.kind === 'session' && this.#token === undefined) await this.#logIn();
    if (this.#token === undefined) return undefined;
    const { access_token, kept, client_id } = this.#token;
    return { token: access_token, kept, client_id };
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
   * Call this if the service refused the token. Returns true if a new token may help, which is only once until the next
   * successful response. In a preview, a session's token is new, so another login wouldn't help.
   */
  async refused({ preview }: { readonly preview?: PreviewLimits | undefined } = {}): Promise<boolean> {
    const token = this.#token;
    if (token === undefined || this.#refusals > 0) return false;
    if (preview !== undefined && this.#data.kind === 'session') return false;
    this.#refusals += 1;
    this.#token = undefined;
    if (this.#data.kind === 'oauth') await this.#login?.refused(token);
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
