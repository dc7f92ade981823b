import type { Clock } from '../lib/clock.ts';
import type { ProgramOptions } from '../lib/run-program.ts';
import type { OptionSet, OptionValues } from '../sdk/option.ts';
import type { SecretsClient } from './secrets-client.ts';

/** What a provider returns for a secret's name: a string, or named fields. */
export type SecretContent = string | { readonly [field: string]: unknown };

/** Reads the secret with this name. Throws a Problem that `problems.ts` creates. */
export type ReadSecret = (name: string) => Promise<SecretContent>;

/** The context of a provider. */
export interface SecretContext extends ProgramOptions {
  readonly clock: Clock;
  readonly client: SecretsClient;
}

/** A service or tool that stores secrets. Each provider is a file in `all/` that has the name of its variable. */
export interface SecretProvider<S extends OptionSet = OptionSet> {
  readonly title: string;
  /** The part of a reference after the variable's colon, such as `PATH#FIELD`. */
  readonly form: string;
  /** What this form means, for the reference page. */
  readonly about: string;
  /**
   * The provider's options under `secrets` in the config: addresses and logins. All are optional, because the
   * environment may provide them.
   */
  readonly options: S;
  /** Opens the provider for one load of a config. Logs in when the first secret is read. */
  open(options: OptionValues<S>, context: SecretContext): ReadSecret;
}

/** Declares a provider. An identity function that infers the option types. */
export function defineSecretProvider<const S extends OptionSet>(provider: SecretProvider<S>): SecretProvider<S> {
  return provider;
}
