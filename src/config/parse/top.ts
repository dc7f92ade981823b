import { resolve } from 'node:path';
import { isMap } from '../../lib/is-map.ts';
import { registerSecret } from '../../lib/redact.ts';
import type { Environment } from '../../lib/run-program.ts';
import { option, schemaOf } from '../../sdk/option.ts';
import type { SealKeys } from '../config.ts';
import { readWhole, readWritten, type Values } from '../options/field.ts';
import { scheduleRuleOptions } from '../options/schedule.ts';
import { topOptions } from '../options/top.ts';
import type { Document } from '../text/document.ts';
import type { Fault, Faults } from '../text/faults.ts';
import { registerSecrets } from '../text/register-secrets.ts';
import type { VariableSettings } from '../text/variable-scan.ts';
import { type Part, partAt, readAhead, resolvePart } from '../text/variables.ts';
import { loadAlerts } from './alerts.ts';
import type { Top } from './context.ts';
import { loadTopGuards } from './guards.ts';
import { defaultRetry, loadRetry } from './retry.ts';
import { openSecrets } from './secrets.ts';
import { readStateLocation } from './state.ts';
import { validatePart } from './validate.ts';

const named = (about: string, required?: true) =>
  option.schema<Record<string, unknown>>({ type: 'object' }, { about, ...(required ? { required } : {}) });

/** The three maps whose keys the user chooses. */
export const topMaps = {
  destinations: named('Destinations by name: dashboard services with their credentials.', true),
  sources: named('Data sources to read, by name.'),
  jobs: named('Jobs, by name.', true),
};

/** Parses the top level of the config. A top-level error makes the whole file unusable. */
export async function readTop(
  document: Document,
  { faults, ...around }: Pick<VariableSettings, 'env' | 'folder' | 'signal' | 'withoutSecrets'> & { faults: Faults },
): Promise<Top> {
  const { env, folder, signal, withoutSecrets } = around;
  const written = isMap(document.value) ? document.value : undefined;
  if (document.value === null) {
    faults.add({
      code: 'CONFIG_EMPTY',
      message: 'The config is empty',
      path: '',
      next: 'create one with "sluice init"',
    });
  } else if (written === undefined) {
    faults.add({
      code: 'CONFIG_SYNTAX',
      message: 'The config must be a map of options',
      path: '',
      allowed: 'lines of the form name: value',
    });
  }
  const scalars = pick(written ?? {}, (name) => !Object.hasOwn(topMaps, name));
  const allowCommands = scalars.allow_commands === true;
  const settings = { ...around, allowCommands };
  const { secrets, section } = await openSecrets(scalars.secrets, settings, faults);
  if (!withoutSecrets) readAhead({ ...written, secrets: undefined }, { ...settings, secrets });
  const rest = await resolvePart(
    { path: '', value: { ...scalars, secrets: undefined } },
    { ...settings, secrets },
    faults,
  );
  const part: Part = {
    ...rest,
    resolved: new Map([...section.resolved, ...rest.resolved]),
    broken: new Set([...section.broken, ...rest.broken]),
  };
  part.value = {
    ...(rest.value as object),
    ...(section.value === undefined ? {} : { secrets: section.value }),
    ...pick(written ?? {}, (name, value) => Object.hasOwn(topMaps, name) && value !== null),
  };
  registerSecrets(part, topOptions);
  if (written !== undefined)
    validatePart(part, { schema: schemaOf({ ...topOptions, ...topMaps }), noun: 'config', faults });
  const values = readWhole(topOptions, part, faults)!;
  const alerts = loadAlerts(part, { allowCommands, faults });
  const location = readStateLocation(values, { at: part, folder, faults, withoutSecrets });
  const sealKeys = keysOf(values, env);
  if (location.stateDatabase !== undefined && sealKeys.current === undefined && !withoutSecrets)
    faults.add(withoutLoginKey);
  return {
    ...values,
    part,
    folder,
    ...location,
    allowCommands,
    secrets,
    signal,
    withoutSecrets,
    sealKeys,
    guards: loadTopGuards(partAt(part, 'guards'), faults),
    keep: { payloads: values.keep.payloads, milliseconds: values.keep.days * 86_400_000 },
    scheduleRules: readWritten(scheduleRuleOptions, partAt(part, 'schedules'), faults),
    retry: loadRetry(part, defaultRetry, faults),
    alerts,
    places: {
      from: folder,
      folder: values.connectors === undefined ? undefined : resolve(folder, values.connectors),
      packages: values.connectorPackages,
    },
    destinations: entriesOf(written, 'destinations'),
    sources: entriesOf(written, 'sources'),
    jobs: entriesOf(written, 'jobs'),
  };
}

/** A key file would be in the cache folder, where other machines can't read it. */
const withoutLoginKey: Fault = {
  code: 'LOGIN_KEY_REQUIRED',
  message: 'A state in a database requires an encryption key for logins, which all machines share',
  path: '/state',
  on: 'key',
  next: `set "login_key" or the environment variable SLUICE_KEY; "openssl rand -base64 32" generates a key`,
};

function keysOf({ loginKey, formerLoginKeys: former }: Values<typeof topOptions>, env: Environment): SealKeys {
  const current = loginKey ?? env.SLUICE_KEY;
  if (current !== undefined) registerSecret(current);
  return current === undefined || current === '' ? { former } : { current, former };
}

function pick(
  map: Record<string, unknown>,
  isWanted: (name: string, value: unknown) => boolean,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).filter(([name, value]) => isWanted(name, value)));
}

function entriesOf(top: Record<string, unknown> | undefined, name: string): ReadonlyMap<string, unknown> {
  const map = top?.[name];
  return new Map(isMap(map) ? Object.entries(map) : []);
}
