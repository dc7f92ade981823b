import { dirname, resolve } from 'node:path';
import { defaultStateFolder } from '../../config/default-paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Matches a top-level `state:` key with a scalar value on the same line. */
const line =
  /^(?:state|"state"|'state')[ \t]*:[ \t]+(?:"([^"\\]*)"|'([^']*)'|([^\s"'&*!|>%@`{[#][^\n]*?))[ \t]*(?:#.*)?\r?$/m;
const variable = /\$\{env:(\w+)(?::-([^${}]*))?\}/g;

/**
 * Guesses the state folder from a config's text, without loading the YAML parser. Returns undefined if the text is
 * ambiguous. A wrong guess is harmless: either no daemon uses that folder, or its daemon has another config and
 * declines.
 */
export function stateFolderIn(text: string, file: string, env: Environment): string | undefined {
  const written = text.startsWith('{') ? memberOf(text) : valueIn(text);
  if (written === undefined) return undefined;
  const named = written.replaceAll(variable, (_, name: string, otherwise = '') => env[name] || otherwise);
  return named.includes('${') ? undefined : resolve(dirname(resolve(file)), named);
}

function valueIn(text: string): string | undefined {
  const found = line.exec(text);
  if (found !== null) return found[1] ?? found[2] ?? found[3];
  return /^["']?state["']?[ \t]*:/m.test(text) ? undefined : defaultStateFolder;
}

/** The `state` option in a config that is a JSON document. */
function memberOf(text: string): string | undefined {
  try {
    const { state = defaultStateFolder } = JSON.parse(text) as { readonly state?: unknown };
    return typeof state === 'string' ? state : undefined;
  } catch {
    return undefined;
  }
}
