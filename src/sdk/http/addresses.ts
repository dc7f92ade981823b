import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Problem } from '../../lib/problem.ts';
import { httpProblem, shownUrl } from './problems.ts';

/** Whether connecting to an IP address is allowed. */
export type MayReach = (address: string) => boolean;

/** Rejects a disallowed IP address in the URL. Host names are checked when the client connects. */
export function checkHost(url: URL, mayReach: MayReach): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !mayReach(host)) throw addressRefused(shownUrl(url));
}

/**
 * A DNS lookup that returns only allowed addresses. The connection uses its result, so a name that resolves differently
 * the second time (DNS rebinding) has no effect.
 */
export function checkedLookup(mayReach: MayReach): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, '');
      const allowed = found.filter(({ address }) => mayReach(address));
      const [first] = allowed;
      if (first === undefined) return done(addressRefused(host), '');
      return options.all === true ? done(null, allowed) : done(null, first.address, first.family);
    });
  };
}

/** The message doesn't reveal the resolved address, because that would let a caller scan the network. */
export function addressRefused(place: string): Problem {
  return httpProblem('REST_ADDRESS_REFUSED', 'config', `${place}: requests to this address are not allowed here`, {
    next: 'ask the administrator to allow loopback, link-local and private addresses',
  });
}
