import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { redact } from '../lib/redact.ts';
import { inTransaction, Repository, type StoreContext } from './engine/context.ts';
import { Audit, type DecidedBy } from './runs/audit.ts';
import type { LoginHoldRow, Tables } from './tables.ts';

/** A user account on a server that a source logs in to. */
export type LoginAccount = Pick<LoginHoldRow, 'connector' | 'place' | 'account'>;
/** An account and the secret that a login to it uses. */
export type LoginKey = LoginAccount & Pick<LoginHoldRow, 'key_id' | 'secret'>;

const keyOf = ({ connector, place, account, key_id, secret }: LoginKey): LoginKey => ({
  ...{ connector, place, account, key_id, secret },
});

/** Conditions on rows. */
type Where = (eb: ExpressionBuilder<Tables, 'login_holds'>) => Expression<SqlBool>;
const isOf =
  ({ connector, place, account }: LoginAccount): Where =>
  (eb) =>
    eb.and({ connector, place, account });
const is =
  (key: LoginKey): Where =>
  (eb) =>
    eb.and(keyOf(key));

/**
 * Stores circuit breakers for logins that sources have refused. A refused login is on hold until its next attempt is
 * due, a user resumes it, or its secret changes.
 */
export class LoginHolds extends Repository {
  /** Returns all of an account's records, whichever secret they're for. */
  async of(account: LoginAccount): Promise<LoginHoldRow[]> {
    return this.context.db.selectFrom('login_holds').selectAll().where(isOf(account)).execute();
  }

  async all(): Promise<LoginHoldRow[]> {
    return this.context.db.selectFrom('login_holds').selectAll().where('refusals', '>', 0).execute();
  }

  /**
   * Puts a login on hold, or records another refusal of a login that is already on hold. `retryAt` returns when to try
   * again, in epoch milliseconds; null means that the login isn't tried again automatically.
   */
  async refuse(
    key: LoginKey,
    { code, message, retryAt }: { code: string; message: string; retryAt: (refusals: number) => number | null },
  ): Promise<LoginHoldRow> {
    return inTransaction(this.context, async (inside) => {
      const known = await new LoginHolds(inside).#find(key);
      const now = Math.round(this.context.clock.now());
      const refusals = (known?.refusals ?? 0) + 1;
      const since = known === undefined || known.refusals === 0 ? now : known.since;
      const refusal = { code, message: redact(message), since, refusals, retry_at: retryAt(refusals) };
      const row = { ...keyOf(key), path: known?.path ?? null, ...refusal };
      const { db } = inside;
      if (known === undefined) await db.insertInto('login_holds').values(row).execute();
      else await this.#where(inside, key).set(refusal).execute();
      return row;
    });
  }

  /**
   * Records that a path returned 401. Returns true if a different path had already returned 401, because then the login
   * itself is refused.
   */
  async suspect(
    key: LoginKey,
    { code, message, path }: { code: string; message: string; path: string },
  ): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
      const known = await new LoginHolds(inside).#find(key);
      if (known !== undefined) return known.refusals > 0 || known.path !== path;
      const since = Math.round(this.context.clock.now());
      const row = { ...keyOf(key), since, refusals: 0, retry_at: null, code, message: redact(message), path };
      await inside.db.insertInto('login_holds').values(row).execute();
      return false;
    });
  }

  /**
   * Claims an attempt that is due (compare-and-set). Returns true to only one caller, which must make the attempt and
   * record its result.
   */
  async claim(row: LoginHoldRow, until: number | null): Promise<boolean> {
    if (row.retry_at === null) return false;
    const taken = this.#where(this.context, row).where('retry_at', '=', row.retry_at);
    return (await taken.set({ retry_at: until }).executeTakeFirst()).numUpdatedRows > 0n;
  }

  /** Sets when the login will be tried again. */
  async postpone(key: LoginKey, until: number): Promise<void> {
    await this.#where(this.context, key).set({ retry_at: until }).execute();
  }

  /**
   * Ends a login's hold, because the login works or a user has allowed an attempt. Returns false if the login was
   * neither on hold nor suspected.
   */
  async release(key: LoginKey): Promise<boolean> {
    const released = this.context.db.deleteFrom('login_holds').where(is(key));
    return (await released.executeTakeFirst()).numDeletedRows > 0n;
  }

  /** Ends all holds of an account, and records which user decided this. Returns false if the account had no hold. */
  resume(account: LoginAccount, { by, source }: { by: DecidedBy; source: string }): Promise<boolean> {
    return inTransaction(this.context, async (inside) => {
      const lifted = await inside.db.deleteFrom('login_holds').where(isOf(account)).returning('refusals').execute();
      if (!lifted.some(({ refusals }) => refusals > 0)) return false;
      await new Audit(inside).write({ by, action: 'resume', job: `source ${source}` });
      return true;
    });
  }

  async #find(key: LoginKey): Promise<LoginHoldRow | undefined> {
    return this.context.db.selectFrom('login_holds').selectAll().where(is(key)).executeTakeFirst();
  }

  #where({ db }: StoreContext, key: LoginKey) {
    return db.updateTable('login_holds').where(is(key));
  }
}
