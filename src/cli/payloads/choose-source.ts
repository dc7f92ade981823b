import type { Config, Source } from '../../config/config.ts';
import { nearest } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';

/**
 * The source of that name. Throws `CLI_UNKNOWN_SOURCE` if the config has none, or cannot use it.
 * @param names Those that may be named here; all by default.
 */
export function chooseSource(
  { sources, file }: Pick<Config, 'sources' | 'file'>,
  name: string,
  names: readonly string[] = [...sources.keys()],
): Source {
  const source = sources.get(name);
  if (source !== undefined) return source;
  const guess = nearest(name, names);
  throw new Problem({
    code: 'CLI_UNKNOWN_SOURCE',
    family: 'config',
    message: `Unknown source "${name}"`,
    where: { file },
    seen: name,
    allowed: names.join(', ') || 'the config has no such sources',
    next: guess === undefined ? undefined : `did you mean "${guess}"?`,
  });
}
