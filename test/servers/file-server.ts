import { once } from 'node:events';
import { chmod, chown, mkdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { ServerFolder, Supervised } from './server.ts';

/** A private file server that runs until `stop()`, or until the process that started it ends in any way. */
export interface FileServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** The folder that a client sees after login, where tests put their files. */
  readonly files: string;
  /** The server's private folder for its other files. Deleted with the server. */
  readonly folder: string;
  stop(): Promise<void>;
}

export interface FileServerSettings {
  /** PEM texts. If set, the server requires TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** TLS from the first byte instead of after `AUTH TLS`. */
  readonly implicit?: boolean;
  /** SFTP instead of FTP, with a password and with `tls.key` as the host key; only with ProFTPD. */
  readonly ssh?: boolean;
  /** Lines in the server's own syntax. */
  readonly lines?: readonly string[];
}

/** The folder that clients see. */
export async function makeFiles(folder: ServerFolder): Promise<string> {
  const files = join(folder.path, 'files');
  await mkdir(files);
  await chmod(files, 0o755);
  if (folder.identity.uid !== undefined) await chown(files, folder.identity.uid, folder.identity.gid!);
  return files;
}

/** Stops the server and deletes its folder, including what tests, possibly as another user, have put there. */
export async function endServer(server: Supervised, folder: ServerFolder): Promise<void> {
  await server.stop();
  await rm(folder.path, { recursive: true, force: true });
}

/** Resolves when something listens on the port and, unless TLS comes first, has sent something. */
export async function greets(port: number, { silent = false } = {}): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(2000, () => socket.destroy(new Error('no greeting')));
  try {
    await once(socket, silent ? 'connect' : 'data');
  } finally {
    socket.destroy();
  }
}
