import type { SshLogin } from './login.ts';
import type { Tunnel, TunnelOptions } from './tunnel.ts';

/**
 * A connection to an SSH server, logged in. It is a `Client` of the package ssh2, whose types Sluice does not install: a
 * connector that uses more of it installs them and asserts that type.
 */
export interface SshConnection {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  /** Ends the connection at once. */
  destroy(): unknown;
}

/** Logs in on an SSH server. The package behind it is loaded here, for sources that want it, and not before. */
export async function openSsh(login: SshLogin, signal: AbortSignal): Promise<SshConnection> {
  const { connectSsh } = await import('./connect.ts');
  return connectSsh(login, signal);
}

/** Opens a way through an SSH server to a place behind it. */
export async function openTunnel(given: TunnelOptions): Promise<Tunnel> {
  const { openTunnelBySsh } = await import('./tunnel.ts');
  return openTunnelBySsh(given);
}
