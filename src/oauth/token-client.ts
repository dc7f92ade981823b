import type * as oauth from 'oauth4webapi';
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
  /** The config's folder, to which the path of an account file is relative. */
  readonly folder: string;
  readonly agent: HttpAgent;
  readonly clock: Clock;
}

/** If an assertion's clock is off by more than this, the vendor's clock is used. */
const clockToleranceMs = 10_000;
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Loads the client library with the first request; runs with a valid token don't need it. */
const library = (): Promise<typeof oauth> => import('oauth4webapi');

/**
 * A vendor's token endpoint, with one method per grant. The library builds requests and validates responses according
 * to the RFCs; in between, they're translated to and from the vendor's dialect. All methods throw like
 * `callTokenEndpoint`.
 */
export class TokenClient {
  readonly #options: TokenClientOptions;

  constructor(given: TokenClientOptions) {
    this.#options = given;
  }

  /**
   * Exchanges the authorization code (RFC 6749 section 4.1.3), and then for a long-lived token if the vendor requires
   * that.
   */
  async redeem(answer: URLSearchParams, consent: { redirectUri: string; verifier?: string }): Promise<TokenResponse> {
    const { authorizationCodeGrantRequest, nopkce } = await library();
    const { redirectUri } = consent;
    const verifier = (consent.verifier ?? nopkce) as string | typeof oauth.nopkce;
    const granted = await this.#ask((as, client, auth, options) =>
      authorizationCodeGrantRequest(as, client, auth, answer, redirectUri, verifier, options),
    );
    const { exchange } = this.#options.login.description;
    return exchange === undefined ? granted : { ...granted, ...(await this.#swap(granted, exchange)) };
  }

  async refresh(refreshToken: string): Promise<TokenResponse> {
    const { refreshTokenGrantRequest } = await library();
    const { refresh_url } = this.#options.login.description;
    const send: Send = (as, client, auth, options) => refreshTokenGrantRequest(as, client, auth, refreshToken, options);
    return this.#ask(send, refresh_url);
  }

  /** Grants without a person: client credentials, a signed assertion, a user's name and password. */
  async grantAlone(): Promise<TokenResponse> {
    const { grant, scopes, description, username = '', password = '' } = this.#options.login;
    const scope: Record<string, string> =
      scopes.length === 0 ? {} : { scope: scopes.join(description.scope_separator ?? ' ') };
    if (grant === 'jwt_bearer') return this.#byAssertion(scope);
    if (grant === 'password') return this.#generic('password', { username, password, ...scope });
    const { clientCredentialsGrantRequest } = await library();
    return this.#ask((as, client, auth, options) => clientCredentialsGrantRequest(as, client, auth, scope, options));
  }

  /** Requests a device code; the vendor must support them. */
  async askCode(): Promise<DeviceCode> {
    const { scopes, description } = this.#options.login;
    const { url, parameters, lifetime_seconds } = description.device!;
    const { deviceAuthorizationRequest } = await library();
    const { as, client, auth, options, heard } = await this.#parties(url, 'code');
    const scope = scopes.join(description.scope_separator ?? ' ');
    const asked = { ...(scope === '' ? {} : { scope }), ...parameters };
    await deviceAuthorizationRequest(as, client, auth, asked, options);
    return readDeviceCode(heard.at(-1)!, { host: new URL(url).host, lifetime_seconds });
  }

  /** Exchanges the device code. Throws a TokenRefusal until the person has consented (RFC 8628 section 3.5). */
  async redeemCode({ deviceCode }: DeviceCode): Promise<TokenResponse> {
    const { grant_type = deviceGrant, code_parameter = 'device_code' } = this.#options.login.description.device!;
    return this.#generic(grant_type, { [code_parameter]: deviceCode });
  }

  /** Revokes a token at the vendor (RFC 7009); false if the vendor has no revocation endpoint. */
  async revoke(token: string): Promise<boolean> {
    const { revoke_url } = this.#options.login.description;
    if (revoke_url === undefined) return false;
    const { revocationRequest } = await library();
    const { as, client, auth, options } = await this.#parties(revoke_url, 'nothing');
    await revocationRequest(as, client, auth, token, options);
    return true;
  }

  /** Google reads the scopes from the assertion, others from the request, so both have them. */
  async #byAssertion(scope: Record<string, string>): Promise<TokenResponse> {
    const { login, folder, clock } = this.#options;
    const { description } = login;
    const claims = { ...scope, ...description.assertion?.claims };
    const own = { algorithm: 'RS256' as const, ...description.assertion, claims };
    const signed = (now: number) =>
      makeAssertion({ ...login, description: { ...description, assertion: own } }, { folder, now });
    try {
      return await this.#generic(jwtBearer, { assertion: await signed(clock.now()), ...scope });
    } catch (thrown) {
      const ahead = thrown instanceof TokenRefusal ? (thrown.clockAhead ?? 0) : 0;
      if (Math.abs(ahead) < clockToleranceMs) throw thrown;
      return this.#generic(jwtBearer, { assertion: await signed(clock.now() + ahead), ...scope });
    }
  }

  /** Exchanges a short-lived token for a long-lived one, with a second call to the token endpoint. */
  #swap(granted: TokenResponse, { parameters, token_parameter }: Exchange): Promise<TokenResponse> {
    const { grant_type = '', ...rest } = parameters;
    return this.#generic(grant_type, { ...rest, [token_parameter]: granted.accessToken });
  }

  async #generic(grantType: string, parameters: Record<string, string>): Promise<TokenResponse> {
    const { genericTokenEndpointRequest } = await library();
    return this.#ask((as, client, auth, options) =>
      genericTokenEndpointRequest(as, client, auth, grantType, parameters, options),
    );
  }

  async #ask(send: Send, address = this.#options.login.description.token_url): Promise<TokenResponse> {
    const { description } = this.#options.login;
    const askedAt = this.#options.clock.now();
    const { as, client, auth, options, heard } = await this.#parties(address, 'token');
    const { processGenericTokenEndpointResponse } = await library();
    await processGenericTokenEndpointResponse(as, client, await send(as, client, auth, options));
    return readTokenResponse(heard.at(-1)!, description, askedAt)!;
  }

  /** The server and the client as the library needs them; `ask` translates to and from the vendor's dialect. */
  async #parties(address: string, wanted: ExpectedAnswer): Promise<Parties> {
    const { allowInsecureRequests, customFetch } = await library();
    const { login, agent, clock } = this.#options;
    const heard: Fields[] = [];
    const ask = async (url: string, { headers, body }: { headers: Record<string, string>; body: URLSearchParams }) => {
      const now = () => clock.now();
      const { token_request: _, token_method: __, ...plain } = login.description;
      const description = wanted === 'token' ? login.description : { ...plain, token_parameters: {} };
      const fields = await callTokenEndpoint(url, { headers, fields: body }, { agent, description, now, wanted });
      heard.push(fields);
      return Response.json(wanted === 'token' ? { access_token: fields.access_token, token_type: 'bearer' } : {});
    };
    return {
      as: {
        issuer: new URL(address).origin,
        token_endpoint: address,
        revocation_endpoint: address,
        device_authorization_endpoint: address,
      },
      // The library requires a client ID even if an account file has it; what is sent is decided below.
      client: { client_id: login.clientId || 'account' },
      auth: (_, __, body, headers) => authenticate(login, body, headers),
      options: { [customFetch]: ask as never, [allowInsecureRequests]: true },
      heard,
    };
  }
}

/**
 * RFC 6749 section 2.3.1: sends ID and secret form-encoded in Basic, or plain in the body; without a secret, only the
 * ID. A secret used for signing is never sent.
 */
function authenticate(login: Login, body: URLSearchParams, headers: Headers): void {
  const { clientId, clientSecret, description, grant } = login;
  const isSigner = grant === 'jwt_bearer' && description.assertion?.algorithm === 'HS256';
  if (clientId === '' || isSigner) return;
  if (description.client_authentication === 'basic' && clientSecret !== undefined) {
    const pair = `${formText(clientId)}:${formText(clientSecret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
    return;
  }
  body.set('client_id', clientId);
  if (clientSecret !== undefined) body.set('client_secret', clientSecret);
}

const formText = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

type Fields = Readonly<Record<string, unknown>>;
type Exchange = NonNullable<Login['description']['exchange']>;
type Options = oauth.TokenEndpointRequestOptions & oauth.ClientCredentialsGrantRequestOptions;

type Send = (
  as: oauth.AuthorizationServer,
  client: oauth.Client,
  auth: oauth.ClientAuth,
  options: Options,
) => Promise<Response>;

interface Parties {
  readonly as: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly auth: oauth.ClientAuth;
  readonly options: Options;
  /** The vendor's raw responses. */
  readonly heard: Fields[];
}
