import { statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { areFilesSame, type ConfigInputs, inputsOf } from '../../config/config-inputs.ts';
import type { Loaded } from '../../config/load.ts';
import { type ConfigRecord, recordOf } from '../../daemon/config/config-record.ts';
import type { SyncRequest } from './protocol.ts';

/**
 * An active config and the inputs that it was loaded from. The daemon declines the requests of callers that would load
 * a different config.
 */
export interface ConfigTerms {
  readonly config: Config;
  readonly record: ConfigRecord;
  readonly inputs: ConfigInputs;
  readonly loaded: Pick<Loaded, 'problems' | 'warnings' | 'refused'>;
}

/** Returns an active config's terms. They don't refer to the source document, because it may be large. */
export function termsOf(
  config: Config,
  record: ConfigRecord,
  { problems, warnings, refused, made }: Loaded,
): ConfigTerms {
  const inputs = made === undefined ? { variables: [], files: new Map(), other: 'errors' } : inputsOf(made);
  return { config, record, inputs, loaded: { problems, warnings, refused } };
}

/** Why a caller must load the config itself; undefined if the caller would load exactly this config. */
export async function whyOther(
  { config, record, inputs, loaded }: ConfigTerms,
  { config: theirs, jobs }: SyncRequest,
): Promise<string | undefined> {
  if (loaded.problems.length > 0) return 'its config has errors';
  if (inputs.other !== undefined) return `its config depends on ${inputs.other}`;
  const ours = statSync(record.file, { bigint: true, throwIfNoEntry: false });
  if (theirs.dev !== String(ours?.dev) || theirs.ino !== String(ours?.ino)) return 'it uses another config';
  if ((await recordOf(record.file)).sha256 !== record.sha256) return 'the config was edited after the daemon loaded it';
  if (!(await areFilesSame(inputs))) return 'a file named in the config was edited after the daemon loaded it';
  const unknown = jobs.find((name) => !config.jobs.has(name));
  return unknown === undefined ? undefined : `it has no job ${unknown}`;
}
