import type { Token, TokenSource } from '../../../src/sdk/index.ts';

/** Simulates the runner: returns `token-1` until it's refused, then `token-2`, and so on. */
export class TestLogin implements TokenSource {
  refusals: string[] = [];
  readonly #kept: Readonly<Record<string, string>>;

  constructor(kept: Readonly<Record<string, string>> = {}) {
    this.#kept = kept;
  }

  get current(): string {
    return `token-${this.refusals.length + 1}`;
  }

  async token(): Promise<Token> {
    return { access_token: this.current, kept: this.#kept, client_id: 'app-1' };
  }

  async refused({ access_token }: Token): Promise<void> {
    this.refusals.push(access_token);
  }
}
