import type { Login } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { HttpAgent } from '../lib/http.ts';
import { registerSecret, retireSecret } from '../lib/redact.ts';
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
const jwtClient = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

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
    const { login, folder } = this.#options;
    const { description } = login;
    const claims = { ...scope, ...description.assertion?.claims };
    const own = { ...description.assertion, claims };
    const signer = { ...login, description: { ...description, assertion: own } };
    return this.#ask(jwtBearer, async (now) => ({
      assertion: await makeAssertion(signer, { folder, now, purpose: 'grant' }),
      ...scope,
    }));
  }

  /** Exchanges a short-lived token for a long-lived one, with a second call to the token endpoint. */
  #swap(granted: TokenResponse, { parameters, token_parameter }: Exchange): Promise<TokenResponse> {
    const { grant_type = '', ...rest } = parameters;
    return this.#ask(grant_type, { ...rest, [token_parameter]: granted.accessToken });
  }

  async #ask(
    grantType: string,
    form: Form | SignedForm,
    address = this.#options.login.description.token_url,
  ): Promise<TokenResponse> {
    const askedAt = this.#options.clock.now();
    const typed = { grant_type: grantType };
    const whole: Form | SignedForm =
      typeof form === 'function' ? async (now) => ({ ...(await form(now)), ...typed }) : { ...form, ...typed };
    const fields = await this.#send(address, whole, 'token');
    return readTokenResponse(fields, this.#options.login.description, askedAt)!;
  }

  /**
   * Sends a form. If the form is signed, the vendor refuses it, and the clocks differ, signs it again with the vendor's
   * time and repeats the request.
   */
  async #send(address: string, form: Form | SignedForm, wanted: ExpectedAnswer): Promise<Fields> {
    const { login, clock } = this.#options;
    const isSigned = typeof form === 'function' || login.description.client_authentication === 'private_key_jwt';
    const attempt = async (now: number) =>
      this.#sendOnce(address, typeof form === 'function' ? await form(now) : form, { wanted, now });
    try {
      return await attempt(clock.now());
    } catch (thrown) {
      const ahead = isSigned && thrown instanceof TokenRefusal ? (thrown.clockAhead ?? 0) : 0;
      if (Math.abs(ahead) < clockToleranceMs) throw thrown;
      return attempt(clock.now() + ahead);
    }
  }

  async #sendOnce(address: string, form: Form, given: { wanted: ExpectedAnswer; now: number }): Promise<Fields> {
    const { login, agent, clock, folder } = this.#options;
    const { wanted } = given;
    const fields = new URLSearchParams(form);
    const headers = { 'user-agent': 'sluice', ...(await authenticate(login, fields, { folder, now: given.now })) };
    const { token_request: _, token_method: __, ...plain } = login.description;
    const description = wanted === 'token' ? login.description : { ...plain, token_parameters: {} };
    // A vendor that repeats the request in its error must not put a valid assertion into our messages.
    const assertions = ['assertion', 'client_assertion'].map((name) => fields.get(name) ?? '');
    for (const assertion of assertions) registerSecret(assertion);
    try {
      return await callTokenEndpoint(
        address,
        { headers, fields },
        { agent, description, now: () => clock.now(), wanted },
      );
    } finally {
      for (const assertion of assertions) retireSecret(assertion);
    }
  }
}

/**
 * Identifies the app as its description says (see `ClientAuthentication`). Without a secret, adds only the ID. A secret
 * that is used for signing is never sent.
 */
async function authenticate(
  login: Login,
  body: URLSearchParams,
  given: { readonly folder: string; readonly now: number },
): Promise<{ authorization?: string }> {
  const { clientId, clientSecret, description, grant } = login;
  const { client_authentication: method = 'body', assertion } = description;
  if (method === 'private_key_jwt') {
    if (clientId !== '') body.set('client_id', clientId);
    body.set('client_assertion_type', jwtClient);
    body.set('client_assertion', await makeAssertion(login, { ...given, purpose: 'client' }));
    return {};
  }
  const isSigner = grant === 'jwt_bearer' && assertion?.algorithm === 'HS256';
  if (clientId === '' || isSigner) return {};
  if (method !== 'body' && clientSecret !== undefined) {
    const encoded = method === 'basic_plain' ? (text: string) => text : formText;
    const pair = `${encoded(clientId)}:${encoded(clientSecret)}`;
    return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  }
  body.set('client_id', clientId);
  if (clientSecret !== undefined) body.set('client_secret', clientSecret);
  return {};
}

const formText = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

type Form = Readonly<Record<string, string>>;
/** A form with a signature that is valid at this time, in milliseconds. */
type SignedForm = (now: number) => Promise<Form>;
type Fields = Readonly<Record<string, unknown>>;
type Exchange = NonNullable<Login['description']['exchange']>;

interface Redeeming {
  readonly redirectUri: string;
  /** The PKCE code verifier (RFC 7636). */
  readonly verifier?: string | undefined;
}
