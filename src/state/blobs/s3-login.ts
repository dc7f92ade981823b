import { systemClock } from '../../lib/clock.ts';
import type { AwsLogin } from '../../secrets/aws-login.ts';
import { SecretsClient } from '../../secrets/secrets-client.ts';
import type { PayloadsBucket } from '../engine/state-database.ts';
import { lostConnection, missingLogin } from './s3-problems.ts';

/** Temporary credentials are renewed this long before they expire, because AWS provides the next ones before that. */
const renewalMs = 5 * 60_000;
/** While they can't be renewed, they're used until they expire, and another attempt begins this long after the last. */
const retryMs = 30_000;
/** Requests in progress may use former credentials. Those before them are no longer treated as secrets. */
const maxShown = 3;

/** The error codes for credentials that were valid once. */
const expiredCodes = new Set(['ExpiredToken', 'ExpiredTokenException', 'InvalidToken', 'TokenRefreshRequired']);

/**
 * The credentials for a bucket: the key in the config or, without one, those that AWS's own tools find in the
 * environment or from the machine. All requests share temporary credentials until these are about to expire.
 */
export class S3Login {
  readonly #bucket: PayloadsBucket;
  readonly #client = new SecretsClient({ clock: systemClock });
  #current: AwsLogin | undefined;
  #renewal: Promise<AwsLogin> | undefined;
  #renewAt = Number.NEGATIVE_INFINITY;
  /** The last credentials, oldest first. */
  readonly #shown: AwsLogin[] = [];
  #isClosed = false;

  constructor(bucket: PayloadsBucket) {
    this.#bucket = bucket;
  }

  /**
   * Returns credentials for a request at `now`. Waits for new ones only if there are none or they have expired. Throws
   * `PAYLOADS_UNREACHABLE` or `PAYLOADS_REFUSED`.
   */
  async get(now: number): Promise<AwsLogin> {
    const { key } = this.#bucket;
    if (key !== undefined) return key;
    const current = this.#current;
    if (current !== undefined && now < this.#renewAt) return current;
    this.#renewal ??= this.#renew(now);
    const renewed = this.#renewal.catch((error: unknown) => {
      throw this.#isClosed ? lostConnection(this.#bucket, error) : missingLogin(this.#bucket, error);
    });
    const isExpired = now >= (current?.expiresAt ?? Number.NEGATIVE_INFINITY);
    if (current === undefined || isExpired) return renewed;
    void renewed.catch(() => undefined);
    return current;
  }

  /** Returns whether other credentials can be expected after the server refused these with this error code. */
  forget(refused: AwsLogin, code: string | undefined): boolean {
    if (this.#bucket.key !== undefined || code === undefined || !expiredCodes.has(code)) return false;
    if (this.#current === refused) this.#current = undefined;
    return true;
  }

  /** Ends the requests for credentials. From then on, they fail at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  async #renew(now: number): Promise<AwsLogin> {
    try {
      const { awsLogin, retireLogin } = await import('../../secrets/aws-login.ts');
      const context = { env: process.env, cwd: process.cwd(), clock: systemClock, client: this.#client };
      const login = await awsLogin(context);
      // The machine may not have its next credentials yet.
      this.#renewAt = Math.max(now + retryMs, (login.expiresAt ?? Number.POSITIVE_INFINITY) - renewalMs);
      this.#current = login;
      this.#shown.push(login);
      if (this.#shown.length > maxShown) retireLogin(this.#shown.shift()!, this.#shown);
      return login;
    } catch (error) {
      this.#renewAt = Math.min(now + retryMs, this.#current?.expiresAt ?? now);
      throw error;
    } finally {
      this.#renewal = undefined;
    }
  }
}
