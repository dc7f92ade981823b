import { inTransaction, inTransactionOn, Repository, type StoreContext } from '../engine/context.ts';
import { Settings } from '../settings.ts';
import { ProcessHeartbeats } from './heartbeats.ts';

/** The stored names begin with this prefix, which is followed by the setting's name, a colon and the owner. */
const prefix = 'process.';

/**
 * Stores small named values about processes, such as a daemon's active config. They're deleted when the process ends.
 */
export class ProcessSettings extends Repository {
  readonly #settings = new Settings(this.context);

  /** Sets a value of this process. No other process changes it while this one is alive, so it needs no key. */
  set(name: string, value: string): Promise<void> {
    return inTransactionOn(this.context, [], async (inside) =>
      new Settings(inside).set(nameOf(name, inside.processes.self), value),
    );
  }

  /** Returns a value of the process `owner`. */
  find(name: string, owner: string): Promise<string | undefined> {
    return this.#settings.find(nameOf(name, owner));
  }

  /** Returns the values with this name of all live processes. */
  async all(name: string): Promise<readonly { readonly owner: string; readonly value: string }[]> {
    const stored = await this.#settings.below(nameOf(name, ''));
    const all = stored.map((setting) => ({ owner: ownerOf(setting.name), value: setting.value }));
    const dead = await new ProcessHeartbeats(this.context).dead(all.map(({ owner }) => owner));
    return all.filter(({ owner }) => !dead.has(owner));
  }

  /** Deletes all values of this process. Call this when the process stops. */
  async forget(): Promise<void> {
    await inTransaction(this.context, (inside) => deleteOf(inside, async () => new Set([inside.processes.self])));
  }

  /** Deletes the values of processes that have ended. */
  async removeGone(): Promise<void> {
    await inTransaction(this.context, (inside) =>
      deleteOf(inside, (owners) => new ProcessHeartbeats(inside).gone(owners)),
    );
  }
}

/** The values can be large, so this function reads only their names. */
async function deleteOf(
  context: StoreContext,
  select: (owners: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<void> {
  const settings = new Settings(context);
  const names = await settings.namesBelow(prefix);
  const selected = await select(names.map(ownerOf));
  await settings.forget(...names.filter((name) => selected.has(ownerOf(name))));
}

const nameOf = (name: string, owner: string): string => `${prefix}${name}:${owner}`;

const ownerOf = (stored: string): string => stored.slice(stored.indexOf(':') + 1);
