import type { SealKeys, Source } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import { HttpAgent } from '../lib/http.ts';
import type { Store } from '../state/store.ts';
import type { LoginEvents } from './events.ts';
import { Keeper } from './keeper.ts';
import { Keys } from './keys.ts';
import { Vault } from './vault.ts';
import { Vendor } from './vendor.ts';

export interface BookGiven {
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<LoginEvents>;
  /** Folder of the config. */
  readonly folder: string;
  readonly sealKeys?: SealKeys;
}

type Named = Pick<Source, 'name' | 'login'>;

/** What belongs to one login: where its tokens are kept, who gives them, who keeps them fresh. */
export interface Entry {
  readonly vault: Vault;
  readonly vendor: Vendor;
  readonly keeper: Keeper;
}

const connectTimeoutMs = 10_000;
/** A request under way may have used up a refresh token, so its answer is waited for, but the end has to be prompt. */
const settleMs = 5000;

/** The logins of one config, each opened when it is first asked for and shared by all sources of its name. */
export class LoginBook {
  readonly #given: BookGiven;
  readonly #agent = new HttpAgent({ connectTimeoutMs });
  readonly #entries = new Map<string, Entry>();
  readonly keys: Keys;

  constructor(given: BookGiven) {
    this.#given = given;
    this.keys = new Keys(given.sealKeys ?? { former: [] }, given.store.folder);
  }

  /** What a connector gets; undefined for a source that does not log in by OAuth. */
  of(source: Named): Keeper | undefined {
    return this.entry(source)?.keeper;
  }

  entry({ login }: Named): Entry | undefined {
    if (login === undefined) return undefined;
    const known = this.#entries.get(login.name);
    if (known !== undefined) return known;
    const { store, clock, emit, folder } = this.#given;
    const vault = new Vault({ store, keys: this.keys, login });
    const vendor = new Vendor({ login, folder, agent: this.#agent, clock });
    const entry = { vault, vendor, keeper: new Keeper({ login, vault, vendor, store, clock, emit }) };
    this.#entries.set(login.name, entry);
    return entry;
  }

  /** Ends its connections, after what is under way has been written down. */
  async close(): Promise<void> {
    const enough = new AbortController();
    const settled = Promise.all([...this.#entries.values()].map(({ keeper }) => keeper.settled()));
    await Promise.race([settled, this.#given.clock.sleep(settleMs, enough.signal).catch(() => undefined)]);
    enough.abort();
    await this.#agent.destroy();
  }
}
