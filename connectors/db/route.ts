import { logInBy, openTunnel, type SshLogin, type Tunnel } from '#sdk';
import type { ConnectOptions, ReadOptions } from './driver.ts';
import { defaultConnectSeconds } from './options.ts';
import { readAddress } from './read-address.ts';
import type { SshOptions } from './secure-options.ts';

/**
 * Grace period before an SSH tunnel is closed. A run that ends early may still have to send a cancel request through
 * the tunnel.
 */
const lastWordsMs = 1000;

/**
 * Route to a source's server. The route is either direct or through an SSH tunnel that is opened on demand and reopened
 * if it breaks.
 */
export class Route {
  readonly #options: ReadOptions;
  #tunnel: Tunnel | undefined;

  constructor(readOptions: ReadOptions) {
    this.#options = readOptions;
  }

  /**
   * The options to connect with. They include the SSH tunnel if one is configured. The service and password files are
   * read again each time, because they may have changed.
   */
  async connectOptions(): Promise<ConnectOptions> {
    const { source, folder, signal } = this.#options;
    const { ssh } = source;
    const address = await readAddress(source, folder);
    if (ssh === undefined) return { ...this.#options, address };
    if (this.#tunnel?.fault() !== undefined) await this.close();
    const [{ host, port }] = address.servers;
    const login = loginOf(ssh, { folder, source });
    // PostgreSQL's driver expects the socket's folder as the host, and derives the socket's file name from the port.
    const open = () => openTunnel({ login, to: { host, port }, name: `.s.PGSQL.${port}`, signal });
    this.#tunnel ??= await logInBy(this.#options, open, { isPart: true });
    return { ...this.#options, address, tunnel: this.#tunnel };
  }

  /**
   * The cause of a failure. If the SSH tunnel broke, that is the cause, even though the driver only saw a lost
   * connection.
   */
  causeOf(thrown: unknown): unknown {
    const { signal } = this.#options;
    return signal.aborted ? signal.reason : (this.#tunnel?.fault() ?? thrown);
  }

  async close(): Promise<void> {
    const tunnel = this.#tunnel;
    this.#tunnel = undefined;
    await tunnel?.close();
  }

  closeSoon(): void {
    if (this.#tunnel !== undefined) setTimeout(() => void this.close(), lastWordsMs);
  }
}

function loginOf(ssh: SshOptions, { folder, source }: Pick<ReadOptions, 'folder' | 'source'>): SshLogin {
  const port = ssh.port ?? 22;
  return {
    ...ssh,
    port,
    known_hosts_file: ssh.known_hosts_file ?? '~/.ssh/known_hosts',
    folder,
    connectTimeoutSeconds: source.connect_timeout_seconds ?? defaultConnectSeconds,
    idleTimeoutSeconds: 60,
    place: `ssh://${ssh.host}${port === 22 ? '' : `:${port}`}`,
    codes: 'DB_SSH',
  };
}
