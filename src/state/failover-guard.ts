import { inTransaction, type StoreContext } from './engine/context.ts';
import type { ServerIdentity, StateServer } from './engine/server-identity.ts';
import { Settings } from './settings.ts';
import { StateTrust } from './state-trust.ts';

/** The setting that contains the server that the state was last used on, as JSON. */
export const serverSettingName = 'database.server';

/** The server that the state was last used on. */
interface KnownServer extends Pick<ServerIdentity, 'system' | 'timeline'> {
  /** Whether each commit waited until a standby had the transaction, so that a failover loses none. */
  readonly is_synchronous: boolean;
}

/**
 * Notices that another server has taken over the state's database. With asynchronous replication, it may lack the
 * latest transactions: payloads that have been delivered are owed again, and would replace newer data. All
 * transactions wait for the check. The first process that checks withdraws its trust in the state; the others see that.
 */
export class FailoverGuard {
  readonly #context: StoreContext;
  readonly #server: StateServer;
  /** What the last check found. */
  #checked: { readonly boot: string; readonly isSynchronous: boolean } | undefined;
  #checking: Promise<void> | undefined;

  /** `context`: without a guard, because the check's own transactions don't wait for it. */
  constructor(context: StoreContext, server: StateServer) {
    this.#context = context;
    this.#server = server;
  }

  /** Returns whether the server has changed since the last check, as far as the connections show. */
  isDue(): boolean {
    const sample = this.#server.sample();
    if (sample === undefined) return false;
    const { boot, is_synchronous } = sample;
    return boot !== this.#checked?.boot || is_synchronous !== this.#checked.isSynchronous;
  }

  /** Checks the server. Concurrent calls share one check. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    const identity = await this.#server.identify();
    const sample = this.#server.sample();
    if (sample === undefined) return;
    const { is_synchronous } = sample;
    // Without a timeline, a failover can't be told from a restart.
    if (identity !== undefined) await this.#settle(identity, is_synchronous);
    this.#checked = { boot: identity?.boot ?? sample.boot, isSynchronous: is_synchronous };
  }

  async #settle({ boot, system, timeline }: ServerIdentity, is_synchronous: boolean): Promise<void> {
    const current: KnownServer = { system, timeline, is_synchronous };
    const text = JSON.stringify(current);
    if ((await new Settings(this.#context).find(serverSettingName)) === text) return;
    await inTransaction(this.#context, async (inside) => {
      // Another server has taken over in the meantime. The next check sees it.
      if (this.#server.sample()?.boot !== boot) return;
      const settings = new Settings(inside);
      const known = await settings.find(serverSettingName);
      if (known !== undefined && this.#mayLack(JSON.parse(known) as KnownServer, current)) await distrust(inside);
      await settings.set(serverSettingName, text);
    });
  }

  /** Whether the current server may lack transactions that the known one had committed. */
  #mayLack(known: KnownServer, { system, timeline }: KnownServer): boolean {
    // A copy of the database on another cluster isn't a failover.
    if (known.system !== system || known.timeline === timeline) return false;
    return !known.is_synchronous || this.#checked?.isSynchronous === false;
  }
}

async function distrust(inside: StoreContext): Promise<void> {
  const trust = new StateTrust(inside);
  const message =
    'The database failed over to a server that may lack the latest transactions; newer data may have been sent';
  const parked = await trust.withdraw(message);
  await disown(inside);
  await trust.noteFailover({ at: Math.round(inside.clock.now()), parked });
}

/** Not the identity of any process, so what it owns is taken over as from a process that has died. */
const formerOwner = 'a process before the failover';

/**
 * Takes everything away from all processes. A live process may have finished, in a transaction that is lost, what it's
 * recorded to be doing, and would never finish it again. If it's still doing it, it finds that it has lost it.
 */
async function disown({ db }: StoreContext): Promise<void> {
  const owner = formerOwner;
  await db.updateTable('leases').set({ owner }).execute();
  await db.updateTable('send_slots').set({ owner }).execute();
  await db.updateTable('fleet_runs').set({ owner }).where('owner', 'is not', null).execute();
  await db.updateTable('runs').set({ owner }).where('state', '=', 'running').execute();
}
