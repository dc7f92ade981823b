import { resolve } from 'node:path';
import type { StateLocation } from '../../state/engine/state-database.ts';
import { defaultCacheFolder, isStateUrl } from '../default-paths.ts';
import type { Faults } from '../text/faults.ts';
import { isBroken, type Part, partAt } from '../text/variables.ts';
import { readStateUrl } from './state-url.ts';

interface StateTexts {
  readonly state: string;
  readonly cache?: string | undefined;
  readonly payloads?: string | undefined;
}

const payloadsFault = { code: 'CONFIG_PAYLOADS', allowed: 'postgres, or a folder that all machines mount' };
const withoutDatabase = '"payloads" requires a state in a database';
const unknownStorage = 'Unknown storage for payloads';

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
  { state, cache, payloads = 'postgres' }: StateTexts,
  { at, folder, faults, withoutSecrets }: StateLocationOptions,
): StateLocation {
  const payloadsPath = `${at.path}/payloads`;
  if (!isStateUrl(state)) {
    if (payloads !== 'postgres') faults.add({ ...payloadsFault, path: payloadsPath, message: withoutDatabase });
    return { state: resolve(folder, state) };
  }
  if (/^\w+:\/\//.test(payloads)) faults.add({ ...payloadsFault, path: payloadsPath, message: unknownStorage });
  const location = { state: resolve(folder, cache ?? defaultCacheFolder) };
  const part = partAt(at, 'state');
  if (isBroken(part)) return location;
  const report = (fault: object & { readonly message: string }): void =>
    faults.add({ code: 'CONFIG_STATE_URL', path: part.path, ...fault });
  const stateDatabase = readStateUrl(state, { folder, report, withoutSecrets });
  const isInFolder = stateDatabase !== undefined && payloads !== 'postgres';
  return {
    ...location,
    stateDatabase: isInFolder ? { ...stateDatabase, payloadsFolder: resolve(folder, payloads) } : stateDatabase,
  };
}
