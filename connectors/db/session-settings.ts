import { engines, titlesOf } from './engines.ts';
import type { DriverName, SourceValues } from './options.ts';
import { whatTheyCould } from './startup-options.ts';

/** Settings that can't be used, phrased so that they can follow the option's name. */
export function settingFaults({ session }: Pick<SourceValues, 'session'>, driver: DriverName | undefined): string[] {
  const names = Object.keys(session);
  if (names.length === 0 || driver === undefined) return [];
  const refused = engines[driver].reservedSettings;
  if (refused === undefined)
    return [`is only for ${titlesOf(({ reservedSettings }) => reservedSettings !== undefined)}; remove it`];
  return names.flatMap((name) => {
    if (!/^[a-z_][a-z0-9_]*(\.[a-z0-9_]+)*$/i.test(name)) return [`has an invalid name: ${JSON.stringify(name)}`];
    return refused.test(name) ? [`cannot contain ${name}, ${whatTheyCould}; remove it`] : [];
  });
}
