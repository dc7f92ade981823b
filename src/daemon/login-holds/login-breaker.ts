import { randomBytes } from 'node:crypto';
import type { SealKeys, Source } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Emit } from '../../lib/events.ts';
import type { Problem } from '../../lib/problem.ts';
import { EncryptionKeys } from '../../oauth/keys.ts';
import type { LoginKey } from '../../state/login-holds.ts';
import type { Store } from '../../state/store.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import type { RunEvents } from '../events.ts';
import { hashSecret, isSameHash, loginOf, type SourceLogin } from './account.ts';
import { LoginSerializer } from './login-serializer.ts';

export interface LoginBreakerOptions {
  readonly store: Pick<Store, 'loginHolds' | 'leases' | 'folder' | 'settle'>;
  readonly clock: Clock;
  readonly emit: Emit<RunEvents>;
  /** The config file's folder. */
  readonly folder: string;
  readonly sealKeys?: SealKeys;
}

/** Backoff after the first, second and each further refusal of a login. */
const waitsMs = [3_600_000, 4 * 3_600_000, 24 * 3_600_000];
/** Retry interval after an attempt for which the server didn't say whether the secret is valid. */
const unansweredMs = 5 * 60_000;

/**
 * A circuit breaker for each account and secret. It stops the use of a refused secret before the server locks the
 * account. Every automatic login asks the breaker first; manual connection tests bypass it.
 */
export class LoginBreaker {
  readonly #given: LoginBreakerOptions;
  readonly keys: EncryptionKeys;
  /** Login attempts that runs have claimed but not made yet. */
  readonly #taken = new Map<string, LoginHoldRow>();
  readonly serializer: LoginSerializer;
  readonly #ownKey = { bytes: randomBytes(32) };
  /**
   * Problems that were already counted. If many jobs share one response from a token endpoint, the response counts as
   * one refusal.
   */
  readonly noted = new WeakSet<Problem>();

  constructor(given: LoginBreakerOptions) {
    this.#given = given;
    this.keys = new EncryptionKeys(given.sealKeys ?? { former: [] }, given.store.folder);
    this.serializer = new LoginSerializer(given);
  }

  /** Returns the hold on the source's login with the current secret, or undefined if the source may log in. */
  async find(source: Source): Promise<LoginHoldRow | undefined> {
    const login = loginOf(source);
    if (login === undefined) return undefined;
    const rows = await this.#given.store.loginHolds.of(login);
    for (const row of rows) if (row.refusals > 0 && (await this.#isOf(row, login))) return row;
    return undefined;
  }

  /**
   * Returns the hold that prevents a check of the source, or undefined if there's no hold or its next login attempt is
   * due.
   */
  async blocking(source: Source): Promise<LoginHoldRow | undefined> {
    const hold = await this.findRenewed(source);
    return hold === undefined || this.isDue(hold) ? undefined : hold;
  }

  /**
   * Must be called before a run begins. Returns the hold that prevents the run, or a function to call when the run is
   * over. If a login attempt is due, this run claims it, so that only one of the waiting runs begins.
   */
  async begin(source: Source): Promise<{ readonly hold: LoginHoldRow } | { end(): Promise<void> }> {
    const hold = await this.findRenewed(source);
    if (hold === undefined) return { end: async () => undefined };
    if (!this.isDue(hold) || !(await this.claim(source, hold))) return { hold: (await this.find(source)) ?? hold };
    const name = nameOf(hold);
    this.#taken.set(name, hold);
    const end = async (): Promise<void> => {
      // The run ended without trying to log in.
      if (this.#taken.delete(name)) await this.unanswered(hold);
    };
    return { end };
  }

  /** Returns the login attempt that the current run has claimed, if any. Later calls don't return it again. */
  takeAttempt(hold: LoginHoldRow): LoginHoldRow | undefined {
    const name = nameOf(hold);
    const taken = this.#taken.get(name);
    this.#taken.delete(name);
    return taken;
  }

  /**
   * Like {@link find}, but if the login is on hold, first rereads the files and commands that its secret comes from.
   */
  async findRenewed(source: Source): Promise<LoginHoldRow | undefined> {
    const hold = await this.find(source);
    if (hold === undefined || source.renew === undefined) return hold;
    await source.renew(source);
    return this.find(source);
  }

  isDue({ retry_at: at }: LoginHoldRow): boolean {
    return at !== null && at <= this.#given.clock.now();
  }

  /** Returns a fingerprint of the source's current secret. Fingerprints can be compared only within this process. */
  async fingerprint(source: Source): Promise<string> {
    const login = loginOf(source);
    return login === undefined ? '' : hashSecret(login, this.#ownKey, this.#given.folder);
  }

  /**
   * Claims the due login attempt before it's made (write-ahead), so that the attempt counts even if the process dies.
   * Returns false if another process has claimed the attempt.
   */
  claim(source: Source, hold: LoginHoldRow): Promise<boolean> {
    return this.#given.store.loginHolds.claim(hold, this.#retryAt(source, hold.refusals + 1));
  }

  /** Must be called when the server didn't say whether it accepts the login of a claimed attempt. */
  unanswered(hold: LoginHoldRow): Promise<void> {
    return this.#given.store.loginHolds.postpone(hold, this.#given.clock.now() + unansweredMs);
  }

  /** Records that the login was refused. */
  async refused(source: Source, { code, message }: Problem): Promise<void> {
    const { store, emit } = this.#given;
    const key = await this.#keyOf(source);
    const retryAt = (refusals: number): number | null => this.#retryAt(source, refusals);
    let kept: LoginHoldRow | undefined;
    // If the disk refuses writes, that must not hide why the run failed. The hold is then recorded later.
    await store.settle(`login ${key.place} ${key.account}`, async ({ loginHolds }) => {
      kept = await loginHolds.refuse(key, { code, message, retryAt });
    });
    const hold = kept ?? { ...key, refusals: 1, retry_at: retryAt(1) };
    emit('source.on_hold', {
      ...{ source: source.name, place: hold.place, user: hold.account, refusals: hold.refusals, code, message },
      ...(hold.retry_at === null ? {} : { until: hold.retry_at }),
    });
  }

  /**
   * Records that the server rejected a new credential with status code 401 at one path. A rejection at a second path
   * puts the login on hold.
   */
  async refusedAt(source: Source, problem: Problem): Promise<void> {
    const { code, message, refusedPath: path = '' } = problem;
    const isLogin = await this.#given.store.loginHolds.suspect(await this.#keyOf(source), { code, message, path });
    if (isLogin) await this.refused(source, problem);
  }

  /** Must be called when the login works. Needs only one query if the login was never refused. */
  async accepted(source: Source): Promise<void> {
    const login = loginOf(source)!;
    const { store, emit } = this.#given;
    for (const row of await store.loginHolds.of(login)) {
      if (!(await this.#isOf(row, login))) continue;
      await store.loginHolds.release(row);
      if (row.refusals > 0) emit('source.resumed', { source: source.name, place: row.place, user: row.account });
    }
  }

  async #isOf(row: LoginHoldRow, login: SourceLogin): Promise<boolean> {
    const key = this.keys.find(row.key_id);
    return key !== undefined && isSameHash(row.secret, await hashSecret(login, key, this.#given.folder));
  }

  async #keyOf(source: Source): Promise<LoginKey> {
    const { connector, place, account, ...login } = loginOf(source)!;
    const known = await this.#known(source);
    if (known !== undefined) return known;
    const key = this.keys.current();
    const secret = await hashSecret({ connector, place, account, ...login }, key, this.#given.folder);
    return { connector, place, account, key_id: key.id, secret };
  }

  /** Returns the row of a login that is on hold or suspected, no matter which key its secret was hashed with. */
  async #known(source: Source): Promise<LoginHoldRow | undefined> {
    const login = loginOf(source)!;
    for (const row of await this.#given.store.loginHolds.of(login)) if (await this.#isOf(row, login)) return row;
    return undefined;
  }

  #retryAt({ loginRetry }: Source, refusals: number): number | null {
    if (loginRetry === 'off') return null;
    return Math.round(this.#given.clock.now()) + waitsMs[Math.min(refusals, waitsMs.length) - 1]!;
  }
}

/** Returns a unique name for a login that is on hold. */
export const nameOf = ({ connector, place, account, secret }: LoginHoldRow): string =>
  JSON.stringify([connector, place, account, secret]);
