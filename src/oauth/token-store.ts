import type { Login } from '../config/config.ts';
import { registerSecret, retireSecret } from '../lib/redact.ts';
import type { Store } from '../state/store.ts';
import type { LoginRow } from '../state/tables.ts';
import { decrypt, encrypt } from './encryption.ts';
import { identityOf } from './identity.ts';
import type { EncryptionKeys } from './keys.ts';
import type { TokenResponse } from './token-response.ts';

export interface StoredTokens {
  readonly row: LoginRow;
  readonly granted: TokenResponse;
  /** The previous refresh token, which some vendors still accept if the current one was never used. */
  readonly previous?: string;
}

/** Encrypted storage for one login's tokens, bound to the login's name and identity. */
export class TokenStore {
  readonly #store: Store;
  readonly #keys: EncryptionKeys;
  readonly #name: string;
  readonly #identity: string;
  readonly #alone: boolean;
  /** Recent access tokens that must stay registered for redaction, newest last. */
  readonly #shown: string[] = [];

  constructor(given: { store: Store; keys: EncryptionKeys; login: Login }) {
    this.#store = given.store;
    this.#keys = given.keys;
    this.#name = given.login.name;
    this.#identity = identityOf(given.login);
    this.#alone = given.login.grant !== 'authorization_code';
  }

  /** Loads the stored tokens. Undefined if no one has logged in for this app and user yet. */
  async load(): Promise<StoredTokens | undefined> {
    const row = await this.#store.logins.find(this.#name);
    if (row === undefined || row.identity !== this.#identity) return undefined;
    const { previous, ...granted } = JSON.parse(decrypt(row, this.#about, this.#keys)) as TokenResponse & {
      previous?: string;
    };
    this.#hide(granted);
    if (previous !== undefined) registerSecret(previous);
    return { row, granted, previous };
  }

  /**
   * Stores the tokens and resolves when they're durable. `before`: the tokens that were renewed; undefined for a new
   * login. A renewal keeps the old refresh token, even if the response has a new one.
   */
  async save(granted: TokenResponse, before: StoredTokens | undefined): Promise<TokenResponse> {
    this.#hide(granted);
    const old = before?.granted.refreshToken;
    const refreshToken = granted.refreshToken ?? old;
    const whole: TokenResponse = { ...granted, refreshToken };
    const previous = old !== undefined && old !== refreshToken ? { previous: old } : {};
    const { who = before?.row.who, scopes = before?.row.scopes, lifetimeMs } = granted;
    const expires = lifetimeMs === undefined ? null : Math.round(granted.askedAt + lifetimeMs);
    const row = {
      name: this.#name,
      identity: this.#identity,
      who: who ?? null,
      scopes: scopes ?? '',
      expires_at: expires,
    };
    const encrypted = encrypt(JSON.stringify({ ...whole, ...previous }), this.#about, this.#keys);
    await this.#store.logins.keep({ ...row, ...encrypted }, { fresh: before === undefined });
    return whole;
  }

  /** Whether the stored login can be renewed without a person. */
  async renews(): Promise<boolean> {
    return this.#alone || (await this.load())?.granted.refreshToken !== undefined;
  }

  get #about(): string {
    return `${this.#name}\n${this.#identity}`;
  }

  #hide({ accessToken, refreshToken }: TokenResponse): void {
    if (refreshToken !== undefined) registerSecret(refreshToken);
    if (this.#shown.includes(accessToken)) return;
    registerSecret(accessToken);
    this.#shown.push(accessToken);
    if (this.#shown.length > 3) retireSecret(this.#shown.shift()!);
  }
}
