import type { Login as LoginConfig } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import { Problem, toProblem } from '../lib/problem.ts';
import { pauseMs } from '../sdk/http/retry.ts';
import type { Token, TokenSource } from '../sdk/oauth.ts';
import type { Store } from '../state/store.ts';
import type { LoginEvents } from './events.ts';
import { withLoginLease } from './login-lease.ts';
import { clientRefused, endedByVendor, needsLogin, oddRefusal, tokenEnded } from './login-problems.ts';
import { TokenRefusal } from './refusal.ts';
import type { TokenClient } from './token-client.ts';
import type { TokenResponse } from './token-response.ts';
import type { StoredTokens, TokenStore } from './token-store.ts';

export interface TokenManagerOptions {
  readonly login: LoginConfig;
  readonly tokenStore: TokenStore;
  readonly tokenClient: TokenClient;
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<LoginEvents>;
}

/** A token is renewed this long before it expires, or after 80% of its lifetime if that's later. */
const aheadMs = 5 * 60_000;
const aheadShare = 0.2;
/** Pause after a failed token request; a token that's still valid is used in the meantime. */
const holdMs = 15_000;
/**
 * Maximum number of retries of a token request. All retries must fit into the minute for which other processes wait for
 * the lease.
 */
const maxRepeats = 3;
const repeatMs = 20_000;
/** A token that can't be renewed isn't returned if it expires sooner than this. */
const lastMs = 2000;
/** A token stored this far in the future dates from before the clock was set back, so its expiry can't be trusted. */
const futureMs = 60_000;

/** A cached token. Both times are monotonic, so setting the wall clock has no effect. */
interface CachedToken {
  readonly token: Token;
  readonly renewAt: number;
  readonly endsAt: number;
}

/**
 * Keeps one login's token valid. Renewal is single-flight: callers in this process share one request, and a lease
 * excludes other processes. A renewed token is on disk before it's used.
 */
export class TokenManager implements TokenSource {
  readonly #options: TokenManagerOptions;
  #cached: CachedToken | undefined;
  #renewing: Promise<Token> | undefined;
  /** The access token that the vendor refused before it expired. */
  #refused: string | undefined;
  #failed: { readonly problem: Problem; readonly until: number; readonly secrets: string } | undefined;

  constructor(given: TokenManagerOptions) {
    this.#options = given;
  }

  async token(): Promise<Token> {
    const { clock } = this.#options;
    if (this.#cached !== undefined && clock.monotonic() < this.#cached.renewAt) return this.#cached.token;
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async refused({ access_token }: Token): Promise<void> {
    this.#refused = access_token;
    if (this.#cached?.token.access_token === access_token) this.#cached = undefined;
  }

  /** Resolves when no request is in progress, so that a token that the vendor has just issued isn't lost. */
  async settled(): Promise<void> {
    await this.#renewing?.catch(() => undefined);
  }

  async #renew(): Promise<Token> {
    const kept = await this.#options.tokenStore.load();
    const usable = this.#useStored(kept);
    if (usable !== undefined) return usable;
    this.#requireConsent(kept);
    const failed = this.#failed;
    // An earlier failure doesn't apply to new secrets.
    if (failed?.secrets === this.#secrets() && this.#options.clock.monotonic() < failed.until) {
      return this.#useCachedOrThrow(failed.problem);
    }
    try {
      return await withLoginLease(this.#options.login.name, this.#options, () => this.#renewWithLease());
    } catch (thrown) {
      return this.#useCachedOrThrow(this.#noteFailure(thrown));
    }
  }

  /** Renews the token under the lease, unless another process has renewed it while we waited for the lease. */
  async #renewWithLease(): Promise<Token> {
    const kept = await this.#options.tokenStore.load();
    const usable = this.#useStored(kept);
    if (usable !== undefined) return usable;
    this.#requireConsent(kept);
    const granted = await this.#request(kept);
    this.#refused = undefined;
    this.#failed = undefined;
    return this.#cache(granted, this.#options.clock.now()).token;
  }

  async #request(kept: StoredTokens | undefined): Promise<TokenResponse> {
    const { login, tokenClient } = this.#options;
    const { refreshToken } = kept?.granted ?? {};
    const isAlone = login.grant !== 'authorization_code';
    try {
      if (kept !== undefined && refreshToken !== undefined && kept.row.state === 'good') {
        return await this.#refresh(kept, refreshToken);
      }
      if (isAlone) return await this.#commit(() => this.#repeated(() => tokenClient.grantAlone()), kept);
    } catch (thrown) {
      if (!(thrown instanceof TokenRefusal)) throw thrown;
      // If the refresh token has expired, the user name and password may still get a new one.
      if (login.grant === 'password' && refreshToken !== undefined && thrown.meaning === 'ended') {
        const ask = () => this.#repeated(() => tokenClient.grantAlone());
        return await this.#commit(ask, kept).catch((again) => this.#explain(again, kept));
      }
      return this.#explain(thrown, kept);
    }
    throw tokenEnded(login, kept!.row);
  }

  async #refresh(kept: StoredTokens, refreshToken: string): Promise<TokenResponse> {
    const { login, tokenClient } = this.#options;
    const { previous } = kept;
    try {
      return await this.#commit(() => tokenClient.refresh(refreshToken), kept);
    } catch (thrown) {
      const isOver = thrown instanceof TokenRefusal && thrown.meaning === 'ended';
      if (!isOver || previous === undefined || login.description.refresh !== 'rotating') throw thrown;
      // Some vendors accept the previous refresh token as long as the current one hasn't been used, so trying it can't
      // hurt.
      return await this.#commit(() => tokenClient.refresh(previous), kept).catch(() => {
        throw thrown;
      });
    }
  }

  /**
   * Retries transient errors. Only for requests that issue an independent token each time, because a request whose
   * response was lost may have used up a refresh token.
   */
  async #repeated(ask: () => Promise<TokenResponse>): Promise<TokenResponse> {
    const { clock } = this.#options;
    const end = clock.monotonic() + repeatMs;
    for (let tries = 0; ; tries++) {
      try {
        return await ask();
      } catch (thrown) {
        if (!(thrown instanceof Problem) || thrown.family !== 'try_later' || tries >= maxRepeats) throw thrown;
        const pause = pauseMs(thrown, tries);
        if (clock.monotonic() + pause > end) throw thrown;
        await clock.sleep(pause);
      }
    }
  }

  /** Sends the request, and stores the response on disk before anyone uses it. */
  async #commit(ask: () => Promise<TokenResponse>, kept: StoredTokens | undefined): Promise<TokenResponse> {
    const { login, tokenStore, store, emit } = this.#options;
    await store.logins.asking(login.name);
    emit('token.asked', { login: login.name, grant: login.grant });
    const granted = await ask();
    emit('token.answered', { login: login.name });
    const whole = await tokenStore.save(granted, kept);
    const { lifetimeMs, askedAt } = whole;
    emit('token.stored', {
      login: login.name,
      expires_at: lifetimeMs === undefined ? undefined : askedAt + lifetimeMs,
    });
    return whole;
  }

  /** Throws the problem for a refusal. The refusal is recorded only if it ends the grant itself. */
  async #explain(thrown: unknown, kept: StoredTokens | undefined): Promise<never> {
    const { login, store, emit } = this.#options;
    if (!(thrown instanceof TokenRefusal)) throw thrown;
    await store.logins.askedInVain(login.name);
    if (thrown.meaning === 'client') throw clientRefused(login, thrown);
    if (thrown.meaning === 'unknown') throw oddRefusal(login, thrown);
    const problem = endedByVendor(login, thrown, kept?.row);
    const { code, message } = problem;
    await store.logins.refuse(login.name, { code, message });
    emit('token.refused', { login: login.name, code, message });
    throw problem;
  }

  /** Throws if renewing a token requires a person at a browser. */
  #requireConsent(kept: StoredTokens | undefined): void {
    const { login } = this.#options;
    if (login.grant !== 'authorization_code') return;
    if (kept === undefined) throw needsLogin(login);
    if (kept.row.state === 'refused') throw needsLogin(login, kept.row);
  }

  /** The stored token, if it's valid long enough. */
  #useStored(kept: StoredTokens | undefined): Token | undefined {
    const { clock } = this.#options;
    if (kept === undefined || kept.row.state === 'refused' || kept.granted.accessToken === this.#refused)
      return undefined;
    const now = clock.now();
    if (kept.granted.askedAt > now + futureMs) return undefined;
    const held = this.#cache(kept.granted, now);
    return clock.monotonic() < held.renewAt ? held.token : undefined;
  }

  #cache(
    { accessToken, kept, askedAt, lifetimeMs = Number.POSITIVE_INFINITY }: TokenResponse,
    now: number,
  ): CachedToken {
    const endsAt = this.#options.clock.monotonic() + askedAt + lifetimeMs - now;
    const renewAt = endsAt - (lifetimeMs === Number.POSITIVE_INFINITY ? 0 : Math.min(aheadMs, lifetimeMs * aheadShare));
    const known = this.#cached?.token;
    const { clientId } = this.#options.login;
    const token =
      known?.access_token === accessToken ? known : { access_token: accessToken, kept, client_id: clientId };
    this.#cached = { token, renewAt, endsAt };
    return this.#cached;
  }

  #noteFailure(thrown: unknown): Problem {
    const { clock, login, emit } = this.#options;
    const problem = toProblem(thrown, { code: 'LOGIN_THREW', family: 'bug' });
    // A refused secret won't be accepted later, so it isn't sent again, even before the source's hold is recorded.
    if (problem.family !== 'try_later' && !problem.isLoginRefused) return problem;
    const until = clock.monotonic() + Math.max(holdMs, problem.retryAfterMs ?? 0);
    this.#failed = { problem, until, secrets: this.#secrets() };
    emit('token.failed', { login: login.name, code: problem.code, message: problem.message });
    return problem;
  }

  /** A string that changes with the login's secrets, which may be read again while the process runs. */
  #secrets(): string {
    const { clientSecret, privateKey, password } = this.#options.login;
    return JSON.stringify([clientSecret, privateKey, password]);
  }

  /** Returns the cached token if it's still valid, even if the vendor is unreachable. Otherwise, throws the problem. */
  #useCachedOrThrow(problem: Problem): Token {
    const { clock } = this.#options;
    const inHand = this.#cached;
    if (problem.family === 'try_later' && inHand !== undefined && clock.monotonic() < inHand.endsAt - lastMs) {
      return inHand.token;
    }
    throw problem;
  }
}
