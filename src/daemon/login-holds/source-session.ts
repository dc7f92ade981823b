import type { Source } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import type { LogInContext, LoginGuard } from '../../pipeline/source-reader-options.ts';
import type { LogIn, LogInAttemptOptions } from '../../sdk/log-in.ts';
import type { Token, TokenSource } from '../../sdk/oauth.ts';
import type { LoginHoldRow } from '../../state/tables.ts';
import { loginOf, type SourceLogin } from './account.ts';
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

interface RenewedAttempt<T> extends Pick<LogInAttemptOptions, 'isRequest' | 'onRenewed'> {
  readonly attempt: () => Promise<T>;
  /** Fingerprint of the secret to send. Undefined if the secret can't change. */
  readonly sent: string | undefined;
}

/** Maximum time that requests wait for a slow request that uses the same credentials. */
const maxRequestMs = 30_000;

/**
 * Guards a source: asks the breaker before the source is opened, and records whether the login succeeded. With
 * `isPerson`, ignores a hold, because a user requested the login.
 */
export function guardSource(
  gate: LoginBreaker,
  source: Source,
  { isPerson = false }: { isPerson?: boolean } = {},
): LoginGuard {
  return async ({ signal, login }, open) => {
    const account = loginOf(source);
    if (account === undefined) return open(login === undefined ? {} : { login });
    return new SourceSession({ gate, source, account, signal, isPerson }).open(login, open);
  };
}

/** A single run or check of a source, from opening the source to the last reconnect. */
class SourceSession {
  readonly #given: SourceSessionOptions;
  readonly #name: string;
  /** The last secret that was sent. */
  #secret: Secret | undefined;
  /** True if the secret was accepted in this run or check. */
  #isAccepted = false;
  /** The due login attempt that this session claimed, if any. */
  #trial: LoginHoldRow | undefined;
  /** True if the secret has been reread since the server last accepted it. */
  #hasRenewed = false;
  /** True if the connector logs in through {@link logIn}, which then determines whether the secret was accepted. */
  #logsIn: boolean;

  constructor(given: SourceSessionOptions) {
    const { connector, place, account } = given.account;
    this.#given = given;
    this.#logsIn = given.source.connector.logsInByRequest === true;
    this.#name = JSON.stringify([connector, place, account]);
  }

  /** Opens the source as soon as its login is allowed. */
  async open<T>(login: TokenSource | undefined, open: (logIn: LogInContext) => Promise<T>): Promise<T> {
    await this.#ask();
    const attempt = async (): Promise<T> => {
      const opened = await open({ logIn: this.logIn, login: login === undefined ? undefined : this.#noting(login) });
      if (!this.#logsIn) await this.#accepted();
      return opened;
    };
    const sent = await this.#fingerprint();
    return this.#withRenewal({ attempt, sent });
  }

  readonly logIn: LogIn = async (attempt, options = {}) => {
    const { isPart = false, isRequest = false, onRenewed } = options;
    this.#logsIn = true;
    if (isRequest && this.#isAccepted) return this.#repeat(attempt, onRenewed);
    const accepted = async () => {
      const done = await attempt();
      if (!isPart) await this.#accepted();
      return done;
    };
    return this.#inTurn(accepted, options);
  };

  async #inTurn<T>(attempt: () => Promise<T>, options: LogInAttemptOptions = {}): Promise<T> {
    const { isRequest = false, isAnonymous = false, onRenewed } = options;
    const { gate, signal } = this.#given;
    const secret = await this.#present();
    const forMs = isRequest ? maxRequestMs : undefined;
    const end = isAnonymous ? undefined : await gate.serializer.acquire(secret, { signal, forMs });
    try {
      const sent = await this.#presentAllowed();
      return await this.#withRenewal({ attempt, sent, isRequest, onRenewed });
    } finally {
      await end?.();
    }
  }

  /** Makes a request after an earlier one was accepted. */
  async #repeat<T>(request: () => Promise<T>, onRenewed: LogInAttemptOptions['onRenewed']): Promise<T> {
    const { gate } = this.#given;
    const attempt = async (): Promise<T> => {
      const done = await request();
      if (this.#secret !== undefined) gate.serializer.confirm(this.#secret);
      return done;
    };
    return this.#withRenewal({ attempt, sent: await this.#fingerprint(), isRequest: true, onRenewed });
  }

  /**
   * Makes an attempt with the secret `sent`. If the secret is refused but has changed since it was read, tries again
   * with the new value. The old value's refusal isn't recorded.
   */
  async #withRenewal<T>({ attempt, sent, isRequest = false, onRenewed }: RenewedAttempt<T>): Promise<T> {
    try {
      return await attempt();
    } catch (thrown) {
      if (!(await this.#isRenewed(thrown, sent))) {
        await this.#note(thrown, { isRequest });
        throw thrown;
      }
    }
    onRenewed?.();
    const now = await this.#presentAllowed();
    return this.#withRenewal({ attempt, sent: now, isRequest });
  }

  /**
   * Rereads the secret after a refusal, but only once until a secret is accepted again. Returns true if the new value
   * differs from the one that was sent.
   */
  async #isRenewed(thrown: unknown, sent: string | undefined): Promise<boolean> {
    const { gate, source, signal } = this.#given;
    if (!(thrown instanceof Problem) || source.renew === undefined || this.#hasRenewed || signal.aborted) return false;
    if (gate.noted.has(thrown) || !(thrown.isLoginRefused || thrown.refusedPath !== undefined)) return false;
    this.#hasRenewed = true;
    await source.renew(source);
    if ((await gate.fingerprint(source)) === sent) return false;
    this.#isAccepted = false;
    this.#trial = undefined;
    return true;
  }

  /** Checks whether the current secret may be sent. This may reread the secret. Returns the secret's fingerprint. */
  async #presentAllowed(): Promise<string | undefined> {
    await this.#ask();
    return this.#given.source.renew === undefined ? undefined : (await this.#present()).fingerprint;
  }

  /** Returns the current secret, or undefined if the secret can't change while the process runs. */
  async #fingerprint(): Promise<string | undefined> {
    const { gate, source } = this.#given;
    return source.renew === undefined ? undefined : gate.fingerprint(source);
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
    this.#hasRenewed = false;
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
    // Whatever the response was, other requests with these credentials no longer need to wait.
    else if (isRequest || thrown.family === 'try_later') gate.serializer.unanswered(this.#secret);
  }

  /** Only the first token counts as the login. Later tokens are requested during the run. */
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
