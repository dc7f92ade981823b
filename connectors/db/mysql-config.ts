import { isIP, type Socket } from 'node:net';
import type { ConnectionOptions } from 'mysql2';
import type { Server, ServerAddress } from './address.ts';
import { ReadingSocket } from './reading-socket.ts';
import type { Tls } from './tls-files.ts';

interface ConfigParts {
  readonly address: ServerAddress;
  readonly server: Server;
  readonly tls: Tls | undefined;
  /** The socket of an SSH tunnel to the server. */
  readonly socket: string | undefined;
}

/** The connection options for mysql2. */
export function mysqlConfig({ address, server, tls, socket }: ConfigParts): ConnectionOptions {
  const { user, database, connectSeconds } = address;
  const { host, port, password } = server;
  return {
    // This name is used only to verify the certificate; the connection uses the socket below.
    host: tls?.servername ?? host,
    port,
    user,
    password,
    database,
    charset: 'utf8mb4',
    connectTimeout: connectSeconds * 1000,
    stream: () => socketTo(server, socket),
    // The server must not be able to read local files, and the driver must not change the meaning of a query.
    flags: ['-LOCAL_FILES', '-IGNORE_SPACE', '-FOUND_ROWS'],
    ssl: tls === undefined ? undefined : secure(tls),
    // Cloud providers' tokens and LDAP passwords are sent in clear text, so only to a server that is verified.
    enableCleartextPlugin: tls?.rejectUnauthorized === true,
    // MariaDB's plugin, which mysql2 doesn't have. Loaded when a server asks for it, because few do.
    authPlugins: {
      client_ed25519: () => async (challenge) =>
        (await import('./mysql-ed25519.ts')).ed25519Answer(password ?? '', challenge),
    },
  };
}

function secure({ rejectUnauthorized, verifyIdentity, ca, cert, key }: Tls) {
  return {
    rejectUnauthorized,
    verifyIdentity,
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
function socketTo({ host, port }: Server, path: string | undefined): Socket {
  if (host.startsWith('/')) return new ReadingSocket().connect({ path: host });
  const socket = new ReadingSocket().setNoDelay().setKeepAlive(true);
  socket.connect(path === undefined ? { host, port } : { path });
  return isIP(host) === 0 ? socket : Object.assign(socket, { _host: host });
}
