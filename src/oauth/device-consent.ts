import { exponentialMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import { Problem } from '../lib/problem.ts';
import type { DeviceCode } from './device-code.ts';
import { TokenRefusal } from './refusal.ts';
import type { TokenClient } from './token-client.ts';
import type { TokenResponse } from './token-response.ts';

/** RFC 8628 section 3.5: so much longer between two questions when the vendor finds us too quick. */
const slowerMs = 5000;
const maxPauseMs = 60_000;

/**
 * One attempt to have a person consent on another machine (RFC 8628): a code to show, and the asking until the person has
 * entered it there.
 */
export class DeviceConsent {
  readonly code: DeviceCode;
  readonly #vendor: TokenClient;
  readonly #clock: Clock;
  readonly #deadline: number;

  private constructor(given: { code: DeviceCode; vendor: TokenClient; clock: Clock; askedAt: number }) {
    this.code = given.code;
    this.#vendor = given.vendor;
    this.#clock = given.clock;
    this.#deadline = given.askedAt + given.code.lifetimeMs;
  }

  /** Throws as a token request does. */
  static async begin(vendor: TokenClient, clock: Clock): Promise<DeviceConsent> {
    const askedAt = clock.monotonic();
    return new DeviceConsent({ code: await vendor.askCode(), vendor, clock, askedAt });
  }

  /**
   * The tokens, once the person has agreed. Throws `LOGIN_DENIED`, `LOGIN_EXPIRED`, a Refusal where the vendor says
   * anything else, and the signal's reason. A vendor that cannot be reached for a moment is asked again, more slowly.
   */
  async wait(signal: AbortSignal): Promise<TokenResponse> {
    let pauseMs = this.code.intervalMs;
    for (;;) {
      if (this.#clock.monotonic() + pauseMs > this.#deadline) throw expired();
      await this.#clock.sleep(pauseMs, signal);
      try {
        return await this.#vendor.redeemCode(this.code);
      } catch (thrown) {
        pauseMs = nextPause(thrown, pauseMs);
      }
    }
  }
}

/** How long to wait after an answer that was no token; throws when there is nothing to wait for. */
function nextPause(thrown: unknown, pauseMs: number): number {
  if (thrown instanceof Problem && thrown.family === 'try_later') {
    return Math.max(exponentialMs(1, { firstMs: pauseMs, maxMs: maxPauseMs }), thrown.retryAfterMs ?? 0);
  }
  if (!(thrown instanceof TokenRefusal)) throw thrown;
  if (thrown.error === 'authorization_pending') return pauseMs;
  if (thrown.error === 'slow_down') return pauseMs + slowerMs;
  if (thrown.error === 'expired_token') throw expired();
  throw thrown.error === 'access_denied' ? denied(thrown) : thrown;
}

function expired(): Problem {
  return new Problem({
    code: 'LOGIN_EXPIRED',
    family: 'login',
    message: 'The code ran out before anybody had agreed with it',
    next: 'run the command again and use its newest code',
  });
}

function denied({ message }: TokenRefusal): Problem {
  return new Problem({
    code: 'LOGIN_DENIED',
    family: 'login',
    message: 'The consent was refused on the page of the code',
    seen: message,
    next: 'run the command again, and agree',
  });
}
