import { addressOf } from './address.ts';
import type { DbOptionFault } from './db-option-fault.ts';
import { engines } from './engines.ts';
import type { DriverName, SourceValues } from './options.ts';

/** What the APIs of BigQuery and Snowflake need, and what they don't have. */
export function apiFaults(source: SourceValues, driver: DriverName | undefined): DbOptionFault[] {
  const api = driver === undefined ? undefined : engines[driver].api;
  const isProject = api?.urlHost === 'project';
  const only = onlyFaults(source, { isProject, isKey: api?.login === 'token or key' });
  if (driver === undefined || api === undefined) return only;
  const inapplicable = [
    ...(source.ssh === undefined ? [] : ['ssh']),
    ...(source.transaction === 'none' ? ['transaction'] : []),
    ...(isProject && addressOf(source).user !== undefined ? ['user'] : []),
  ];
  return [
    ...only,
    ...(isProject ? projectFaults(source) : keyFaults(source)),
    ...inapplicable.map((option) => ({ option, message: `does not apply to ${engines[driver].title}; remove it` })),
  ];
}

function onlyFaults(
  { project, private_key_file: key, passphrase }: SourceValues,
  { isProject, isKey }: { isProject: boolean; isKey: boolean },
): DbOptionFault[] {
  return [
    ...(isProject || project === undefined ? [] : [{ option: 'project', message: 'is only for BigQuery' }]),
    ...(isKey || key === undefined ? [] : [{ option: 'private_key_file', message: 'is only for Snowflake' }]),
    ...(passphrase !== undefined && key === undefined
      ? [{ option: 'passphrase', message: 'requires private_key_file' }]
      : []),
  ];
}

function projectFaults(source: SourceValues): DbOptionFault[] {
  const { project, database } = addressOf(source);
  const message = source.url === undefined ? 'is missing' : 'is missing in the URL: bigquery://PROJECT/DATASET';
  return Object.entries({ project, database }).flatMap(([option, value]) =>
    value === undefined ? [{ option, message }] : [],
  );
}

function keyFaults(source: SourceValues): DbOptionFault[] {
  const { servers, user } = addressOf(source);
  const [{ host, password }] = servers;
  const key = source.private_key_file;
  return [
    ...(host === 'localhost' && source.host === undefined
      ? [{ option: 'host', message: "is missing; set it to the account's host name" }]
      : []),
    ...(password === undefined && key === undefined
      ? [{ option: 'private_key_file', message: 'is missing; set it, or password to a programmatic access token' }]
      : []),
    ...(password !== undefined && key !== undefined
      ? [{ option: 'private_key_file', message: 'cannot be combined with a password; remove one of the two' }]
      : []),
    ...(key !== undefined && user === undefined
      ? [{ option: source.url === undefined ? 'user' : 'url', message: 'has no user, whose key this is' }]
      : []),
  ];
}
