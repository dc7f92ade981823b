import type { Config, Login, Source } from '../../config/config.ts';
import { nearest } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';

/** A source with its login. */
export type LoginSource = Source & { readonly login: Login };

/** The source of that name, or the first that uses the login of that name. Throws what a person can act on. */
export function findLogin({ sources, file }: Config, name: string): LoginSource {
  const all = [...sources.values()].filter((source): source is LoginSource => source.login !== undefined);
  const found = all.find((source) => source.name === name) ?? all.find(({ login }) => login.name === name);
  if (found !== undefined) return found;
  const names = all.map((source) => source.name);
  const guess = nearest(name, names);
  const known = sources.get(name);
  throw new Problem({
    code: known === undefined ? 'CLI_UNKNOWN_SOURCE' : 'CLI_NO_LOGIN',
    family: 'config',
    message:
      known === undefined
        ? `Unknown source "${name}"`
        : `The source "${name}" does not use OAuth; its credentials are in the config`,
    where: { file },
    seen: name,
    allowed: names.join(', ') || 'no source in this config uses OAuth',
    next: guess === undefined ? undefined : `Did you mean "${guess}"?`,
  });
}
