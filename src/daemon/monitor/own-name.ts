import { isIP } from 'node:net';
import { hostname } from 'node:os';

/**
 * Whether the `Host` of a request is this machine: an IP address, a name without a dot, the machine's own name, or one
 * of `names`. Otherwise a web page could resolve its own name to this machine and read the responses in a browser (DNS
 * rebinding); such a name is public, so it contains a dot.
 */
export function isOwnName(host: string | undefined, names: readonly string[]): boolean {
  const name = URL.parse(`http://${host ?? 'localhost'}`)?.hostname ?? '';
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || (name !== '' && !name.includes('.'))) return true;
  return [hostname(), ...names].some((own) => own.toLowerCase() === name);
}
