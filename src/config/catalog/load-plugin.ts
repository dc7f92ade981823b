import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { importOwn } from '../../lib/import-own.ts';
import { Problem, type ProblemLocation } from '../../lib/problem.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { Plugin } from './find-plugins.ts';

const built = import.meta.url.endsWith('.js');
const doors: Readonly<Record<string, string>> = {
  'sluice/sdk': new URL(`../../sdk/index.${built ? 'js' : 'ts'}`, import.meta.url).href,
  'sluice/sdk/testing': new URL(`../../sdk/testing/index.${built ? 'js' : 'ts'}`, import.meta.url).href,
};
let isOpen = false;

/**
 * Lets plugins outside this package import `sluice/sdk`, even if Sluice isn't installed next to them. Plugins get the
 * SDK that is already loaded, because Sluice wouldn't recognize the Problem class of another copy.
 */
export function openSdkDoor(): void {
  if (isOpen) return;
  isOpen = true;
  registerHooks({
    resolve(specifier, context, next) {
      const url = Object.hasOwn(doors, specifier) ? doors[specifier] : undefined;
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
}

/**
 * Imports and validates a connector. `isOwn` is true for built-in connectors.
 * @throws Error that says what is missing, or the file's own error.
 */
export async function loadPlugin({ id, file }: Plugin, { isOwn = false } = {}): Promise<Connector> {
  const { default: plugin } = await (isOwn ? importOwn<PluginModule>(pathToFileURL(file)) : importEdited(file));
  if (plugin === undefined || typeof plugin !== 'object' || plugin === null)
    throw new Error('its default export was not created with defineConnector');
  if (plugin.id !== id) throw new Error(`its id is "${plugin.id}", but its file is named "${id}"`);
  for (const member of ['title', 'summary', 'source', 'query', 'check', 'extract'] as const) {
    if (plugin[member] === undefined) throw new Error(`it lacks "${member}"`);
  }
  if (plugin.source?.connector !== undefined) throw new Error('a source option cannot be called "connector"');
  if (plugin.oauth !== undefined && plugin.source?.login !== undefined)
    throw new Error('a source option cannot be called "login" if the connector uses OAuth');
  return plugin as Connector;
}

interface PluginModule {
  readonly default?: Partial<Connector>;
}

/** Each file's modification time at its first import. */
const firstTimes = new Map<string, number>();

/**
 * Imports a file again if the file was edited after its first import. Doesn't reimport the file's own imports. Node
 * caches modules by URL, including modules that failed to load, so a new URL query bypasses the cache.
 */
async function importEdited(file: string): Promise<PluginModule> {
  const url = pathToFileURL(file);
  const time = statSync(file).mtimeMs;
  const first = firstTimes.get(file) ?? time;
  firstTimes.set(file, first);
  if (time !== first) url.searchParams.set('edited', String(time));
  const { importModule } = await import('../../lib/import-module.ts');
  return importModule<PluginModule>(url);
}

/** The problem that reports why a plugin can't be loaded. */
export function brokenPlugin({ id, file }: Plugin, error: unknown, where: ProblemLocation = { file }): Problem {
  const reason = error instanceof Error ? error.message : String(error);
  return new Problem({
    code: 'CONFIG_CONNECTOR_BROKEN',
    family: 'config',
    message: `The "${id}" connector cannot be used: ${reason.replace(/\.$/, '')}`,
    where,
    next: 'fix the file; all other connectors still work',
    cause: error,
  });
}
