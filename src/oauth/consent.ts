import { createHash, timingSafeEqual } from 'node:crypto';
import type { Login } from '../config/config.ts';
import { Problem } from '../lib/problem.ts';
import { excerpt, registerSecret } from '../lib/redact.ts';
import type { TokenClient } from './token-client.ts';
import type { TokenResponse } from './token-response.ts';

/**
 * One attempt to get a person's consent: a URL to open, and validation of the response. `state` ties the response to
 * this attempt (RFC 6749 section 10.12), and the PKCE verifier ties the code to this process (RFC 7636).
 */
export class Consent {
  /** The URL that the person opens. Its contents are secret only during the attempt. */
  readonly url: string;
  readonly #login: Login;
  readonly #redirectUri: string;
  readonly #state: string;
  readonly #verifier: string | undefined;

  private constructor(given: { url: string; login: Login; redirectUri: string; state: string; verifier?: string }) {
    this.url = given.url;
    this.#login = given.login;
    this.#redirectUri = given.redirectUri;
    this.#state = given.state;
    this.#verifier = given.verifier;
  }

  /** `redirectUri`: the URL to which the browser is redirected, exactly as registered with the vendor. */
  static async begin(login: Login, redirectUri: string): Promise<Consent> {
    const { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomState } = await import(
      'oauth4webapi'
    );
    const { authorize_url = '', authorize_parameters, scope_separator = ' ', pkce = false } = login.description;
    const state = generateRandomState();
    const url = new URL(authorize_url);
    const wanted = {
      response_type: 'code',
      client_id: login.clientId,
      redirect_uri: redirectUri,
      ...(login.scopes.length === 0 ? {} : { scope: login.scopes.join(scope_separator) }),
      state,
      ...authorize_parameters,
    };
    for (const [name, value] of Object.entries(wanted)) url.searchParams.set(name, value);
    if (!pkce) return new Consent({ url: url.href, login, redirectUri, state });
    const verifier = generateRandomCodeVerifier();
    registerSecret(verifier);
    url.searchParams.set('code_challenge', await calculatePKCECodeChallenge(verifier));
    url.searchParams.set('code_challenge_method', 'S256');
    return new Consent({ url: url.href, login, redirectUri, state, verifier });
  }

  /** Whether a URL is the response to this attempt; compares in constant time. */
  knows(address: URL): boolean {
    const digest = (text: string) => createHash('sha256').update(text).digest();
    return timingSafeEqual(digest(address.searchParams.get('state') ?? ''), digest(this.#state));
  }

  /** Exchanges the response for tokens. Throws `LOGIN_STATE`, `LOGIN_DENIED`, or a token request's errors. */
  async redeem(address: URL, vendor: TokenClient): Promise<TokenResponse> {
    const { validateAuthResponse } = await import('oauth4webapi');
    hideCode(address);
    if (!this.knows(address)) throw strange();
    const issuer = address.searchParams.get('iss') ?? new URL(this.#login.description.token_url).origin;
    let code: string | null;
    try {
      code = validateAuthResponse({ issuer }, { client_id: this.#login.clientId }, address, this.#state).get('code');
    } catch (cause) {
      throw denied(address, cause);
    }
    if (!code) throw denied(address, new Error('The response has no code'));
    return vendor.redeem(code, { redirectUri: this.#redirectUri, verifier: this.#verifier });
  }

  /**
   * Parses pasted text as the redirect URL. A bare code has no state, so it's only accepted if PKCE ties it to this
   * process. Throws `LOGIN_PASTED`.
   */
  read(pasted: string): URL {
    const text = pasted.trim();
    const url = URL.parse(text);
    if (url !== null && (url.searchParams.has('code') || url.searchParams.has('error'))) return url;
    if (this.#verifier === undefined || url !== null || !/^[\w.~+/=-]{4,}$/.test(text)) throw notAnAnswer();
    const address = new URL(this.#redirectUri);
    address.searchParams.set('code', text);
    address.searchParams.set('state', this.#state);
    return address;
  }
}

function hideCode(address: URL): void {
  const code = address.searchParams.get('code');
  if (code !== null) registerSecret(code);
}

function strange(): Problem {
  return new Problem({
    code: 'LOGIN_STATE',
    family: 'login',
    message: 'The response from the browser belongs to another login',
    allowed: 'the response to the URL that was just printed',
    next: 'run the command again and use the URL that it prints',
  });
}

function denied(address: URL, cause: unknown): Problem {
  const error = address.searchParams.get('error');
  const reason = address.searchParams.get('error_description') ?? error ?? (cause as Error).message;
  return new Problem({
    code: 'LOGIN_DENIED',
    family: 'login',
    message: error === 'access_denied' ? 'Consent was refused in the browser' : 'The vendor refused the login',
    seen: excerpt(reason, 300),
    next: 'run the command again; if the error is about a scope or the redirect_uri, fix it in the vendor\'s app settings or in "login"',
    cause,
  });
}

function notAnAnswer(): Problem {
  return new Problem({
    code: 'LOGIN_PASTED',
    family: 'login',
    message: 'This is not the URL that the browser was redirected to',
    allowed: 'the complete URL, with "code=" and "state="',
    next: 'approve the request, then copy the URL from the address bar, even if the page shows an error',
  });
}
