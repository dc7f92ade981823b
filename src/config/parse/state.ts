import { resolve } from 'node:path';
import type { StateLocation } from '../../state/engine/state-database.ts';
import { defaultCacheFolder, isStateUrl } from '../default-paths.ts';
import type { Values } from '../options/field.ts';
import type { s3Options } from '../options/s3.ts';
import type { Faults } from '../text/faults.ts';
import { isBroken, type Part, partAt } from '../text/variables.ts';
import { readPayloads } from './payloads.ts';
import { readStateUrl } from './state-url.ts';

interface StateValues {
  readonly state: string;
  readonly cache?: string | undefined;
  readonly payloads?: string | undefined;
  readonly s3?: Values<typeof s3Options> | undefined;
}

interface StateLocationOptions {
  /** The part that contains the options. */
  readonly at: Part;
  /** The config's folder. */
  readonly folder: string;
  readonly faults: Faults;
  readonly withoutSecrets?: boolean | undefined;
}

/**
 * Returns where the state is, according to the options `state`, `cache`, `payloads` and `s3`. Reports errors in the
 * state's URL.
 */
export function readStateLocation(
  { state, cache, payloads = 'postgres', s3 }: StateValues,
  { at, folder, faults, withoutSecrets }: StateLocationOptions,
): StateLocation {
  const refuse = (fault: object & { readonly message: string }): void =>
    faults.add({ code: 'CONFIG_PAYLOADS', path: `${at.path}/payloads`, ...fault });
  if (!isStateUrl(state)) {
    if (payloads !== 'postgres') refuse({ message: '"payloads" requires a state in a database' });
    return { state: resolve(folder, state) };
  }
  const hasS3 = partAt(at, 's3').value !== undefined;
  const place = readPayloads({ payloads, s3, hasS3, folder, report: refuse });
  const location = { state: resolve(folder, cache ?? defaultCacheFolder) };
  const part = partAt(at, 'state');
  if (isBroken(part)) return location;
  const report = (fault: object & { readonly message: string }): void =>
    faults.add({ code: 'CONFIG_STATE_URL', path: part.path, ...fault });
  const stateDatabase = readStateUrl(state, { folder, report, withoutSecrets });
  return stateDatabase === undefined ? location : { ...location, stateDatabase: { ...stateDatabase, ...place } };
}
