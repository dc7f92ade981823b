import { Repository } from './engine/context.ts';
import type { LoginRow } from './tables.ts';

/** A login for which tokens have been received, as it's stored. */
export type StoredLogin = Pick<
  LoginRow,
  'name' | 'identity' | 'encrypted' | 'key_id' | 'who' | 'scopes' | 'expires_at'
>;

/**
 * Stores logins at vendors by name. The tokens in `encrypted` are opaque here; only the oauth room can decrypt them.
 */
export class LoginRecords extends Repository {
  async find(name: string): Promise<LoginRow | undefined> {
    return this.context.db.selectFrom('logins').selectAll().where('name', '=', name).executeTakeFirst();
  }

  async all(): Promise<LoginRow[]> {
    return this.context.db.selectFrom('logins').selectAll().orderBy('name').execute();
  }

  /**
   * Stores a login's tokens durably. This ends the current renewal and clears the login's error. If `fresh` is true,
   * the tokens belong to a new grant.
   */
  async keep(login: StoredLogin, { fresh }: { fresh: boolean }): Promise<void> {
    const now = Math.round(this.context.clock.now());
    const settled = { ...login, state: 'good' as const, renewed_at: now, asked_at: null, code: null, message: null };
    await this.context.db
      .insertInto('logins')
      .values({ ...settled, made_at: now })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(fresh ? { ...settled, made_at: now } : settled))
      .execute();
  }

  /** Records that a login's refresh token is about to be used (write-ahead). */
  async asking(name: string): Promise<void> {
    await this.#change(name, { asked_at: Math.round(this.context.clock.now()) });
  }

  /** Records that the current renewal has ended, because the vendor reported that it didn't use the refresh token. */
  async askedInVain(name: string): Promise<void> {
    await this.#change(name, { asked_at: null });
  }

  /** Records that the vendor has revoked the grant. The tokens are kept for diagnosis. */
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
