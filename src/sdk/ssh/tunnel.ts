import { chmod, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Client } from 'ssh2';
import { Problem } from '../../lib/problem.ts';
import { connectSsh } from './connect.ts';
import { makeSocketFolder } from './left-behind.ts';
import type { SshLogin } from './login.ts';
import { make } from './problems.ts';

/** The host that a tunnel connects to, and how long the tunnel stays open. */
export interface TunnelOptions {
  readonly login: SshLogin;
  /** The host that the SSH server connects to. */
  readonly to: { readonly host: string; readonly port: number };
  /** The name of the tunnel's Unix socket. */
  readonly name: string;
  readonly signal: AbortSignal;
}

/** A Unix socket in a folder that only Sluice's user can access. Connections to it are forwarded over SSH. */
export interface Tunnel {
  readonly folder: string;
  readonly path: string;
  /** Why the last connection through the tunnel broke, if the tunnel caused it. */
  fault(): Problem | undefined;
  close(): Promise<void>;
}

/**
 * Logs in and opens the tunnel. Uses a Unix socket rather than a loopback port, because any user on the machine could
 * connect to the port.
 */
export async function openTunnelBySsh({ login, to, name, signal }: TunnelOptions): Promise<Tunnel> {
  const client = await connectSsh(login, signal);
  const sockets = new Set<Socket>();
  let fault: Problem | undefined;
  let folder: string | undefined;
  client.on('close', () => {
    fault ??= lost(login);
    for (const socket of sockets) socket.destroy();
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    carry(client, { socket, to, refuse: (error) => (fault ??= blocked(login, { to, error })) });
  });
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    folder = await makeSocketFolder();
    await chmod(folder, 0o700);
    const path = join(folder, name);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    return { folder, path, fault: () => fault, close };
  } catch (error) {
    await close();
    throw error instanceof Problem ? error : noSocket(login, error);
  }
}

interface Carried {
  readonly socket: Socket;
  readonly to: TunnelOptions['to'];
  readonly refuse: (error: Error) => void;
}

function carry(client: Client, { socket, to, refuse }: Carried): void {
  const fail = (error: Error) => {
    refuse(error);
    socket.destroy();
  };
  try {
    client.forwardOut('127.0.0.1', 0, to.host, to.port, (error, channel) => {
      if (error !== undefined) return fail(error);
      channel.on('error', () => socket.destroy());
      channel.on('close', () => socket.destroy());
      socket.on('close', () => channel.destroy());
      socket.pipe(channel).pipe(socket);
    });
  } catch (error) {
    fail(error as Error);
  }
}

function blocked(login: SshLogin, { to, error }: { to: TunnelOptions['to']; error: Error }): Problem {
  return make(login, 'FORWARD_REFUSED', 'try_later', {
    message: `${login.place} cannot connect to ${to.host}:${to.port}`,
    seen: error.message,
    next: 'check the host and port as seen from the SSH server, and that the server lets this user forward ports (AllowTcpForwarding)',
    cause: error,
  });
}

function lost(login: SshLogin): Problem {
  return make(login, 'LOST', 'try_later', {
    message: `the SSH connection to ${login.place} was lost`,
    next: "wait for the retry; if this persists, check the SSH server's log and any firewalls in between",
  });
}

function noSocket(login: SshLogin, cause: unknown): Problem {
  return make(login, 'NO_SOCKET', 'config', {
    message: 'cannot create the socket for the SSH tunnel',
    seen: String((cause as Error).message),
    next: 'make the folder for temporary files (TMPDIR) writable, and make sure that its path is shorter than 80 characters',
    cause,
  });
}
