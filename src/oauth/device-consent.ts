import { exponentialMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import { Problem } from '../lib/problem.ts';
import type { DeviceCode } from './device-code.ts';
import { TokenRefusal } from './refusal.ts';
import type { TokenClient } from './token-client.ts';
import type { TokenResponse } from './token-response.ts';

/** After a `slow_down` error, the polling interval increases by this much (RFC 8628 section 3.5). */
const slowerMs = 5000;
const maxPauseMs = 60_000;

/** One attempt to get consent on another machine (RFC 8628): a code to show, and polling until the person enters it. */
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

  /** Requests a device code. Throws the same errors as a token request. */
  static async begin(vendor: TokenClient, clock: Clock): Promise<DeviceConsent> {
    const askedAt = clock.monotonic();
    return new DeviceConsent({ code: await vendor.askCode(), vendor, clock, askedAt });
  }

  /**
   * Resolves to the tokens once the person has consented. Throws `LOGIN_DENIED`, `LOGIN_EXPIRED`, a TokenRefusal for
   * any other error from the vendor, or the signal's reason. If the vendor is briefly unreachable, polling continues
   * more slowly.
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

/** The next polling interval after an error response; throws if polling must end. */
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
    message: 'The code expired before anyone approved it',
    next: 'run the command again and use the code that it prints',
  });
}

function denied({ message }: TokenRefusal): Problem {
  return new Problem({
    code: 'LOGIN_DENIED',
    family: 'login',
    message: 'Consent was refused on the page for entering the code',
    seen: message,
    next: 'run the command again, and approve the request',
  });
}
