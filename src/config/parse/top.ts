import { resolve } from 'node:path';
import { isMap } from '../../lib/is-map.ts';
import { nearest } from '../../lib/nearest.ts';
import { registerSecret } from '../../lib/redact.ts';
import { knownTimezones, timezoneFault } from '../../schedule/cron.ts';
import type { Rules } from '../../schedule/schedule.ts';
import { type OptionValues, option, schemaOf, withDefaults } from '../../sdk/option.ts';
import type { Places } from '../catalog/catalog.ts';
import type { DiskSettings, MonitorAddress, SealKeys } from '../config.ts';
import { diskDefaults, keepDefaults } from '../options/guards.ts';
import { scheduleRuleOptions } from '../options/schedule.ts';
import { topOptions } from '../options/settings.ts';
import type { Document } from '../text/document.ts';
import type { Faults } from '../text/faults.ts';
import { registerSecrets } from '../text/register-secrets.ts';
import type { Environment } from '../text/run-command.ts';
import { type Part, partAt, resolvePart, type VariableSettings } from '../text/variables.ts';
import { loadAlerts } from './alerts.ts';
import { checkGuards } from './check-guards.ts';
import type { Keep, SpreadRule, Top } from './context.ts';
import { defaultRetry, loadRetry } from './retry.ts';
import { loadRules } from './schedule-rules.ts';
import { fittingOptions, validatePart } from './validate.ts';

const named = (about: string, required?: true) =>
  option.schema<Record<string, unknown>>({ type: 'object' }, { about, ...(required ? { required } : {}) });

/** The three maps: each name is yours to choose. */
export const topMaps = {
  destinations: named('Destinations: accounts at the service, by name.', true),
  sources: named('Sources of data, by name.'),
  jobs: named('Jobs, by name.', true),
};

/** Reads what stands at the top level. Faults there are the file's, so nothing of it can be used. */
export async function readTop(
  document: Document,
  { faults, ...around }: Pick<VariableSettings, 'env' | 'folder' | 'signal'> & { faults: Faults },
): Promise<Top> {
  const { env, folder, signal } = around;
  const written = isMap(document.value) ? document.value : undefined;
  if (document.value === null) {
    faults.add({
      code: 'CONFIG_EMPTY',
      message: 'The config is empty',
      path: '',
      next: 'Create one with "sluice init"',
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
  const part = await resolvePart({ path: '', value: scalars }, { ...around, allowCommands }, faults);
  part.value = {
    ...(part.value as object),
    ...pick(written ?? {}, (name, value) => Object.hasOwn(topMaps, name) && value !== null),
  };
  registerSecrets(part, topOptions);
  if (written !== undefined)
    validatePart(part, { schema: schemaOf({ ...topOptions, ...topMaps }), noun: 'config', faults });
  const values = withDefaults(topOptions, part.value as Record<string, unknown>);
  const alerts = loadAlerts(part, { allowCommands, faults });
  checkGuards(partAt(part, 'guards'), faults);
  const timezone = checkTimezone(values.timezone, { path: '/timezone', faults });
  return {
    part,
    folder,
    state: resolve(folder, String(values.state)),
    timezone: timezone ?? 'UTC',
    allowCommands,
    signal,
    sealKeys: keysOf(values, env),
    ...monitorOf(values),
    guards: (part.value as Record<string, unknown>).guards,
    keep: keepOf(values),
    disk: diskOf(values),
    scheduleRules: rulesOf(part, faults),
    retry: loadRetry(part, defaultRetry, faults),
    concurrency: values.concurrency,
    onStartError: values.on_start_error,
    alerts,
    places: placesOf(values, folder),
    destinations: entriesOf(written, 'destinations'),
    sources: entriesOf(written, 'sources'),
    jobs: entriesOf(written, 'jobs'),
  };
}

function keysOf(
  { login_key: key, former_login_keys: former }: OptionValues<typeof topOptions>,
  env: Environment,
): SealKeys {
  const current = typeof key === 'string' ? key : env.SLUICE_KEY;
  if (current !== undefined) registerSecret(current);
  return {
    ...(current === undefined || current === '' ? {} : { current }),
    former: Array.isArray(former) ? former.filter((one) => typeof one === 'string') : [],
  };
}

function monitorOf({ monitor }: OptionValues<typeof topOptions>): { monitor?: MonitorAddress } {
  if (!isMap(monitor) || typeof monitor.port !== 'number') return {};
  const { host, port, names } = monitor;
  return {
    monitor: {
      host: typeof host === 'string' ? host : '127.0.0.1',
      port,
      ...(Array.isArray(names) ? { names: names.map(String) } : {}),
    },
  };
}

function keepOf({ keep }: OptionValues<typeof topOptions>): Keep {
  const { payloads, days } = { ...keepDefaults, ...(isMap(keep) ? keep : {}) } as typeof keepDefaults;
  return { payloads, milliseconds: days * 86_400_000 };
}

function diskOf({ disk }: OptionValues<typeof topOptions>): DiskSettings {
  const written = { ...diskDefaults, ...(isMap(disk) ? disk : {}) } as typeof diskDefaults & {
    free_megabytes?: number;
  };
  const { limit_megabytes: limit, free_megabytes: free } = written;
  return { mostBytes: limit * 1_000_000, freeBytes: free === undefined ? undefined : free * 1_000_000 };
}

function rulesOf(part: Part, faults: Faults): Rules & SpreadRule {
  const at = partAt(part, 'schedules');
  const place = (option: string): Part => partAt(at, option);
  if (!isMap(at.value)) return {};
  return loadRules(fittingOptions(scheduleRuleOptions, at.value), { rules: {}, place, faults }) ?? {};
}

function placesOf({ connectors, connector_packages: packages }: OptionValues<typeof topOptions>, from: string): Places {
  return {
    from,
    ...(typeof connectors === 'string' ? { folder: resolve(from, connectors) } : {}),
    ...(Array.isArray(packages) ? { packages: packages.filter((name) => typeof name === 'string') } : {}),
  };
}

/** The zone when there is one of that name; otherwise a fault with the nearest name. */
export function checkTimezone(
  timezone: unknown,
  { path, faults }: { path: string; faults: Faults },
): string | undefined {
  if (typeof timezone !== 'string') return undefined;
  const fault = timezoneFault(timezone);
  if (fault === undefined) return timezone;
  const meant = nearest(timezone, knownTimezones());
  faults.add({
    code: 'CONFIG_TIMEZONE',
    message: `"${timezone}" is not a valid time zone: ${fault}`,
    path,
    allowed: 'an IANA name such as Europe/Berlin, America/New_York or UTC',
    next: meant === undefined ? undefined : `Did you mean "${meant}"?`,
  });
  return undefined;
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
