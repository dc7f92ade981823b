import type { HttpAnswer } from '../lib/http.ts';

/** A login with a provider. It's obtained on first use, shared by all reads, and renewed after it expires. */
export class Grant<T> {
  readonly #obtain: () => Promise<T>;
  #current: Promise<T> | undefined;

  constructor(obtain: () => Promise<T>) {
    this.#obtain = obtain;
  }

  /**
   * Sends a request with the login. If the response says that the login is invalid or has expired, logs in again and
   * repeats the request once. All requests that used the old login share the new one.
   */
  async use(send: (login: T) => Promise<HttpAnswer>, isRefused: (answer: HttpAnswer) => boolean): Promise<HttpAnswer> {
    this.#current ??= this.#obtain();
    const sent = this.#current;
    const former = await sent;
    const answer = await send(former);
    if (!isRefused(answer)) return answer;
    if (this.#current === sent) this.#current = this.#obtain();
    const renewed = await this.#current;
    // The provider would refuse the same login again.
    return JSON.stringify(renewed) === JSON.stringify(former) ? answer : send(renewed);
  }
}
