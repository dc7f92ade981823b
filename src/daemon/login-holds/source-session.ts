import type { Source } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import type { LogInContext } from '../../pipeline/source.ts';
import type { LogIn } from '../../sdk/connector.ts';
import type { Token, TokenSource } from '../../sdk/oauth.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import type { SourceLogin } from './account.ts';
import type { LoginBreaker } from './login-breaker.ts';
import { holdProblem } from './problem.ts';

interface SourceSessionOptions {
  readonly gate: LoginBreaker;
  readonly source: Source;
  readonly account: SourceLogin;
  readonly signal: AbortSignal;
  readonly isPerson: boolean;
}

/** One run or check of a source, from when it is opened to its last reconnect. */
export class SourceSession {
  readonly #given: SourceSessionOptions;
  readonly #name: string;
  /** The attempt that was due is this one's. */
  #trial: LoginHoldRow | undefined;
  /** The connector logs in by {@link logIn}: only that knows what was accepted. */
  #logsIn = false;

  constructor(given: SourceSessionOptions) {
    const { connector, place, account } = given.account;
    this.#given = given;
    this.#name = JSON.stringify([connector, place, account]);
  }

  /** Opens the source, once it may log in. */
  async open<T>(login: TokenSource | undefined, open: (logIn: LogInContext) => Promise<T>): Promise<T> {
    await this.#ask();
    try {
      const opened = await open({ logIn: this.logIn, login: login === undefined ? undefined : this.#noting(login) });
      if (!this.#logsIn) await this.#accepted();
      return opened;
    } catch (thrown) {
      await this.#note(thrown);
      throw thrown;
    }
  }

  readonly logIn: LogIn = (attempt, { isPart = false } = {}) => {
    this.#logsIn = true;
    return this.#inTurn(async () => {
      const done = await attempt();
      if (!isPart) await this.#accepted();
      return done;
    });
  };

  async #inTurn<T>(attempt: () => Promise<T>): Promise<T> {
    const { gate, signal } = this.#given;
    const end = await gate.serializer.acquire(this.#name, signal);
    try {
      await this.#ask();
      return await attempt();
    } catch (thrown) {
      await this.#note(thrown);
      throw thrown;
    } finally {
      await end?.();
    }
  }

  async #ask(): Promise<void> {
    const { gate, source, isPerson } = this.#given;
    if (isPerson || this.#trial !== undefined) return;
    const hold = await gate.findRenewed(source);
    if (hold === undefined) return;
    this.#trial = gate.takeAttempt(hold);
    if (this.#trial !== undefined) return;
    if (!gate.isDue(hold)) throw holdProblem(source.name, hold);
    if (!(await gate.claim(source, hold))) throw holdProblem(source.name, (await gate.find(source)) ?? hold);
    this.#trial = hold;
  }

  async #accepted(): Promise<void> {
    const { gate, source } = this.#given;
    this.#trial = undefined;
    gate.serializer.confirm(this.#name);
    await gate.accepted(source);
  }

  async #note(thrown: unknown): Promise<void> {
    const { gate, source } = this.#given;
    if (!(thrown instanceof Problem) || gate.noted.has(thrown)) return;
    gate.noted.add(thrown);
    const trial = this.#trial;
    this.#trial = undefined;
    if (thrown.isLoginRefused) {
      gate.serializer.doubt(this.#name);
      await gate.refused(source, thrown);
    } else if (thrown.refusedPath !== undefined) await gate.refusedAt(source, thrown);
    else if (trial !== undefined) await gate.unanswered(trial);
    else if (thrown.family === 'try_later') gate.serializer.unreachable(this.#name);
  }

  /** The first token is the login. Others are asked for in the middle of a run. */
  #noting(login: TokenSource): TokenSource {
    let isFirst = true;
    const first = async (): Promise<Token> => {
      const token = await login.token();
      this.#given.gate.serializer.confirm(this.#name);
      return token;
    };
    const token = async (): Promise<Token> => {
      if (isFirst) {
        isFirst = false;
        return this.#inTurn(first);
      }
      try {
        return await login.token();
      } catch (thrown) {
        await this.#note(thrown);
        throw thrown;
      }
    };
    return { token, refused: (refused) => login.refused(refused) };
  }
}
