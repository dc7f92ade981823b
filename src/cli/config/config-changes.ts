import type { Config } from '../../config/config.ts';
import type { Loaded } from '../../config/load.ts';
import { hidden } from '../../config/show/fill-value.ts';
import { showConfig } from '../../config/show/show-config.ts';
import { below, type Path } from '../../config/text/document.ts';
import { isMap } from '../../lib/is-map.ts';

/** A loaded config; undefined if the file doesn't exist. */
export type Version = (Loaded & { readonly config: Config }) | undefined;

/** A value that differs between two configs. It's undefined for a config that doesn't contain it. */
export interface ConfigChange {
  /** A JSON pointer, such as `/jobs/orders/schedule`. */
  readonly path: Path;
  readonly before?: string;
  readonly after?: string;
}

/**
 * The configured values that differ. Secrets are hidden. A variable that wasn't read is shown by its name instead of
 * its value.
 */
export function configChanges(before: Version, after: Version): ConfigChange[] {
  const [old, fresh] = [valuesOf(before), valuesOf(after)];
  const paths = [...new Set([...old.keys(), ...fresh.keys()])].filter((path) => old.get(path) !== fresh.get(path));
  return paths.map((path) => ({ path, before: old.get(path), after: fresh.get(path) }));
}

/**
 * Each configured value as text, by path. In the values, a placeholder replaces the path of the config's folder,
 * because the two versions may be in different folders.
 */
function valuesOf(version: Version): Map<Path, string> {
  const texts = new Map<Path, string>();
  if (version === undefined) return texts;
  const { config, made } = version;
  const { values, from } = showConfig(config, made!);
  const variables = new Map(made!.parts.flatMap(({ resolved }) => [...resolved]));
  const add = (value: unknown, path: Path): void => {
    if (isMap(value) && Object.keys(value).length > 0) {
      for (const [name, member] of Object.entries(value)) add(member, below(path, name));
    } else if (value !== undefined && atOrAbove(path, (at) => from[at]) !== undefined) {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const variable = atOrAbove(path, (at) => variables.get(at));
      const isHidden = variable?.isUnread || text === hidden;
      texts.set(path, (isHidden ? variable?.written : undefined) ?? text.replaceAll(config.folder, '.'));
    }
  };
  add(values, '');
  return texts;
}

/** The value at the path, or else at its nearest ancestor that has a value. */
function atOrAbove<T>(path: Path, of: (path: Path) => T | undefined): T | undefined {
  return of(path) ?? (path === '' ? undefined : atOrAbove(path.slice(0, path.lastIndexOf('/')), of));
}
