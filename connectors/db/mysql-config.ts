import { isIP, type Socket } from 'node:net';
import type { ConnectionOptions } from 'mysql2';
import type { ServerAddress, Tls } from './address.ts';
import { ReadingSocket } from './reading-socket.ts';

interface ConfigParts {
  readonly address: ServerAddress;
  readonly tls: Tls | undefined;
  readonly timeoutMs: number;
  /** The socket of an SSH tunnel to the server. */
  readonly socket: string | undefined;
}

/** The connection options for mysql2. */
export function mysqlConfig({ address, tls, timeoutMs, socket }: ConfigParts): ConnectionOptions {
  const { host, port, user, password, database } = address;
  return {
    // This name is used only to verify the certificate; the connection uses the socket below.
    host: tls?.servername ?? host,
    port,
    user,
    password,
    database,
    charset: 'utf8mb4',
    connectTimeout: timeoutMs,
    stream: () => socketTo(address, socket),
    // The server must not be able to read local files, and the driver must not change the meaning of a query.
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
 * If the host is an IP address, mysql2 passes no name to TLS. Node then verifies the certificate for the socket's own
 * host, or for `localhost` if the socket has none. Node sets the socket's host only for names, so this function sets it
 * for addresses. If Node ever ignores this setting, the verification fails closed.
 */
function socketTo({ host, port }: ServerAddress, path: string | undefined): Socket {
  if (host.startsWith('/')) return new ReadingSocket().connect({ path: host });
  const socket = new ReadingSocket().setNoDelay().setKeepAlive(true);
  socket.connect(path === undefined ? { host, port } : { path });
  return isIP(host) === 0 ? socket : Object.assign(socket, { _host: host });
}
