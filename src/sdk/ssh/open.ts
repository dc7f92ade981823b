import type { SshLogin } from './login.ts';
import type { Tunnel, TunnelOptions } from './tunnel.ts';

/**
 * A logged-in connection to an SSH server. It's a `Client` from the ssh2 package, whose types Sluice doesn't install. A
 * connector that needs more of its API must install the types and assert the `Client` type.
 */
export interface SshConnection {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  /** Closes the connection immediately. */
  destroy(): unknown;
}

/** Logs in to an SSH server. Loads the ssh2 package lazily, only for sources that use SSH. */
export async function openSsh(login: SshLogin, signal: AbortSignal): Promise<SshConnection> {
  const { connectSsh } = await import('./connect.ts');
  return connectSsh(login, signal);
}

/** Opens a tunnel through an SSH server to a host behind it. */
export async function openTunnel(given: TunnelOptions): Promise<Tunnel> {
  const { openTunnelBySsh } = await import('./tunnel.ts');
  return openTunnelBySsh(given);
}
