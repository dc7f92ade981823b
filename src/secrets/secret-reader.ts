import type PQueue from 'p-queue';
import { type Clock, systemClock } from '../lib/clock.ts';
import { isMap } from '../lib/is-map.ts';
import { registerSecret } from '../lib/redact.ts';
import type { ProgramOptions } from '../lib/run-program.ts';
import { withDefaults } from '../sdk/option.ts';
import { fieldOf, referenceOf } from './field-of.ts';
import { secretProviders } from './index.ts';
import { secretProblem } from './problems.ts';
import type { ReadSecret, SecretContent } from './provider.ts';
import type { SecretsClient } from './secrets-client.ts';

export interface SecretReaderOptions extends ProgramOptions {
  /** Each provider's options, by the provider's name; false if the options have errors. */
  readonly settings: Readonly<Record<string, unknown>> | false;
  readonly clock?: Clock;
}

/** Maximum number of concurrent requests, because providers would throttle more. */
const concurrency = 16;

interface Tools {
  readonly queue: PQueue;
  readonly client: SecretsClient;
}

/** The providers are loaded when the first secret is read, because most configs have no secrets. */
async function openTools({ clock = systemClock, signal }: SecretReaderOptions): Promise<Tools> {
  const [{ default: Queue }, { SecretsClient: Client }] = await Promise.all([
    import('p-queue'),
    import('./secrets-client.ts'),
  ]);
  return { queue: new Queue({ concurrency }), client: new Client({ clock, signal }) };
}

/**
 * Whether to redact a value. Ports and booleans aren't secrets, and redacting them would make logs and states
 * unreadable.
 */
const plain = /^(?:\d{0,5}|true|false)$/;

/**
 * Reads the secrets for one load of a config. Secrets are read concurrently, and only once even if several options use
 * the same secret. Nothing is stored on disk, and each value is registered for redaction before it's returned.
 */
export class SecretReader {
  readonly #options: SecretReaderOptions;
  #tools: Promise<Tools> | undefined;
  readonly #open = new Map<string, ReadSecret>();
  readonly #contents = new Map<string, Promise<SecretContent>>();

  constructor(options: SecretReaderOptions) {
    this.#options = options;
  }

  /** The value of a variable's secret. If the secret can't be read, throws a Problem with the reason. */
  async read(provider: string, written: string): Promise<string> {
    const reference = referenceOf(written);
    if (reference.name === '' || reference.field === '') {
      throw secretProblem('CONFIG_SECRET_MISSING', {
        message: `The variable does not specify a ${reference.name === '' ? 'secret' : 'field'}`,
        seen: written,
        allowed: secretProviders.get(provider)!.form,
        next: 'write the name of the secret after the colon, and a field after #',
      });
    }
    const text = fieldOf(await this.#contentOf(provider, reference.name), reference).replace(/[\r\n]+$/, '');
    if (!plain.test(text)) registerSecret(text);
    return text;
  }

  /** A reader with the same settings that reads all secrets again. */
  fresh(): SecretReader {
    const { signal: _, ...options } = this.#options;
    return new SecretReader(options);
  }

  /** Ends all requests. */
  async close(): Promise<void> {
    const tools = await this.#tools;
    tools?.queue.clear();
    await tools?.client.close();
  }

  #contentOf(provider: string, name: string): Promise<SecretContent> {
    const key = JSON.stringify([provider, name]);
    const known = this.#contents.get(key);
    if (known !== undefined) return known;
    this.#tools ??= openTools(this.#options);
    const content = this.#tools.then(({ queue, client }) =>
      queue.add(() => this.#readerOf(provider, client)(name)),
    ) as Promise<SecretContent>;
    // The caller gets the error. A secret that is read ahead may have no caller yet, so its rejection is marked as
    // handled.
    content.catch(() => undefined);
    this.#contents.set(key, content);
    return content;
  }

  #readerOf(id: string, client: SecretsClient): ReadSecret {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const { settings, clock = systemClock, cwd, env, signal } = this.#options;
    if (settings === false) {
      throw secretProblem('CONFIG_SECRET_SETTINGS', {
        message: 'The "secrets" section of this config has errors',
        next: 'fix these errors first',
      });
    }
    const { options, open } = secretProviders.get(id)!;
    const given = isMap(settings[id]) ? settings[id] : {};
    const reader = open(withDefaults(options, given), { cwd, env, signal, clock, client });
    this.#open.set(id, reader);
    return reader;
  }
}
