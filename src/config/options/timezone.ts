import { didYouMean } from '../../lib/nearest.ts';
import { knownTimezones, timezoneFault } from '../../schedule/cron.ts';
import type { Option } from '../../sdk/option.ts';
import type { Faults } from '../text/faults.ts';
import { isBroken, type Part } from '../text/variables.ts';
import { readAs } from './field.ts';

/** An option whose value is the name of a time zone. */
export const timezone = <O extends Option<string> | Option<string | undefined>>(one: O) =>
  readAs(one, { read: readTimezone });

/** Returns the time zone's name if the zone exists. Otherwise, reports an error that suggests the closest name. */
export function readTimezone(at: Part, faults: Faults): string | undefined {
  const name = String(at.value);
  const fault = isBroken(at) ? undefined : timezoneFault(name);
  if (fault === undefined) return name;
  return faults.add({
    code: 'CONFIG_TIMEZONE',
    message: `"${name}" is not a valid time zone: ${fault}`,
    path: at.path,
    allowed: 'an IANA name such as Europe/Berlin, America/New_York or UTC',
    next: didYouMean(name, knownTimezones()),
  });
}
