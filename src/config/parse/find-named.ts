import { didYouMean } from '../../lib/nearest.ts';
import { partAt } from '../text/variables.ts';
import type { Draft, LoadResult } from './context.ts';

/**
 * Returns the source or destination with this name. If it has errors, adds them to the reasons why the job is excluded,
 * so that the errors aren't lost.
 */
export function findNamed<O extends LoadResult<unknown>>(
  { name, option, all }: Named<O>,
  { part, faults, blamed }: Draft,
): O | undefined {
  const result = all.get(name);
  if (result !== undefined) {
    blamed.push(...result.problems);
    return result;
  }
  const path = partAt(part, option).path;
  if (part.broken.has(path)) return undefined;
  return faults.add({
    code: `CONFIG_UNKNOWN_${option === 'source' ? 'SOURCE' : 'DESTINATION'}`,
    message: `Unknown ${option} "${name}"`,
    path,
    allowed: [...all.keys()].join(', ') || `none: the config has no ${option}s`,
    next: didYouMean(name, all.keys()) ?? `use one of these, or add "${name}" under "${option}s"`,
  });
}

export interface Named<O> {
  readonly name: string;
  readonly option: 'source' | 'destination';
  readonly all: ReadonlyMap<string, O>;
}
