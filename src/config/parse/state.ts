import { resolve } from 'node:path';
import type { StateLocation } from '../../state/engine/state-database.ts';
import { defaultCacheFolder, isStateUrl } from '../default-paths.ts';
import type { Faults } from '../text/faults.ts';
import { isBroken, type Part, partAt } from '../text/variables.ts';
import { readStateUrl } from './state-url.ts';

interface StateLocationOptions {
  /** The part that contains the options. */
  readonly at: Part;
  /** The config's folder. */
  readonly folder: string;
  readonly faults: Faults;
  readonly withoutSecrets?: boolean | undefined;
}

/** Returns where the state is, according to the options `state` and `cache`. Reports errors in the state's URL. */
export function readStateLocation(
  { state, cache }: { readonly state: string; readonly cache?: string | undefined },
  { at, folder, faults, withoutSecrets }: StateLocationOptions,
): StateLocation {
  if (!isStateUrl(state)) return { state: resolve(folder, state) };
  const location = { state: resolve(folder, cache ?? defaultCacheFolder) };
  const part = partAt(at, 'state');
  if (isBroken(part)) return location;
  const report = (fault: object & { readonly message: string }): void =>
    faults.add({ code: 'CONFIG_STATE_URL', path: part.path, ...fault });
  return { ...location, stateDatabase: readStateUrl(state, { folder, report, withoutSecrets }) };
}
