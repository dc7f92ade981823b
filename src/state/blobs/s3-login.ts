import { systemClock } from '../../lib/clock.ts';
import type { AwsLogin } from '../../secrets/aws-login.ts';
import { SecretsClient } from '../../secrets/secrets-client.ts';
import type { PayloadsBucket } from '../engine/state-database.ts';
import { missingLogin } from './s3-problems.ts';

/** Temporary credentials are renewed this long before they expire, because AWS provides the next ones before that. */
const renewalMs = 5 * 60_000;
/** While they can't be renewed, they're used until they expire, and another attempt begins this long after the last. */
const retryMs = 30_000;

/** The error codes for credentials that were valid once. */
const expiredCodes = new Set(['ExpiredToken', 'ExpiredTokenException', 'InvalidToken', 'TokenRefreshRequired']);

/**
 * The credentials for a bucket: the key in the config or, without one, those that AWS's own tools find in the
 * environment or from the machine. All requests share temporary credentials until these are about to expire.
 */
export class S3Login {
  readonly #bucket: PayloadsBucket;
  #client: SecretsClient | undefined;
  #current: AwsLogin | undefined;
  #renewal: Promise<AwsLogin> | undefined;
  #renewAt = Number.NEGATIVE_INFINITY;

  constructor(bucket: PayloadsBucket) {
    this.#bucket = bucket;
  }

  /** Returns credentials for a request at `now`. Throws `PAYLOADS_UNREACHABLE` or `PAYLOADS_REFUSED`. */
  async get(now: number): Promise<AwsLogin> {
    const { key } = this.#bucket;
    if (key !== undefined) return key;
    if (this.#current !== undefined && now < this.#renewAt) return this.#current;
    try {
      this.#renewal ??= this.#renew(now);
      return await this.#renewal;
    } catch (error) {
      const { expiresAt = Number.NEGATIVE_INFINITY } = this.#current ?? {};
      if (now >= expiresAt) throw missingLogin(this.#bucket, error);
      this.#renewAt = now + retryMs;
      return this.#current!;
    }
  }

  /** Returns whether other credentials can be expected after the server refused these with this error code. */
  forget(refused: AwsLogin, code: string | undefined): boolean {
    if (this.#bucket.key !== undefined || code === undefined || !expiredCodes.has(code)) return false;
    if (this.#current === refused) this.#current = undefined;
    return true;
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  async #renew(now: number): Promise<AwsLogin> {
    try {
      const { awsLogin } = await import('../../secrets/aws-login.ts');
      this.#client ??= new SecretsClient({ clock: systemClock });
      const context = { env: process.env, cwd: process.cwd(), clock: systemClock, client: this.#client };
      const login = await awsLogin(context);
      this.#renewAt = (login.expiresAt ?? Number.POSITIVE_INFINITY) - renewalMs;
      // The machine may not have its next credentials yet.
      if (this.#renewAt <= now) this.#renewAt = now + retryMs;
      this.#current = login;
      return login;
    } finally {
      this.#renewal = undefined;
    }
  }
}
