import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endServer, type FileServer, type FileServerSettings, greets, makeFiles } from './file-server.ts';
import { findProgram, launch, ServerFolder, serverUser } from './server.ts';

const program = () => findProgram('sshd', ['/usr/sbin']);

export function hasSshd(): boolean {
  return program() !== undefined && findProgram('ssh-keygen') !== undefined;
}

export interface SshServer extends FileServer {
  /** Private keys that may log in: one unencrypted, one encrypted with `password`. */
  readonly key: string;
  readonly lockedKey: string;
  /** The host's public key, as it appears after the host's name in a known_hosts file. */
  readonly hostKey: string;
}

/** Starts a private sshd that only serves files. The user that it runs as can log in with a key. */
export async function startSshd(settings: FileServerSettings = {}): Promise<SshServer> {
  const sshd = program();
  if (sshd === undefined) throw new Error('sshd (openssh-server) is not installed');
  const folder = await ServerFolder.make('sshd');
  const files = await makeFiles(folder);
  const password = 'key-test-passphrase';
  await folder.run('ssh-keygen', keygen(join(folder.path, 'host'), ''));
  const [key, lockedKey] = [join(folder.path, 'key'), join(folder.path, 'locked')];
  await folder.run('ssh-keygen', keygen(key, ''));
  await folder.run('ssh-keygen', keygen(lockedKey, password));
  const publics = await Promise.all([key, lockedKey].map((name) => readFile(`${name}.pub`, 'utf8')));
  await folder.write('authorized', publics.join(''));
  const { port, server } = await launch({
    start: async (port) => {
      const lines = [...common(folder.path, files), `Port ${port}`, ...(settings.lines ?? []), ''];
      return folder.start(sshd, ['-D', '-e', '-f', await folder.write('sshd.conf', lines.join('\n'))]);
    },
    answers: (port) => greets(port),
  });
  const [type, text] = (await readFile(join(folder.path, 'host.pub'), 'utf8')).split(' ');
  const who = { user: serverUser(), password, key, lockedKey, hostKey: `${type} ${text}` };
  return {
    host: '127.0.0.1',
    port,
    ...who,
    files,
    folder: folder.path,
    stop: () => endServer(server, folder),
  };
}

function keygen(path: string, passphrase: string): string[] {
  return ['-q', '-t', 'ed25519', '-N', passphrase, '-C', 'test', '-f', path];
}

function common(folder: string, files: string): string[] {
  return [
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `PidFile ${join(folder, 'pid')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'StrictModes no',
    'MaxStartups 50',
    'Subsystem sftp internal-sftp',
    `ForceCommand internal-sftp -d ${files}`,
  ];
}
