import { isIPv6 } from 'node:net';

/** Number of the eight groups of an IPv6 address that form the network prefix (RFC 4291 section 2.5.1). */
const networkGroups = 4;

/**
 * The network used for counting an address. An IPv4 address counts by itself. An IPv6 client has a /64 network and can
 * use any of its addresses, so the whole network counts as one. An IPv4-mapped IPv6 address counts as IPv4.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%', 1);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return address;
  // The URL parser serializes IPv6 addresses as hex groups, with the longest run of zeros compressed.
  const [front = '', back] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [front, back ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - first!.length - last!.length }, () => '0');
  return `${[...first!, ...zeros, ...last!].slice(0, networkGroups).join(':')}::/64`;
}
