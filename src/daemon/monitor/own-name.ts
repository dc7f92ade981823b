import { isIP } from 'node:net';
import { hostname } from 'node:os';

/**
 * Whether a request with this `Host` is meant for this machine: it names an IP address, a name without a dot, the machine's
 * own name, or one of `names`. A web page can make its own name point here and have a browser read the answers (DNS
 * rebinding); such a name is in the public tree, so it has a dot.
 */
export function isOwnName(host: string | undefined, names: readonly string[]): boolean {
  const name = URL.parse(`http://${host ?? 'localhost'}`)?.hostname ?? '';
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || (name !== '' && !name.includes('.'))) return true;
  return [hostname(), ...names].some((own) => own.toLowerCase() === name);
}
