import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { endServer, type FileServer, type FileServerSettings, greets, makeFiles } from './file-server.ts';
import { findProgram, launch, ServerFolder } from './server.ts';

const program = () => findProgram('vsftpd', ['/usr/sbin', '/usr/local/sbin']);

export function hasVsftpd(): boolean {
  return program() !== undefined;
}

/**
 * Starts a private vsftpd for anonymous guests. It has no MLSD, so times come only from MDTM. With TLS,
 * `require_ssl_reuse` is set.
 */
export async function startVsftpd(settings: FileServerSettings = {}): Promise<FileServer> {
  const vsftpd = program();
  if (vsftpd === undefined) throw new Error('vsftpd is not installed');
  const folder = await ServerFolder.make('vsftpd');
  const files = await makeFiles(folder);
  const empty = join(folder.path, 'empty');
  await mkdir(empty, { mode: 0o555 });
  const tls = settings.tls === undefined ? [] : await tlsLines(folder, settings.tls, settings.implicit === true);
  const { port, server } = await launch({
    start: async (port) => {
      const lines = [...common(files, empty), ...tls, `listen_port=${port}`, ...(settings.lines ?? []), ''];
      return folder.start(vsftpd, [await folder.write('vsftpd.conf', lines.join('\n'))]);
    },
    answers: (port) => greets(port, { silent: settings.implicit === true }),
  });
  const stop = () => endServer(server, folder);
  const guest = { user: 'anonymous', password: 'guest' };
  return { host: '127.0.0.1', port, ...guest, files, folder: folder.path, stop };
}

function common(files: string, empty: string): string[] {
  return [
    'listen=YES',
    'listen_address=127.0.0.1',
    'background=NO',
    'anonymous_enable=YES',
    'no_anon_password=YES',
    'local_enable=NO',
    `anon_root=${files}`,
    'run_as_launching_user=YES',
    'seccomp_sandbox=NO',
    `secure_chroot_dir=${empty}`,
    'xferlog_enable=NO',
    'utf8_filesystem=YES',
  ];
}

async function tlsLines(folder: ServerFolder, { cert, key }: { cert: string; key: string }, isImplicit: boolean) {
  return [
    'ssl_enable=YES',
    'allow_anon_ssl=YES',
    'force_anon_logins_ssl=YES',
    'force_anon_data_ssl=YES',
    'require_ssl_reuse=YES',
    'ssl_ciphers=HIGH',
    `rsa_cert_file=${await folder.write('server.crt', cert)}`,
    `rsa_private_key_file=${await folder.write('server.key', key)}`,
    ...(isImplicit ? ['implicit_ssl=YES'] : []),
  ];
}
