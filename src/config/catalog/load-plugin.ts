import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
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
 * Lets plugins outside of this package import `sluice/sdk`, installed beside them or not, and gives them the very SDK
 * that runs them: a Problem of another copy would not be one here.
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
 * Imports a connector and looks whether it is one. Node imports a module once, also one that failed: with `edited` a file that was
 * edited since (it itself, not what it imports) is imported again. @throws Error that says what it lacks, or what its file throws.
 */
export async function loadPlugin({ id, file }: Plugin, { edited = false } = {}): Promise<Connector> {
  const plugin = ((await import(addressOf(file, edited))) as { default?: Partial<Connector> }).default;
  if (plugin === undefined || typeof plugin !== 'object' || plugin === null)
    throw new Error('it has no default export from defineConnector');
  if (plugin.id !== id) throw new Error(`its id is "${plugin.id}", but its file is named "${id}"`);
  for (const member of ['title', 'summary', 'source', 'query', 'check', 'extract'] as const) {
    if (plugin[member] === undefined) throw new Error(`it lacks "${member}"`);
  }
  if (plugin.source?.connector !== undefined) throw new Error('an option of a source cannot be called "connector"');
  if (plugin.oauth !== undefined && plugin.source?.login !== undefined)
    throw new Error('an option of a source cannot be called "login" if the connector uses OAuth');
  return plugin as Connector;
}

/** When each file had been modified that was imported, as of its first import. */
const firstTimes = new Map<string, number>();

/** For Node, another query is another module. */
function addressOf(file: string, edited: boolean): string {
  const url = pathToFileURL(file);
  if (!edited) return url.href;
  const time = statSync(file).mtimeMs;
  const first = firstTimes.get(file) ?? time;
  firstTimes.set(file, first);
  if (time !== first) url.searchParams.set('edited', String(time));
  return url.href;
}

/** What a plugin that cannot be used is reported as. */
export function brokenPlugin({ id, file }: Plugin, error: unknown, where: ProblemLocation = { file }): Problem {
  const reason = error instanceof Error ? error.message : String(error);
  return new Problem({
    code: 'CONFIG_CONNECTOR_BROKEN',
    family: 'config',
    message: `The connector "${id}" cannot be used: ${reason.replace(/\.$/, '')}`,
    where,
    next: 'fix the file; all other connectors still work',
    cause: error,
  });
}
