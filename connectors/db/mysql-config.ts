import { isIP, type Socket } from 'node:net';
import type { ConnectionOptions } from 'mysql2';
import type { ServerAddress, Tls } from './address.ts';
import { ReadingSocket } from './reading-socket.ts';

interface ConfigParts {
  readonly address: ServerAddress;
  readonly tls: Tls | undefined;
  readonly timeoutMs: number;
  /** The socket of a tunnel, which leads to the server. */
  readonly socket: string | undefined;
}

/** What mysql2 is to connect with. */
export function mysqlConfig({ address, tls, timeoutMs, socket }: ConfigParts): ConnectionOptions {
  const { host, port, user, password, database } = address;
  return {
    // The name that a certificate is checked against; the socket below is what really connects.
    host: tls?.servername ?? host,
    port,
    user,
    password,
    database,
    charset: 'utf8mb4',
    connectTimeout: timeoutMs,
    stream: () => socketTo(address, socket),
    // No file of ours is anybody's business, and the meaning of a query is not for a driver to change.
    flags: ['-LOCAL_FILES', '-IGNORE_SPACE', '-FOUND_ROWS'],
    ssl: tls === undefined ? undefined : secure(tls),
  };
}

function secure({ rejectUnauthorized, ca, cert, key }: Tls) {
  return {
    rejectUnauthorized,
    verifyIdentity: rejectUnauthorized,
    ca,
    cert,
    key,
  };
}

/**
 * mysql2 gives TLS no name to check when the host is an address, and Node then checks against `localhost`, unless the
 * socket itself remembers its host as it does for names. If Node ever stops asking it, the check fails, never passes.
 */
function socketTo({ host, port }: ServerAddress, path: string | undefined): Socket {
  if (host.startsWith('/')) return new ReadingSocket().connect({ path: host });
  const socket = new ReadingSocket().setNoDelay().setKeepAlive(true);
  socket.connect(path === undefined ? { host, port } : { path });
  return isIP(host) === 0 ? socket : Object.assign(socket, { _host: host });
}
