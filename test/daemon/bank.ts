import type { Source } from '../../src/config/config.ts';
import { LoginBreaker, type LoginBreakerOptions } from '../../src/daemon/login-holds/login-breaker.ts';
import { guardSource } from '../../src/daemon/login-holds/source-session.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { Problem } from '../../src/lib/problem.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import { defineConnector } from '../../src/sdk/connector.ts';
import { logInBy } from '../../src/sdk/log-in.ts';
import { type OptionSet, option } from '../../src/sdk/option.ts';

const options = { user: option.text({ about: 'User.' }), password: option.text({ about: 'Password.', secret: true }) };
const columns = [{ name: 'value', type: 'text' }] as const;

/** A server that has accounts and counts login attempts, and a connector that reads from it. */
export class Bank {
  readonly passwords = new Map([
    ['etl', 'right'],
    ['other', 'right'],
  ]);
  /** Times of refused login attempts. */
  readonly refused: number[] = [];
  attempts = 0;
  isAway = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly logIn = async ({ user = '', password }: { user?: string; password?: string }): Promise<void> => {
    if (this.isAway) throw new Problem({ code: 'BANK_AWAY', family: 'try_later', message: 'connection refused' });
    this.attempts += 1;
    if (this.passwords.get(user) === password) return;
    this.refused.push(this.#clock.now());
    const message = 'password authentication failed';
    throw new Problem({ code: 'BANK_REFUSED', family: 'login', message, isLoginRefused: true });
  };

  readonly connector = defineConnector<OptionSet, OptionSet>({
    id: 'bank',
    title: 'Bank',
    summary: 'Made by a test.',
    source: options,
    query: {},
    account: ({ user, password }) => ({ place: 'bank:1', user: String(user), secret: password }),
    check: async (context) => {
      await logInBy(context, () => this.logIn(context.source));
      return 'fine';
    },
    extract: async (context) => {
      await logInBy(context, () => this.logIn(context.source));
      const batches = async function* () {
        yield batchOf(columns, [['hello']]);
      };
      return { columns, batches: batches() };
    },
  });

  source(password: string, more: Partial<Source> = {}, user = 'etl'): Source {
    return { name: 'bank', connector: this.connector, options: { user, password }, ...more };
  }
}

/** Opens a source through the gate, as a run does. Returns the problem if the gate refused. */
export async function open(
  gate: LoginBreaker,
  source: Source,
  how: { isPerson?: boolean } = {},
): Promise<Problem | 'open'> {
  const { signal } = new AbortController();
  const context = { source: source.options, folder: '/', signal, log: undefined as never };
  try {
    await guardSource(gate, source, how)({ signal }, (logIn) => source.connector.check({ ...context, ...logIn }));
    return 'open';
  } catch (thrown) {
    if (thrown instanceof Problem) return thrown;
    throw thrown;
  }
}

export const gateOf = (
  given: Omit<LoginBreakerOptions, 'emit' | 'folder'> & Partial<LoginBreakerOptions>,
): LoginBreaker => new LoginBreaker({ emit: () => undefined, folder: '/', ...given });
