import { isIPv6 } from 'node:net';

/** How many of an IPv6 address's eight groups form its network prefix (RFC 4291, section 2.5.1). */
const networkGroups = 4;

/**
 * Returns the network under which an address's failed logins are counted. An IPv6 client usually has a whole /64
 * network and can use any of its addresses, so all addresses in a /64 network count as one. Each IPv4 address counts
 * separately, and an IPv4-mapped IPv6 address counts as its IPv4 address.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%', 1);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return address;
  // The URL parser writes an IPv6 address as groups of hex digits, and replaces the longest run of zero groups with
  // `::`.
  const [front = '', back] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [front, back ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - first!.length - last!.length }, () => '0');
  return `${[...first!, ...zeros, ...last!].slice(0, networkGroups).join(':')}::/64`;
}
