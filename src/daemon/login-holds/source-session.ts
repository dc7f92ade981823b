import type { Source } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import type { LogInContext } from '../../pipeline/source.ts';
import type { LogIn } from '../../sdk/connector.ts';
import type { Token, TokenSource } from '../../sdk/oauth.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import type { SourceLogin } from './account.ts';
import type { LoginBreaker } from './login-breaker.ts';
import type { Secret } from './login-serializer.ts';
import { holdProblem } from './problem.ts';

interface SourceSessionOptions {
  readonly gate: LoginBreaker;
  readonly source: Source;
  readonly account: SourceLogin;
  readonly signal: AbortSignal;
  readonly isPerson: boolean;
}

/** Maximum time that requests with the same credentials wait for a slow one. */
const maxRequestMs = 30_000;

/** One run or check of a source, from when it is opened to its last reconnect. */
export class SourceSession {
  readonly #given: SourceSessionOptions;
  readonly #name: string;
  /** The last secret that was sent. */
  #secret: Secret | undefined;
  /** True if it was accepted in this run or check. */
  #isAccepted = false;
  /** The due attempt, if this session claimed it. */
  #trial: LoginHoldRow | undefined;
  /** True if the connector logs in through {@link logIn}, which then decides what was accepted. */
  #logsIn: boolean;

  constructor(given: SourceSessionOptions) {
    const { connector, place, account } = given.account;
    this.#given = given;
    this.#logsIn = given.source.connector.logsInByRequest === true;
    this.#name = JSON.stringify([connector, place, account]);
  }

  /** Opens the source when it's allowed to log in. */
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

  readonly logIn: LogIn = async (attempt, { isPart = false, isRequest = false } = {}) => {
    this.#logsIn = true;
    if (isRequest && this.#isAccepted) return this.#repeat(attempt);
    const accepted = async () => {
      const done = await attempt();
      if (!isPart) await this.#accepted();
      return done;
    };
    return this.#inTurn(accepted, { isRequest });
  };

  async #inTurn<T>(attempt: () => Promise<T>, { isRequest = false } = {}): Promise<T> {
    const { gate, source, signal } = this.#given;
    const secret = await this.#present();
    const end = await gate.serializer.acquire(secret, { signal, forMs: isRequest ? maxRequestMs : undefined });
    try {
      await this.#ask();
      // The secret may have been re-read.
      if (source.renew !== undefined) await this.#present();
      return await attempt();
    } catch (thrown) {
      await this.#note(thrown, { isRequest });
      throw thrown;
    } finally {
      await end?.();
    }
  }

  /** A request after an accepted one. */
  async #repeat<T>(request: () => Promise<T>): Promise<T> {
    const { gate } = this.#given;
    try {
      const done = await request();
      if (this.#secret !== undefined) gate.serializer.confirm(this.#secret);
      return done;
    } catch (thrown) {
      await this.#note(thrown, { isRequest: true });
      throw thrown;
    }
  }

  async #present(): Promise<Secret> {
    const { gate, source } = this.#given;
    this.#secret = { account: this.#name, fingerprint: await gate.fingerprint(source) };
    return this.#secret;
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
    this.#isAccepted = true;
    if (this.#secret !== undefined) gate.serializer.confirm(this.#secret);
    await gate.accepted(source);
  }

  async #note(thrown: unknown, { isRequest = false } = {}): Promise<void> {
    const { gate, source, signal } = this.#given;
    if (!(thrown instanceof Problem) || gate.noted.has(thrown)) return;
    gate.noted.add(thrown);
    const trial = this.#trial;
    this.#trial = undefined;
    if (thrown.isLoginRefused || thrown.refusedPath !== undefined) {
      this.#isAccepted = false;
      if (this.#secret !== undefined) gate.serializer.doubt(this.#secret);
      await (thrown.isLoginRefused ? gate.refused(source, thrown) : gate.refusedAt(source, thrown));
    } else if (trial !== undefined) await gate.unanswered(trial);
    else if (this.#secret === undefined || signal.aborted) return;
    // Whatever the answer is, other requests no longer need to wait for these credentials.
    else if (isRequest || thrown.family === 'try_later') gate.serializer.unanswered(this.#secret);
  }

  /** The first token is the login. Later ones are fetched during the run. */
  #noting(login: TokenSource): TokenSource {
    let isFirst = true;
    const first = async (): Promise<Token> => {
      const token = await login.token();
      if (this.#secret !== undefined) this.#given.gate.serializer.confirm(this.#secret);
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
