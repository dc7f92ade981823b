import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Certificates, makeCertificates } from '../servers/certificates.ts';
import type { FileServer } from '../servers/file-server.ts';
import type { SshServer } from '../servers/sshd.ts';

let made: Promise<Certificates> | undefined;

/** The certificate that the servers of this process present. */
export function certificates(): Promise<Certificates> {
  made ??= makeCertificates(['IP:127.0.0.1']);
  return made;
}

/** The options of a source that logs in to a server. Files that the options name are written to the folder. */
export type Login = (server: FileServer, folder: string) => Promise<Record<string, unknown>>;

export const plainLogin: Login = async ({ host, port, user, password }) => ({
  protocol: 'ftp',
  host,
  port,
  user,
  password,
});

export const tlsLogin =
  (protocol: 'ftps' | 'ftps_implicit'): Login =>
  async (server, folder) => {
    await writeFile(join(folder, 'ca.pem'), (await certificates()).ca);
    return {
      ...(await plainLogin(server, folder)),
      protocol,
      tls: { mode: 'verify', ca_file: join(folder, 'ca.pem') },
    };
  };

export const keyLogin: Login = async (server, folder) => {
  const { host, port, user, key, hostKey } = server as SshServer;
  const path = join(folder, 'known_hosts');
  await writeFile(path, `[${host}]:${port} ${hostKey}\n`);
  return { protocol: 'sftp', host, port, user, private_key_file: key, known_hosts_file: path };
};

/** A host key's fingerprint, as OpenSSH computes it. */
export function fingerprintOf(hostKey: string): string {
  return execFileSync('ssh-keygen', ['-l', '-f', '-'], { input: hostKey, encoding: 'utf8' }).split(' ')[1]!;
}
