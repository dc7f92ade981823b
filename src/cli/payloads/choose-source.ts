import type { Config, Source } from '../../config/config.ts';
import { nearest } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';

/** The source of that name. Throws `CLI_UNKNOWN_SOURCE` if the config has none, or cannot use it. */
export function chooseSource({ sources, file }: Config, name: string): Source {
  const source = sources.get(name);
  if (source !== undefined) return source;
  const names = [...sources.keys()];
  const guess = nearest(name, names);
  throw new Problem({
    code: 'CLI_UNKNOWN_SOURCE',
    family: 'config',
    message: `Unknown source "${name}"`,
    where: { file },
    seen: name,
    allowed: names.join(', ') || 'the config has no sources',
    next: guess === undefined ? undefined : `Did you mean "${guess}"?`,
  });
}
