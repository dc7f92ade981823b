import { Repository } from './engine/context.ts';
import type { LoginRow } from './tables.ts';

/** The stored record of a login that has received tokens. */
export type StoredLogin = Pick<
  LoginRow,
  'name' | 'identity' | 'encrypted' | 'key_id' | 'who' | 'scopes' | 'expires_at'
>;

/** Vendor logins, by name. `encrypted` is opaque here; the oauth room decrypts it. */
export class LoginRecords extends Repository {
  async find(name: string): Promise<LoginRow | undefined> {
    return this.context.db.selectFrom('logins').selectAll().where('name', '=', name).executeTakeFirst();
  }

  async all(): Promise<LoginRow[]> {
    return this.context.db.selectFrom('logins').selectAll().orderBy('name').execute();
  }

  /** Stores the tokens durably. Ends the current renewal and clears errors; `fresh` starts a new grant. */
  async keep(login: StoredLogin, { fresh }: { fresh: boolean }): Promise<void> {
    const now = Math.round(this.context.clock.now());
    const settled = { ...login, state: 'good' as const, renewed_at: now, asked_at: null, code: null, message: null };
    await this.context.db
      .insertInto('logins')
      .values({ ...settled, made_at: now })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(fresh ? { ...settled, made_at: now } : settled))
      .execute();
  }

  /** Records that a refresh token is about to be used (write-ahead). */
  async asking(name: string): Promise<void> {
    await this.#change(name, { asked_at: Math.round(this.context.clock.now()) });
  }

  /** The vendor reported that it didn't use the token: ends the renewal. */
  async askedInVain(name: string): Promise<void> {
    await this.#change(name, { asked_at: null });
  }

  /** The vendor revoked the grant. Its tokens are kept for diagnosis. */
  async refuse(name: string, { code, message }: { code: string; message: string }): Promise<void> {
    await this.#change(name, { state: 'refused', code, message });
  }

  async forget(name: string): Promise<void> {
    await this.context.db.deleteFrom('logins').where('name', '=', name).execute();
  }

  async #change(name: string, change: Partial<LoginRow>): Promise<void> {
    await this.context.db.updateTable('logins').set(change).where('name', '=', name).execute();
  }
}
