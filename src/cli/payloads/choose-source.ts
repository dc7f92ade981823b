import type { Config, Source } from '../../config/config.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';

/**
 * Returns the source with this name. Throws `CLI_UNKNOWN_SOURCE` if the config doesn't define the source or the source
 * is invalid.
 * @param names the allowed names; default: all
 */
export function chooseSource(
  { sources, file }: Pick<Config, 'sources' | 'file'>,
  name: string,
  names: readonly string[] = [...sources.keys()],
): Source {
  const source = sources.get(name);
  if (source !== undefined) return source;
  throw new Problem({
    code: 'CLI_UNKNOWN_SOURCE',
    family: 'config',
    message: `Unknown source "${name}"`,
    where: { file },
    seen: name,
    allowed: names.join(', ') || 'none: the config has no such sources',
    next: didYouMean(name, names),
  });
}
