import type { SealKeys, Source } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import { HttpAgent } from '../lib/http.ts';
import type { Store } from '../state/store.ts';
import type { LoginEvents } from './events.ts';
import { EncryptionKeys } from './keys.ts';
import { TokenClient } from './token-client.ts';
import { TokenManager } from './token-manager.ts';
import { TokenStore } from './token-store.ts';

export interface LoginRegistryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<LoginEvents>;
  /** Folder of the config. */
  readonly folder: string;
  readonly sealKeys?: SealKeys;
}

type Named = Pick<Source, 'name' | 'login'>;

/** The parts of a login: token storage, token client and token manager. */
export interface RegisteredLogin {
  readonly tokenStore: TokenStore;
  readonly tokenClient: TokenClient;
  readonly tokenManager: TokenManager;
}

const connectTimeoutMs = 10_000;
/** Maximum wait for the response to a request in progress, which may have used up a refresh token. */
const settleMs = 5000;

/** A config's logins, opened on first use and shared by all sources with the same login. */
export class LoginRegistry {
  readonly #options: LoginRegistryOptions;
  readonly #agent = new HttpAgent({ connectTimeoutMs });
  readonly #entries = new Map<string, RegisteredLogin>();
  readonly keys: EncryptionKeys;

  constructor(given: LoginRegistryOptions) {
    this.#options = given;
    this.keys = new EncryptionKeys(given.sealKeys ?? { former: [] }, given.store.folder);
  }

  /** The token manager for a source; undefined if the source doesn't use OAuth. */
  of(source: Named): TokenManager | undefined {
    return this.entry(source)?.tokenManager;
  }

  entry({ login }: Named): RegisteredLogin | undefined {
    if (login === undefined) return undefined;
    const known = this.#entries.get(login.name);
    if (known !== undefined) return known;
    const { store, clock, emit, folder } = this.#options;
    const tokenStore = new TokenStore({ store, keys: this.keys, login });
    const tokenClient = new TokenClient({ login, folder, agent: this.#agent, clock });
    const entry = {
      tokenStore,
      tokenClient,
      tokenManager: new TokenManager({ login, tokenStore, tokenClient, store, clock, emit }),
    };
    this.#entries.set(login.name, entry);
    return entry;
  }

  /** Closes the connections, after waiting briefly for the results of requests in progress to be stored. */
  async close(): Promise<void> {
    const enough = new AbortController();
    const settled = Promise.all([...this.#entries.values()].map(({ tokenManager }) => tokenManager.settled()));
    await Promise.race([settled, this.#options.clock.sleep(settleMs, enough.signal).catch(() => undefined)]);
    enough.abort();
    await this.#agent.destroy();
  }
}
