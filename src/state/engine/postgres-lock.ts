import pg from 'pg';
import type { PlannerLock } from './engine.ts';

/** A server that no longer hears from a client, such as because the network was cut, notices it after 25 s. */
const keepalives = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };

/**
 * An advisory lock, held by a transaction that stays open on a connection of its own. It's a transaction's lock and not
 * a session's, because a pooler such as PgBouncer shares sessions, but not transactions. The transaction has no
 * snapshot and no ID, so it doesn't keep the server from removing old rows.
 */
export class PostgresLock implements PlannerLock {
  readonly #config: pg.ClientConfig;
  readonly #text: string;
  #client: pg.Client | undefined;
  #isHeld = false;

  constructor(config: pg.ClientConfig, name: string) {
    const settings = { idle_in_transaction_session_timeout: 0, ...keepalives };
    const set = Object.entries(settings).map(([setting, value]) => `set_config('${setting}', '${value}', true)`);
    const key = `hashtextextended(${pg.escapeLiteral(name)}, 0)`;
    this.#config = { ...config, application_name: 'sluice-planner' };
    this.#text = `begin; select ${set.join(', ')}, pg_try_advisory_xact_lock(${key}) as is_held`;
  }

  async tryAcquire(): Promise<boolean> {
    if (this.#isHeld) return true;
    try {
      const client = this.#client ?? (await this.#connect());
      const results = (await client.query(this.#text)) as unknown as pg.QueryResult<{ is_held: boolean }>[];
      this.#isHeld = this.#client === client && results[1]?.rows[0]?.is_held === true;
      if (!this.#isHeld) await client.query('rollback');
    } catch {
      await this.close();
    }
    return this.#isHeld;
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#lose();
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config);
    const lose = (): void => {
      if (this.#client === client) this.#lose();
    };
    client.on('error', lose).on('end', lose);
    this.#client = client;
    await client.connect();
    return client;
  }

  #lose(): void {
    this.#client = undefined;
    this.#isHeld = false;
  }
}
