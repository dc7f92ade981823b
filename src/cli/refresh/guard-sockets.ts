import { isIP, type LookupFunction, Server, Socket } from 'node:net';
import { Problem } from '../../lib/problem.ts';
import { addressRefused, checkedLookup, type MayReach } from '../../sdk/http/addresses.ts';

type Connect = (...given: unknown[]) => Socket;

export interface SocketListeners {
  readonly onRefused: (problem: Problem) => void;
  /** Called with each IP address that a host name resolves to. */
  readonly onResolved: (name: string, address: string) => void;
}

/**
 * Applies an address policy to every connection of this process: drivers, file transfers, HTTP, token requests.
 * Resolves each name once, and allows connections only to permitted addresses. Use this function only in processes
 * dedicated to one refresh.
 */
export function guardSockets(mayReach: MayReach, listeners: SocketListeners): void {
  const plain = Socket.prototype.connect as Connect;
  Socket.prototype.connect = function connect(this: Socket, ...given: unknown[]): Socket {
    const [options, done] = destinationOf(given);
    const refusal = refusalOf(options, mayReach);
    if (refusal !== undefined) {
      listeners.onRefused(refusal);
      return this.destroy(refusal);
    }
    return plain.call(this, { ...options, lookup: watched(checkedLookup(mayReach), listeners) }, done);
  } as typeof Socket.prototype.connect;
  Server.prototype.listen = () => {
    throw new Problem({
      code: 'REFRESH_LISTEN',
      family: 'config',
      message: 'A refresh cannot listen for incoming connections',
      next: 'remove the option that requires it, such as the active mode of ftp',
    });
  };
}

interface Destination {
  readonly host?: string;
  readonly port?: unknown;
  readonly path?: unknown;
}

/**
 * The argument forms that `connect` accepts: options; port and host; path; or, from Node's own code, an array of all
 * arguments.
 */
function destinationOf(given: readonly unknown[]): [Destination, unknown] {
  const [first, second] = given;
  if (Array.isArray(first)) return destinationOf(first as unknown[]);
  const done = given.find((one) => typeof one === 'function');
  if (typeof first === 'object' && first !== null) return [first as Destination, done];
  if (typeof first === 'string' && !/^\d+$/.test(first)) return [{ path: first }, done];
  return [{ port: first, ...(typeof second === 'string' ? { host: second } : {}) }, done];
}

function refusalOf({ host, path }: Destination, mayReach: MayReach): Problem | undefined {
  if (path !== undefined && path !== null) return addressRefused('a socket in the file system');
  return host !== undefined && isIP(host) !== 0 && !mayReach(host) ? addressRefused(host) : undefined;
}

function watched(lookup: LookupFunction, { onRefused, onResolved }: SocketListeners): LookupFunction {
  return (host, options, done) =>
    lookup(host, options, (error, found, ...family) => {
      if (error instanceof Problem) onRefused(error);
      for (const one of error === null ? [found].flat() : [])
        onResolved(host, typeof one === 'string' ? one : one.address);
      done(error, found, ...family);
    });
}
