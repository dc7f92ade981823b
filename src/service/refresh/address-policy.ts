import { BlockList, isIP } from 'node:net';

/** Returns whether a refresh may connect to this IP address. */
export type AddressPolicy = (address: string) => boolean;

type Subnet = readonly [network: string, bits: number];

/** Loopback addresses. */
const loopback = listOf([
  ['127.0.0.0', 8],
  ['::1', 128],
]);

/** Address blocks that aren't globally reachable, from IANA's special-purpose address registries. */
const near = listOf([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  // These IPv6 forms contain an IPv4 address: compatible, translated, NAT64, Teredo and 6to4.
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 23],
  ['2002::', 16],
  ['100::', 64],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]);

/**
 * The basis of the address policy: the address that the service listens on, and whether private addresses are allowed.
 */
export interface Reach {
  readonly host: string;
  readonly allowPrivate: boolean;
}

/**
 * Creates a service's address policy, which protects against SSRF. Any user who may create a data source can make the
 * service fetch a URL, so a shared service must not connect to internal addresses. A service that listens on loopback
 * is used by one person, whose other tools listen on loopback too, so it may connect to loopback addresses.
 */
export function addressPolicy({ host, allowPrivate }: Reach): AddressPolicy {
  const isOwn = host === 'localhost' || (isIP(host) !== 0 && holds(loopback, host));
  return (address) => allowPrivate || (holds(loopback, address) ? isOwn : !holds(near, address));
}

/** Returns whether the list contains the address. An IPv4-mapped IPv6 address is checked as an IPv4 address. */
function holds(list: BlockList, address: string): boolean {
  const [plain = ''] = address.split('%', 1);
  return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}

function listOf(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of subnets) list.addSubnet(network, bits, network.includes(':') ? 'ipv6' : 'ipv4');
  return list;
}
