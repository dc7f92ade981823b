import type { HttpAnswer } from '../lib/http.ts';

/** A login at a provider: obtained on first use, shared by all reads, and obtained again after it expires. */
export class Grant<T> {
  readonly #obtain: () => Promise<T>;
  #current: Promise<T> | undefined;

  constructor(obtain: () => Promise<T>) {
    this.#obtain = obtain;
  }

  /**
   * Sends a request with the login. If the response says that the login isn't valid or has expired, logs in again, once
   * for all requests that used the login, and repeats the request once.
   */
  async use(send: (login: T) => Promise<HttpAnswer>, isRefused: (answer: HttpAnswer) => boolean): Promise<HttpAnswer> {
    this.#current ??= this.#obtain();
    const sent = this.#current;
    const former = await sent;
    const answer = await send(former);
    if (!isRefused(answer)) return answer;
    if (this.#current === sent) this.#current = this.#obtain();
    const renewed = await this.#current;
    // The service would only refuse the same login again.
    return JSON.stringify(renewed) === JSON.stringify(former) ? answer : send(renewed);
  }
}
