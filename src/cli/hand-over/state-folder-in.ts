import { dirname, resolve } from 'node:path';
import { defaultCacheFolder, defaultStateFolder, isStateUrl } from '../../config/default-paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const variable = /\$\{env:(\w+)(?::-([^${}]*))?\}/g;

/**
 * Guesses the state folder from a config's text, without loading the YAML parser. If the state is in a database, this
 * is the cache folder. Returns undefined if the text is ambiguous. A wrong guess is harmless: either no daemon uses
 * that folder, or its daemon has another config and declines.
 */
export function stateFolderIn(text: string, file: string, env: Environment): string | undefined {
  const written = text.startsWith('{') ? memberOf(text) : valueIn;
  const state = written('state', defaultStateFolder);
  // The variables of a URL are secrets, and the URL itself isn't needed.
  const isUrl = state !== undefined && isStateUrl(filled(state, env));
  const folder = isUrl ? written('cache', defaultCacheFolder) : state;
  const named = folder === undefined ? undefined : filled(folder, env);
  return named === undefined || named.includes('${') ? undefined : resolve(dirname(resolve(file)), named);

  function valueIn(name: string, fallback: string): string | undefined {
    const found = scalarLine(name).exec(text);
    if (found !== null) return found[1] ?? found[2] ?? found[3];
    return new RegExp(`^["']?${name}["']?[ \\t]*:`, 'm').test(text) ? undefined : fallback;
  }
}

const filled = (text: string, env: Environment): string =>
  text.replaceAll(variable, (_, name: string, otherwise = '') => env[name] || otherwise);

/** Matches a top-level key with a scalar value on the same line. */
const scalarLine = (name: string): RegExp =>
  new RegExp(
    `^(?:${name}|"${name}"|'${name}')[ \\t]*:[ \\t]+(?:"([^"\\\\]*)"|'([^']*)'|([^\\s"'&*!|>%@\`{[#][^\\n]*?))[ \\t]*(?:#.*)?\\r?$`,
    'm',
  );

/** Returns a function that reads options of a config that is a JSON document. */
function memberOf(text: string): (name: string, fallback: string) => string | undefined {
  const config = parsed(text);
  return (name, fallback) => {
    const value = config === undefined ? undefined : (config[name] ?? fallback);
    return typeof value === 'string' ? value : undefined;
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
