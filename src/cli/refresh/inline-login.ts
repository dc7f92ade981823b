import type { Login as LoginConfig } from '../../config/config.ts';
import { loginOptions } from '../../config/options/login.ts';
import { loadLogin } from '../../config/parse/login.ts';
import { fillDescription } from '../../config/parse/oauth-description.ts';
import { readDocument } from '../../config/text/document.ts';
import { Faults } from '../../config/text/faults.ts';
import { systemClock } from '../../lib/clock.ts';
import { HttpAgent } from '../../lib/http.ts';
import { Problem } from '../../lib/problem.ts';
import { registerSecret } from '../../lib/redact.ts';
import { clientRefused, oddRefusal } from '../../oauth/login-problems.ts';
import { TokenRefusal } from '../../oauth/refusal.ts';
import { TokenClient } from '../../oauth/token-client.ts';
import type { TokenResponse } from '../../oauth/token-response.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { OAuthDescription, Token, TokenSource } from '../../sdk/oauth.ts';
import type { OptionSet, OptionValues } from '../../sdk/option.ts';
import { typedValue } from './typed-value.ts';

type Texts = Readonly<Record<string, unknown>>;

/** Names of the properties, other than tokens, that configure a login. */
export const grantNames = ['grant', 'client_id', 'client_secret', 'private_key', 'subject', 'username', 'scopes'];

/**
 * Returns the login from a data source's properties: a token, or credentials that obtain a token without user
 * interaction. Undefined if the connector uses a different type of login.
 */
export function inlineLogin(
  connector: Connector,
  source: OptionValues<OptionSet>,
  given: Texts,
): TokenSource | undefined {
  const described = connector.oauth?.(source);
  if (described === undefined) return undefined;
  const description = fillDescription(described, source);
  for (const name of ['oauth_user_token', 'refresh_token', 'client_secret', 'private_key', 'password']) {
    if (typeof given[name] === 'string') registerSecret(given[name]);
  }
  const keeps = (description.keep ?? []).map((name) => [name, textIn(given, name)] as const);
  const kept = Object.fromEntries(keeps.filter(([, value]) => value !== undefined)) as Record<string, string>;
  const token = textIn(given, 'oauth_user_token');
  const clientId = textIn(given, 'client_id');
  if (token !== undefined) {
    return new InlineToken({ access_token: token, kept, client_id: clientId });
  }
  if (clientId === undefined) throw noLogin(connector, given);
  return grantLogin({ connector, source, description, given });
}

const textIn = (given: Texts, name: string): string | undefined =>
  typeof given[name] === 'string' && given[name] !== '' ? given[name] : undefined;

class InlineToken implements TokenSource {
  readonly #token: Token;
  #isRefused = false;

  constructor(token: Token) {
    this.#token = token;
  }

  async token(): Promise<Token> {
    if (!this.#isRefused) return this.#token;
    throw new Problem({
      code: 'REFRESH_TOKEN_REFUSED',
      family: 'login',
      message: 'The token in the oauth_user_token property is no longer accepted',
      next: 'set a new one: PUT /datasource-instances/{id}/properties',
    });
  }

  async refused(): Promise<void> {
    this.#isRefused = true;
  }
}

interface GrantOptions {
  readonly connector: Connector;
  readonly source: OptionValues<OptionSet>;
  readonly description: OAuthDescription;
  readonly given: Texts;
}

function grantLogin({ connector, source, description, given }: GrantOptions): TokenSource {
  const written = Object.fromEntries(
    [...grantNames, 'password']
      .filter((name) => textIn(given, name) !== undefined)
      .map((name) => [name, typedValue(given[name], loginOptions[name as 'grant'].schema)]),
  );
  const part = { path: '', value: { login: written }, resolved: new Map(), broken: new Set<string>() };
  const faults = new Faults(readDocument('properties', JSON.stringify(part.value)));
  const login = loadLogin({ source: connector.id, connector, options: source, part, faults });
  if (login === undefined || faults.problems.length > 0) throw faults.problems[0] ?? noLogin(connector, given);
  return new GrantToken(login, refreshTokenOf(description, login, given));
}

function refreshTokenOf(description: OAuthDescription, login: LoginConfig, given: Texts): string | undefined {
  if (login.grant !== 'authorization_code') return undefined;
  const token = textIn(given, 'refresh_token');
  if (token !== undefined && description.refresh === 'static') return token;
  throw new Problem({
    code: 'REFRESH_LOGIN',
    family: 'config',
    message:
      token === undefined
        ? 'This login requires a person, so a refresh cannot use it'
        : 'This vendor changes the refresh token with every use, so it cannot be stored in a property',
    next: 'set a token in the oauth_user_token property, or read the data with a job and push it',
  });
}

/** A token is renewed after this fraction of its lifetime. */
const usedShare = 0.8;

/**
 * Requests a token on first use, again shortly before the current token expires, and again after the server rejects it.
 */
class GrantToken implements TokenSource {
  readonly #login: LoginConfig;
  readonly #refreshToken: string | undefined;
  #granted: Promise<TokenResponse> | undefined;

  constructor(login: LoginConfig, refreshToken: string | undefined) {
    this.#login = login;
    this.#refreshToken = refreshToken;
  }

  async token(): Promise<Token> {
    this.#granted ??= this.#ask();
    const { accessToken, kept, askedAt, lifetimeMs = Number.POSITIVE_INFINITY } = await this.#granted;
    if (Date.now() > askedAt + lifetimeMs * usedShare) this.#granted = undefined;
    return { access_token: accessToken, kept, client_id: this.#login.clientId };
  }

  async refused(): Promise<void> {
    this.#granted = undefined;
  }

  async #ask(): Promise<TokenResponse> {
    const agent = new HttpAgent({ connectTimeoutMs: 30_000 });
    const vendor = new TokenClient({ login: this.#login, folder: '/', agent, clock: systemClock });
    try {
      const granted = await (this.#refreshToken === undefined
        ? vendor.grantAlone()
        : vendor.refresh(this.#refreshToken));
      registerSecret(granted.accessToken);
      return granted;
    } catch (thrown) {
      if (!(thrown instanceof TokenRefusal)) throw thrown;
      throw thrown.meaning === 'client' ? clientRefused(this.#login, thrown) : oddRefusal(this.#login, thrown);
    } finally {
      await agent.destroy();
    }
  }
}

function noLogin({ title, id }: Connector, given: Texts): Problem {
  const isById = textIn(given, 'token_id') !== undefined;
  return new Problem({
    code: 'REFRESH_LOGIN',
    family: 'config',
    message: isById
      ? 'Unsupported token_id property: this service stores no tokens'
      : `${title} requires a login, but the data source has none`,
    allowed: 'oauth_user_token; or client_id with credentials that get a token without a person',
    next: `add one: PUT /datasource-instances/{id}/properties; docs/connectors/${id}.md lists the supported logins`,
  });
}
