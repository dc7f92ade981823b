import type { Ground } from './part.ts';

/** What holds for a whole account: a pause that the service asked for. */
export class Accounts {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** Nothing is sent to the account for this long. A longer pause that is already set stays. */
  async hold(account: string, milliseconds: number): Promise<void> {
    const now = Math.round(this.#ground.clock.now());
    const until = Math.max(now + Math.ceil(milliseconds), (await this.heldUntil(account)) ?? 0);
    const held = { held_at: now, held_until: until };
    await this.#ground.db
      .insertInto('accounts')
      .values({ account, ...held, slowed_to: null, slowed_at: null })
      .onConflict((conflict) => conflict.column('account').doUpdateSet(held))
      .execute();
  }

  /** End of the pause (epoch ms); undefined when there is none, or when the clock has been set back before its start. */
  async heldUntil(account: string): Promise<number | undefined> {
    const now = this.#ground.clock.now();
    const row = await this.#ground.db
      .selectFrom('accounts')
      .selectAll()
      .where('account', '=', account)
      .executeTakeFirst();
    return row !== undefined && row.held_at <= now && now < row.held_until ? row.held_until : undefined;
  }
}
