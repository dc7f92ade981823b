import { isMap } from '../../lib/is-map.ts';
import { databaseText, payloadsText } from '../../state/engine/state-database.ts';
import type { Config, Source } from '../config.ts';
import type { Making } from '../load.ts';
import { destinationOptions } from '../options/destination.ts';
import { optionsOfSource } from '../options/login.ts';
import { topOptions } from '../options/top.ts';
import { topMaps } from '../parse/top.ts';
import { below } from '../text/document.ts';
import type { Part } from '../text/variables.ts';
import { fillPart, type Origins, type Showing } from './fill-value.ts';
import { showJob } from './show-job.ts';

/** The effective config with the file's keys, without faulty parts. Secrets are hidden. */
export interface ShownConfig {
  /** All options. Unset options without a default are undefined. */
  readonly values: Readonly<Record<string, unknown>>;
  /**
   * The origin of each value, by JSON pointer: the value's line and variables, or whatever else determines the value.
   * If neither the value's path nor an enclosing path has an entry, the value is a default.
   */
  readonly from: Origins;
}

/** Returns the effective config with all defaults. Uses `made`, the parsed document, and doesn't read any files. */
export function showConfig(config: Config, made: Making): ShownConfig {
  const from: Origins = {};
  const showing: Showing = { document: made.document, top: made.parts[0] as Part, from };
  const parts = new Map(made.parts.map((part) => [part.path, part]));
  const members = <T>(map: keyof typeof topMaps, of: ReadonlyMap<string, T>, show: Show<T>): object =>
    Object.fromEntries(
      [...of].map(([name, one]) => [name, show(one, parts.get(below(`/${map}`, name)) as Part, showing)]),
    );
  const values = {
    ...showTop(showing),
    ...showState(config),
    destinations: members('destinations', config.destinations, (_, part) =>
      fillPart(part, destinationOptions, showing),
    ),
    sources: members('sources', config.sources, showSource),
    jobs: members('jobs', config.jobs, showJob),
  };
  return { values, from };
}

/** The state's URL is shown without the user, the password, and the files of certificates. */
function showState({ state, stateDatabase }: Config): object {
  if (stateDatabase === undefined) return { state };
  return {
    state: databaseText(stateDatabase),
    cache: state,
    payloads: payloadsText(stateDatabase),
  };
}

type Show<T> = (one: T, part: Part, showing: Showing) => unknown;

function showTop(showing: Showing): object {
  const { top: part } = showing;
  const written = Object.entries(isMap(part.value) ? part.value : {}).filter(([name]) => !Object.hasOwn(topMaps, name));
  return fillPart({ ...part, value: Object.fromEntries(written) }, topOptions, showing);
}

function showSource({ connector, login }: Source, part: Part, showing: Showing): object {
  const filled = fillPart(part, optionsOfSource(connector), showing);
  if (login === undefined) return filled;
  const { name, grant, scopes } = login;
  return { ...filled, login: { ...(isMap(filled.login) ? filled.login : {}), name, grant, scopes } };
}
