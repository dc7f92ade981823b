import { fileURLToPath } from 'node:url';
import { missingModule } from '../../lib/missing-module.ts';
import { type Problem, toProblem } from '../../lib/problem.ts';
import type { Connector } from '../../sdk/connector.ts';
import { findInFolder, findInPackage, type Plugin } from './find-plugins.ts';
import { brokenPlugin, loadPlugin, openSdkDoor } from './load-plugin.ts';
import { placeOfError } from './plugin-place.ts';

/** Where to look for connectors in addition to the built-in ones. */
export interface Places {
  /** Absolute path of a folder with the user's own connectors. */
  readonly folder?: string;
  /** Names of npm packages that contain connectors. */
  readonly packages?: readonly string[];
  /** Absolute path of the folder from which npm packages are resolved. */
  readonly from?: string;
}

/**
 * The available connectors. Each connector is imported on first use, so that a run loads only the connectors it needs.
 */
export interface Catalog {
  /**
   * All valid values for `connector`: the built-in connectors sorted by name, then the connectors from the user's
   * folder and packages.
   */
  readonly ids: readonly string[];
  /**
   * Errors found in the folder, in the packages, and in the connectors loaded so far. Valid connectors can still be
   * used.
   */
  readonly problems: readonly Problem[];
  /**
   * Imports a connector. Returns undefined if no connector has this name or the connector is broken; `problems` then
   * contains the reason.
   */
  load(id: string): Promise<Connector | undefined>;
  /** The connector's origin: "sluice" for a built-in connector, otherwise the folder or package. */
  origin(id: string): string | undefined;
  /** Absolute path of the connector's file. */
  file(id: string): string | undefined;
}

/** All connectors by ID, and the errors of connectors that couldn't be loaded. */
export interface WholeCatalog {
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly problems: readonly Problem[];
}

const ownFolder = fileURLToPath(new URL('../../../connectors/', import.meta.url));

/** Finds connectors by file name. Reports duplicate IDs as errors. */
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
      problems.push(brokenPlugin(plugin, `the name "${plugin.id}" is taken by another connector; rename this one`));
    } else {
      plugins.set(plugin.id, plugin);
    }
  }
  return new FoundCatalog(plugins, problems);
}

/** Imports all connectors, to list them or to generate docs. */
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
      return await loadPlugin(plugin, { isOwn: plugin.origin === ownFolder });
    } catch (error) {
      // The connector isn't the cause, and no config change would fix the error.
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
