import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { endServer, type FileServer, type FileServerSettings, greets, makeFiles } from './file-server.ts';
import { findProgram, launch, ServerFolder, serverGroup, serverUser } from './server.ts';

const user = 'sluice';
const password = 'pro-test-password';

const program = () => findProgram('proftpd', ['/usr/sbin']);
const modules = '/usr/lib/proftpd';
/** On Debian 12, part of the program; on Debian 13, separate files. */
const loadedLate = ['mod_xfer', 'mod_ls', 'mod_delay'];

export function hasProftpd(): boolean {
  return program() !== undefined && existsSync(join(modules, 'mod_tls.so'));
}

/**
 * Starts a private ProFTPD with its own user. It supports MLSD. With TLS, it requires by default that data connections
 * resume the control connection's session.
 */
export async function startProftpd(settings: FileServerSettings = {}): Promise<FileServer> {
  const proftpd = program();
  if (proftpd === undefined) throw new Error('ProFTPD (proftpd-core, proftpd-mod-crypto) is not installed');
  const folder = await ServerFolder.make('proftpd');
  const files = await makeFiles(folder);
  const { uid = process.getuid!(), gid = process.getgid!() } = folder.identity;
  const hash = execFileSync('openssl', ['passwd', '-6', password], { encoding: 'utf8' }).trim();
  const users = await folder.write('users', `${user}:${hash}:${uid}:${gid}::${files}:/bin/false\n`);
  const secure = await secureLines(folder, settings);
  const { port, server } = await launch({
    start: async (port) => {
      const lines = [...common(folder.path, users), ...secure, `Port ${port}`, ...(settings.lines ?? []), ''];
      return folder.start(proftpd, ['-n', '-q', '-c', await folder.write('proftpd.conf', lines.join('\n'))]);
    },
    answers: (port) => greets(port, { silent: settings.implicit === true }),
  });
  const stop = () => endServer(server, folder);
  return { host: '127.0.0.1', port, user, password, files, folder: folder.path, stop };
}

function common(folder: string, users: string): string[] {
  return [
    `ModulePath ${modules}`,
    ...loadedLate.filter((name) => existsSync(join(modules, `${name}.so`))).map((name) => `LoadModule ${name}.c`),
    'LoadModule mod_tls.c',
    'ServerName test',
    `User ${serverUser()}`,
    `Group ${serverGroup()}`,
    'ServerType standalone',
    'DefaultServer on',
    'DefaultAddress 127.0.0.1',
    'UseIPv6 off',
    'UseReverseDNS off',
    'ScoreboardFile none',
    `PidFile ${join(folder, 'pid')}`,
    'DelayEngine off',
    'WtmpLog off',
    'TransferLog none',
    'AuthOrder mod_auth_file.c',
    `AuthUserFile ${users}`,
    'RequireValidShell off',
    'AllowRetrieveRestart on',
  ];
}

async function secureLines(folder: ServerFolder, { tls, implicit, ssh }: FileServerSettings): Promise<string[]> {
  if (tls === undefined) return [];
  const key = await folder.write('server.key', tls.key);
  if (ssh) return ['LoadModule mod_sftp.c', 'SFTPEngine on', `SFTPHostKey ${key}`, 'SFTPAuthMethods password'];
  return [
    'TLSEngine on',
    'TLSRequired on',
    `TLSECCertificateFile ${await folder.write('server.crt', tls.cert)}`,
    `TLSECCertificateKeyFile ${key}`,
    `TLSLog ${join(folder.path, 'tls.log')}`,
    ...(implicit ? ['TLSOptions UseImplicitSSL'] : []),
  ];
}
