import type { Faults } from '../text/faults.ts';

/**
 * Checks an id of the service: it goes into the path of a request. The service's own ids are 32 lowercase hex
 * characters; anything else of that alphabet is let through with a warning, for a service set up with ids of its own.
 */
export function checkId(id: string, { path, what, faults }: { path: string; what: string; faults: Faults }): void {
  if (/^[0-9a-f]{32}$/.test(id)) return;
  const said = { path, seen: JSON.stringify(id), allowed: '32 characters out of 0-9 and a-f' };
  if (/^[A-Za-z0-9_-]{1,100}$/.test(id)) {
    faults.warn({ code: 'CONFIG_ID', message: `Unusual ID of a ${what}`, ...said });
    return;
  }
  faults.add({
    code: 'CONFIG_ID',
    message: `Invalid ID of a ${what}`,
    ...said,
    next: 'Copy the ID from the URL of its page in the service',
  });
}
