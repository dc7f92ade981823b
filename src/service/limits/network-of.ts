import { isIPv6 } from 'node:net';

/** How many of the eight groups of an IPv6 address name the network (RFC 4291 section 2.5.1). */
const networkGroups = 4;

/**
 * Whom an address speaks for. One IPv4 address is one; of IPv6 everybody gets a network of 64 bits and may take any
 * address in it for each request, so all of it is one. An IPv4 address that is written as an IPv6 one is what it is.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%', 1);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return address;
  // The URL standard's way to write it has hex groups alone, the longest row of zeros left out.
  const [front = '', back] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [front, back ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - first!.length - last!.length }, () => '0');
  return `${[...first!, ...zeros, ...last!].slice(0, networkGroups).join(':')}::/64`;
}
