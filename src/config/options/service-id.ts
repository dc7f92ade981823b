import type { Option } from '../../sdk/option.ts';
import type { Faults } from '../text/faults.ts';
import { isBroken, type Part, partAt } from '../text/variables.ts';
import { readAs } from './field.ts';

/** An option whose value is an ID that the service assigned. */
export const serviceId = <O extends Option<string> | Option<string | undefined>>(what: string, one: O) =>
  readAs(one, { read: (at, faults) => readServiceId(at, { what, faults }) });

/** Like {@link serviceId}, but for a list of IDs. */
export const serviceIds = <O extends Option<readonly string[] | undefined>>(what: string, one: O) =>
  readAs(one, {
    isGroup: true,
    read: (at, faults): readonly string[] | undefined =>
      Array.isArray(at.value)
        ? at.value.flatMap((id, i) => (typeof id === 'string' ? readServiceId(partAt(at, i), { what, faults }) : []))
        : undefined,
  });

/**
 * Validates a service ID, because the ID becomes part of a request path. The service's own IDs are 32 lowercase hex
 * characters. Other IDs that contain only allowed characters are accepted with a warning, because a service may use
 * custom IDs.
 */
export function readServiceId(at: Part, { what, faults }: { what: string; faults: Faults }): string {
  const id = String(at.value);
  if (isBroken(at) || /^[0-9a-f]{32}$/.test(id)) return id;
  const form = { path: at.path, seen: JSON.stringify(id), allowed: '32 hexadecimal characters (0-9 and a-f)' };
  if (/^[A-Za-z0-9_-]{1,100}$/.test(id)) {
    faults.warn({ code: 'CONFIG_ID', message: `Unusual ID of a ${what}`, ...form });
    return id;
  }
  faults.add({
    code: 'CONFIG_ID',
    message: `Invalid ID of a ${what}`,
    ...form,
    next: 'copy the ID from the URL of its page in the service',
  });
  return id;
}
