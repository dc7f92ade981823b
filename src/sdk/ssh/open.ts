import type { Client } from 'ssh2';
import type { SshLogin } from './login.ts';
import type { Tunnel, TunnelGiven } from './tunnel.ts';

/** Logs in on an SSH server. The package behind it is loaded here, for sources that want it, and not before. */
export async function openSsh(login: SshLogin, signal: AbortSignal): Promise<Client> {
  const { connectSsh } = await import('./connect.ts');
  return connectSsh(login, signal);
}

/** Opens a way through an SSH server to a place behind it. */
export async function openTunnel(given: TunnelGiven): Promise<Tunnel> {
  const { openTunnelBySsh } = await import('./tunnel.ts');
  return openTunnelBySsh(given);
}
