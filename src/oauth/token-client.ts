import type { Login } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { HttpAgent } from '../lib/http.ts';
import { makeAssertion } from './assertion.ts';
import { type DeviceCode, readDeviceCode } from './device-code.ts';
import { TokenRefusal } from './refusal.ts';
import { callTokenEndpoint, type ExpectedAnswer } from './token-endpoint.ts';
import { readTokenResponse, type TokenResponse } from './token-response.ts';

export interface TokenClientOptions {
  readonly login: Login;
  /** The config's folder, which the path of an account file is relative to. */
  readonly folder: string;
  readonly agent: HttpAgent;
  readonly clock: Clock;
}

/** If our clock differs from the vendor's by more than this, assertions use the vendor's clock. */
const clockToleranceMs = 10_000;
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * A vendor's token endpoint, with one method per grant: requests according to the RFCs, in the vendor's dialect. All
 * methods throw like `callTokenEndpoint`.
 */
export class TokenClient {
  readonly #options: TokenClientOptions;

  constructor(given: TokenClientOptions) {
    this.#options = given;
  }

  /**
   * Exchanges the authorization code for a token (RFC 6749 section 4.1.3). If the vendor requires it, also exchanges
   * that token for a long-lived one.
   */
  async redeem(code: string, { redirectUri, verifier }: Redeeming): Promise<TokenResponse> {
    const proof: Form = verifier === undefined ? {} : { code_verifier: verifier };
    const granted = await this.#ask('authorization_code', { code, redirect_uri: redirectUri, ...proof });
    const { exchange } = this.#options.login.description;
    return exchange === undefined ? granted : { ...granted, ...(await this.#swap(granted, exchange)) };
  }

  refresh(refreshToken: string): Promise<TokenResponse> {
    const { refresh_url } = this.#options.login.description;
    return this.#ask('refresh_token', { refresh_token: refreshToken }, refresh_url);
  }

  /** Gets a token without a person: with client credentials, a signed assertion, or a username and password. */
  async grantAlone(): Promise<TokenResponse> {
    const { grant, username = '', password = '' } = this.#options.login;
    if (grant === 'jwt_bearer') return this.#byAssertion(this.#scope());
    if (grant === 'password') return this.#ask('password', { username, password, ...this.#scope() });
    return this.#ask('client_credentials', this.#scope());
  }

  /** Requests a device code. The vendor must support device codes. */
  async askCode(): Promise<DeviceCode> {
    const { url, parameters, lifetime_seconds } = this.#options.login.description.device!;
    const fields = await this.#send(url, { ...this.#scope(), ...parameters }, 'code');
    return readDeviceCode(fields, { host: new URL(url).host, lifetime_seconds });
  }

  /**
   * Exchanges the device code for tokens. Throws a TokenRefusal until the person has consented (RFC 8628 section 3.5).
   */
  async redeemCode({ deviceCode }: DeviceCode): Promise<TokenResponse> {
    const { grant_type = deviceGrant, code_parameter = 'device_code' } = this.#options.login.description.device!;
    return this.#ask(grant_type, { [code_parameter]: deviceCode });
  }

  /** Revokes a token at the vendor's endpoint (RFC 7009). Returns false if the vendor has no such endpoint. */
  async revoke(token: string): Promise<boolean> {
    const { revoke_url } = this.#options.login.description;
    if (revoke_url === undefined) return false;
    await this.#send(revoke_url, { token }, 'nothing');
    return true;
  }

  #scope(): Form {
    const { scopes, description } = this.#options.login;
    return scopes.length === 0 ? {} : { scope: scopes.join(description.scope_separator ?? ' ') };
  }

  /**
   * Gets a token for a signed assertion. Google reads the scopes from the assertion, and other vendors from the
   * request, so both contain them.
   */
  async #byAssertion(scope: Form): Promise<TokenResponse> {
    const { login, folder, clock } = this.#options;
    const { description } = login;
    const claims = { ...scope, ...description.assertion?.claims };
    const own = { algorithm: 'RS256' as const, ...description.assertion, claims };
    const signed = (now: number) =>
      makeAssertion({ ...login, description: { ...description, assertion: own } }, { folder, now });
    try {
      return await this.#ask(jwtBearer, { assertion: await signed(clock.now()), ...scope });
    } catch (thrown) {
      const ahead = thrown instanceof TokenRefusal ? (thrown.clockAhead ?? 0) : 0;
      if (Math.abs(ahead) < clockToleranceMs) throw thrown;
      return this.#ask(jwtBearer, { assertion: await signed(clock.now() + ahead), ...scope });
    }
  }

  /** Exchanges a short-lived token for a long-lived one, with a second call to the token endpoint. */
  #swap(granted: TokenResponse, { parameters, token_parameter }: Exchange): Promise<TokenResponse> {
    const { grant_type = '', ...rest } = parameters;
    return this.#ask(grant_type, { ...rest, [token_parameter]: granted.accessToken });
  }

  async #ask(
    grantType: string,
    form: Form,
    address = this.#options.login.description.token_url,
  ): Promise<TokenResponse> {
    const askedAt = this.#options.clock.now();
    const fields = await this.#send(address, { ...form, grant_type: grantType }, 'token');
    return readTokenResponse(fields, this.#options.login.description, askedAt)!;
  }

  async #send(address: string, form: Form, wanted: ExpectedAnswer): Promise<Fields> {
    const { login, agent, clock } = this.#options;
    const fields = new URLSearchParams(form);
    const headers = { 'user-agent': 'sluice', ...authenticate(login, fields) };
    const { token_request: _, token_method: __, ...plain } = login.description;
    const description = wanted === 'token' ? login.description : { ...plain, token_parameters: {} };
    const now = () => clock.now();
    return callTokenEndpoint(address, { headers, fields }, { agent, description, now, wanted });
  }
}

/**
 * Adds the client ID and secret according to RFC 6749 section 2.3.1: form-encoded in a Basic header, or as fields of
 * the body. Without a secret, adds only the ID. A secret that is used for signing is never sent.
 */
function authenticate(login: Login, body: URLSearchParams): { authorization?: string } {
  const { clientId, clientSecret, description, grant } = login;
  const isSigner = grant === 'jwt_bearer' && description.assertion?.algorithm === 'HS256';
  if (clientId === '' || isSigner) return {};
  if (description.client_authentication === 'basic' && clientSecret !== undefined) {
    const pair = `${formText(clientId)}:${formText(clientSecret)}`;
    return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  }
  body.set('client_id', clientId);
  if (clientSecret !== undefined) body.set('client_secret', clientSecret);
  return {};
}

const formText = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

type Form = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;
type Exchange = NonNullable<Login['description']['exchange']>;

interface Redeeming {
  readonly redirectUri: string;
  /** The PKCE code verifier (RFC 7636). */
  readonly verifier?: string | undefined;
}
