import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isMap } from '../../lib/is-map.ts';
import type { NamesOf } from './candidates.ts';

const sections: Readonly<Record<string, string>> = { job: 'jobs', source: 'sources' };

/**
 * The names in a config file. Environment variables aren't read, because an interactive shell may not have them. If the
 * file can't be read, there are no names, because completion must not show errors.
 */
export function configNames(file: string): NamesOf {
  let config: unknown;
  return (argument) => {
    const section = sections[argument];
    if (section === undefined) return [];
    config ??= parsed(file);
    const members = isMap(config) ? config[section] : undefined;
    return isMap(members) ? Object.keys(members) : [];
  };
}

function parsed(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'), { logLevel: 'silent' }) ?? {};
  } catch {
    return {};
  }
}
