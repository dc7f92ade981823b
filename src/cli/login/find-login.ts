import type { Config, Login, Source } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import { chooseSource } from '../payloads/choose-source.ts';

export type LoginSource = Source & { readonly login: Login };

/**
 * Returns the source with this name, or else the first source that uses the login with this name. Throws
 * `CLI_UNKNOWN_SOURCE` or `CLI_NO_LOGIN`.
 */
export function findLogin(config: Pick<Config, 'sources' | 'file'>, name: string): LoginSource {
  const all = [...config.sources.values()].filter((source): source is LoginSource => source.login !== undefined);
  const found = all.find((source) => source.name === name) ?? all.find(({ login }) => login.name === name);
  if (found !== undefined) return found;
  const names = all.map((source) => source.name);
  chooseSource(config, name, names);
  throw new Problem({
    code: 'CLI_NO_LOGIN',
    family: 'config',
    message: `The "${name}" source does not use OAuth; its credentials are in the config`,
    where: { file: config.file },
    seen: name,
    allowed: names.join(', ') || 'no source in this config uses OAuth',
  });
}
