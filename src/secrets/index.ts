import { type Option, type OptionSet, option, schemaOf } from '../sdk/option.ts';
import { all } from './all.generated.ts';
import type { SecretProvider } from './provider.ts';

/** All providers (the files in `all/`), by the names of their variables. */
export const secretProviders: ReadonlyMap<string, SecretProvider> = new Map(
  Object.entries(all as unknown as Readonly<Record<string, SecretProvider>>),
);

/** The options under `secrets` in the config: one map per provider. */
export const secretsOptions: OptionSet = Object.fromEntries(
  [...secretProviders].map(([id, { title, options }]): [string, Option<unknown>] => [
    id,
    option.schema<object | undefined>(schemaOf(options), { about: `How to reach ${title}.` }),
  ]),
);
