import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthDescription } from '../../src/sdk/oauth.ts';
import type { SteppingClock } from '../clocks.ts';

/**
 * What happens to the next requests: they get a response, are refused temporarily, or are disconnected before or after
 * being executed.
 */
export type Weather = 'well' | 'away' | 'unread' | 'unanswered';

export const lifeMs = 3_600_000;

/** A vendor on loopback whose refresh tokens are valid once. It uses the test's time. */
export class TokenVendor {
  weather: Weather = 'well';
  /** The number of requests so far, and of those that were told that the grant has ended. */
  asked = 0;
  refused = 0;
  /** The refresh token that it currently accepts. */
  present = '';
  /** The grant was revoked. */
  ended = false;
  /** When access tokens expire, by the monotonic clock. */
  readonly good = new Map<string, number>();
  /** Executes the next request but delays its response. */
  hold: ((request: IncomingMessage) => void) | undefined;
  readonly #clock: SteppingClock;
  readonly #forgives: boolean;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #former = '';
  #given = 0;

  /**
   * `forgives`: the previous token is accepted as long as the current one was never used (RFC 9700 section 4.14.2
   * leaves that open).
   */
  constructor(clock: SteppingClock, forgives: boolean) {
    this.#clock = clock;
    this.#forgives = forgives;
  }

  async open(): Promise<OAuthDescription> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return { grants: ['authorization_code'], authorize_url: url, token_url: url, refresh: 'rotating' };
  }

  close(): void {
    this.#server.close().closeAllConnections();
  }

  /** A user agrees: a new grant. */
  grant(): { accessToken: string; refreshToken: string } {
    this.ended = false;
    this.#former = '';
    return this.#give();
  }

  #give(): { accessToken: string; refreshToken: string } {
    this.#given += 1;
    this.present = `refresh-${this.#given}`;
    const accessToken = `access-${this.#given}`;
    this.good.set(accessToken, this.#clock.monotonic() + lifeMs);
    return { accessToken, refreshToken: this.present };
  }

  #takes(token: string): boolean {
    return !this.ended && (token === this.present || (this.#forgives && token === this.#former));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const piece of request) text += String(piece);
    const token = new URLSearchParams(text).get('refresh_token') ?? '';
    this.asked += 1;
    if (this.weather === 'away') return void response.writeHead(503).end();
    if (this.weather === 'unread') return void request.socket.destroy();
    response.setHeader('content-type', 'application/json');
    if (!this.#takes(token)) {
      this.refused += 1;
      return void response.writeHead(400).end('{"error":"invalid_grant"}');
    }
    const { accessToken, refreshToken } = this.#give();
    this.#former = token;
    const { hold } = this;
    this.hold = undefined;
    if (hold !== undefined) return hold(request);
    if (this.weather === 'unanswered') return void request.socket.destroy();
    const answer = { access_token: accessToken, refresh_token: refreshToken, expires_in: lifeMs / 1000 };
    response.end(JSON.stringify({ ...answer, token_type: 'bearer' }));
  }
}
