import { fileURLToPath } from 'node:url';
import { missingModule } from '../../lib/missing-module.ts';
import { type Problem, toProblem } from '../../lib/problem.ts';
import type { Connector } from '../../sdk/connector.ts';
import { findInFolder, findInPackage, type Plugin } from './find-plugins.ts';
import { brokenPlugin, loadPlugin, openSdkDoor } from './load-plugin.ts';
import { placeOfError } from './plugin-place.ts';

/** Where connectors are looked for beside our own. */
export interface Places {
  /** Absolute: a folder of the user's own connectors. */
  readonly folder?: string;
  /** npm packages. */
  readonly packages?: readonly string[];
  /** Absolute: the folder that packages are resolved from. */
  readonly from?: string;
}

/** The connectors that there are. One is imported when it is asked for, so a run pays for those that it needs alone. */
export interface Catalog {
  /** Every word for `connector`: our own by name, then those of the places. */
  readonly ids: readonly string[];
  /** What is wrong with the places and with the connectors that were asked for so far; the others are not touched by it. */
  readonly problems: readonly Problem[];
  /** Imports a connector. Undefined when there is none of that name, or when it is broken; `problems` then says why. */
  load(id: string): Promise<Connector | undefined>;
  /** Where a connector stands: "sluice" for our own, else the folder or the package. */
  origin(id: string): string | undefined;
  /** The file of a connector, absolute. */
  file(id: string): string | undefined;
}

/** All connectors by id, and what kept others from being one. */
export interface WholeCatalog {
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly problems: readonly Problem[];
}

const ownFolder = fileURLToPath(new URL('../../../connectors/', import.meta.url));

/** Looks which connectors there are, by the names of their files. An id that is taken already is refused. */
export async function openCatalog(places: Places = {}): Promise<Catalog> {
  const { folder, packages = [], from = process.cwd() } = places;
  if (folder !== undefined || packages.length > 0) openSdkDoor();
  const found = await Promise.all([
    findInFolder(ownFolder),
    ...(folder === undefined ? [] : [findInFolder(folder)]),
    ...packages.map((name) => findInPackage(name, from)),
  ]);
  const problems = found.flatMap((place) => place.problems);
  const plugins = new Map<string, Plugin>();
  for (const plugin of found.flatMap((place) => place.plugins)) {
    if (plugins.has(plugin.id)) {
      problems.push(brokenPlugin(plugin, `there is a connector "${plugin.id}" already; rename this one`));
    } else {
      plugins.set(plugin.id, plugin);
    }
  }
  return new FoundCatalog(plugins, problems);
}

/** Imports every connector: for what shows or generates all of them. */
export async function loadCatalog(places?: Places): Promise<WholeCatalog> {
  const catalog = await openCatalog(places);
  const connectors = new Map<string, Connector>();
  for (const id of catalog.ids) {
    const connector = await catalog.load(id);
    if (connector !== undefined) connectors.set(id, connector);
  }
  return { connectors, problems: catalog.problems };
}

class FoundCatalog implements Catalog {
  readonly problems: Problem[];
  readonly #plugins: ReadonlyMap<string, Plugin>;
  readonly #loaded = new Map<string, Promise<Connector | undefined>>();

  constructor(plugins: ReadonlyMap<string, Plugin>, problems: Problem[]) {
    this.#plugins = plugins;
    this.problems = problems;
  }

  get ids(): readonly string[] {
    return [...this.#plugins.keys()];
  }

  load(id: string): Promise<Connector | undefined> {
    const loading = this.#loaded.get(id) ?? this.#import(id);
    this.#loaded.set(id, loading);
    return loading;
  }

  async #import(id: string): Promise<Connector | undefined> {
    const plugin = this.#plugins.get(id);
    if (plugin === undefined) return undefined;
    try {
      return await loadPlugin(plugin, { edited: plugin.origin !== ownFolder });
    } catch (error) {
      // No fault of the connector: nothing that the config says would help.
      if (missingModule(error) !== undefined) throw toProblem(error, { code: 'BUG', family: 'bug' });
      this.problems.push(brokenPlugin(plugin, error, await placeOfError(plugin.file, error)));
      return undefined;
    }
  }

  origin(id: string): string | undefined {
    const origin = this.#plugins.get(id)?.origin;
    return origin === ownFolder ? 'sluice' : origin;
  }

  file(id: string): string | undefined {
    return this.#plugins.get(id)?.file;
  }
}
