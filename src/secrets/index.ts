import { type Option, type OptionSet, option, schemaOf } from '../sdk/option.ts';
import { all } from './all.generated.ts';
import type { SecretProvider } from './provider.ts';

/** All providers: the files of `all/`, by the names of their variables. */
export const secretProviders: ReadonlyMap<string, SecretProvider> = new Map(
  Object.entries(all as unknown as Readonly<Record<string, SecretProvider>>),
);

/** The options of `secrets` in the config: a map per provider. */
export const secretsOptions: OptionSet = Object.fromEntries(
  [...secretProviders].map(([id, { title, options }]): [string, Option<unknown>] => [
    id,
    option.schema<object | undefined>(schemaOf(options), { about: `How to reach ${title}.` }),
  ]),
);
