import type { Account } from '../store/accounts.ts';
import type { Database } from '../store/database.ts';
import { dailyAllowance } from './allowance.ts';
import type { EasternDay } from './eastern-day.ts';

/** A company's number of calls and its allowance on one day, for the usage reports. */
export interface DayOfCalls {
  readonly day: string;
  readonly used: number;
  readonly allowance: number;
}

/** One company's calls in the current tick of the event loop. */
interface Turn {
  readonly accountId: string;
  readonly date: string;
  /** The company's stored count before this tick. */
  readonly stored: number;
  added: number;
  allowance: number;
}

/**
 * Counts calls per company and day. All calls in the same tick of the event loop are stored in one write at the end of
 * the tick (group commit), and their responses are sent only after that. Every call that got a response is therefore
 * counted, even if the process is killed. A crash can lose only the last tick's calls, which got no response.
 */
export class CallCounts {
  readonly #db: Database;
  readonly #turns = new Map<string, Turn>();
  /** The most recently used entry. Cached because consecutive calls are often from the same company. */
  #latest: Turn | undefined;
  #kept: PromiseWithResolvers<void> | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  used(account: Account, day: EasternDay): number {
    const { stored, added } = this.#turnOf(account, day);
    return stored + added;
  }

  add(account: Account, day: EasternDay): void {
    const turn = this.#turnOf(account, day);
    turn.added++;
    turn.allowance = dailyAllowance(account);
  }

  /** Resolves when all calls that have been added so far are stored. */
  kept(): Promise<void> | void {
    return this.#kept?.promise;
  }

  /** Returns the days with at least one call, oldest first, from `from` to `to` inclusive. */
  days(accountId: string, from: string, to: string): DayOfCalls[] {
    this.#store();
    const sql = 'select day, used, allowance from api_usage where account_id = ? and day between ? and ? order by day';
    return this.#db.all<DayOfCalls>(sql, accountId, from, to);
  }

  #turnOf({ id: accountId }: Account, { date }: EasternDay): Turn {
    const latest = this.#latest;
    if (latest !== undefined && latest.accountId === accountId && latest.date === date) return latest;
    const key = `${date} ${accountId}`;
    const turn = this.#turns.get(key) ?? this.#begin(key, accountId, date);
    this.#latest = turn;
    return turn;
  }

  #begin(key: string, accountId: string, date: string): Turn {
    const sql = 'select used from api_usage where account_id = ? and day = ?';
    const stored = this.#db.get<{ used: number }>(sql, accountId, date)?.used ?? 0;
    const turn: Turn = { accountId, date, stored, added: 0, allowance: 0 };
    this.#turns.set(key, turn);
    this.#beginTurn();
    return turn;
  }

  #beginTurn(): void {
    if (this.#kept !== undefined) return;
    const kept = Promise.withResolvers<void>();
    // Callers that need the result await this promise. Without such a caller, a rejection would be unhandled.
    kept.promise.catch(() => undefined);
    this.#kept = kept;
    setImmediate(() => {
      this.#kept = undefined;
      try {
        this.#store();
        kept.resolve();
      } catch (thrown) {
        this.#forget();
        kept.reject(thrown);
      }
    });
  }

  #store(): void {
    const turns = [...this.#turns.values()].filter(({ added }) => added > 0);
    if (turns.length === 1) this.#storeOne(turns[0]!);
    else if (turns.length > 1) this.#db.transaction(() => this.#storeAll(turns));
    this.#forget();
  }

  #forget(): void {
    this.#turns.clear();
    this.#latest = undefined;
  }

  #storeAll(turns: readonly Turn[]): void {
    for (const turn of turns) this.#storeOne(turn);
  }

  /** Stores one company's calls. Does nothing if the company has been deleted in the meantime. */
  #storeOne({ accountId, date, added, allowance }: Turn): void {
    const sql = `insert into api_usage (account_id, day, used, allowance)
      select id, ?, ?, ? from accounts where id = ?
      on conflict do update set used = used + excluded.used, allowance = excluded.allowance`;
    this.#db.runAside(sql, date, added, allowance, accountId);
  }
}
