import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { endServer, type FileServer, type FileServerSettings, greets, makeFiles } from './file-server.ts';
import { findProgram, launch, ServerFolder } from './server.ts';

const user = 'sluice';
const password = 'pure-test-password';

const folders = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin'];
const program = () => findProgram('pure-ftpd', folders);
const accounts = () => findProgram('pure-pw', folders);

/** Only root can start this server, because it switches to the user who logs in. */
export function hasPureFtpd(): boolean {
  return program() !== undefined && accounts() !== undefined;
}

/**
 * Starts a private Pure-FTPd with its own user. It supports MLSD and rejects wildcards. With TLS, it also requires TLS
 * for data connections, but doesn't require that they resume a session.
 */
export async function startPureFtpd(settings: FileServerSettings = {}): Promise<FileServer> {
  const [server, pw] = [program(), accounts()];
  if (server === undefined || pw === undefined) throw new Error('Pure-FTPd (pure-ftpd) is not installed');
  const folder = await ServerFolder.make('pureftpd');
  const files = await makeFiles(folder);
  const users = await addUser(pw, { folder, files });
  const secure = await tlsFlags(folder, settings);
  const { port, server: running } = await launch({
    start: async (port) => {
      const own = ['-S', `127.0.0.1,${port}`, '-g', join(folder.path, 'pid'), '-l', `puredb:${users}`, ...common];
      return folder.start(server, [...own, ...secure, ...(settings.lines ?? [])], { as: 'us' });
    },
    answers: (port) => greets(port),
  });
  const stop = () => endServer(running, folder);
  return { host: '127.0.0.1', port, user, password, files, folder: folder.path, stop };
}

/** Only IPv4, no guests, no name lookups, users with any ID, and as many connections per client as the tests open. */
const common = ['-4', '-E', '-H', '-u', '1', '-c', '50', '-C', '50'];

/** Checking its own password hash takes seconds. */
async function addUser(pw: string, { folder, files }: { folder: ServerFolder; files: string }): Promise<string> {
  const { uid = process.getuid!(), gid = process.getgid!() } = folder.identity;
  const hash = execFileSync('openssl', ['passwd', '-6', password], { encoding: 'utf8' }).trim();
  const text = await folder.write('users', `${user}:${hash}:${uid}:${gid}::${files}${':'.repeat(12)}\n`);
  const users = join(folder.path, 'users.pdb');
  execFileSync(pw, ['mkdb', users, '-f', text]);
  return users;
}

async function tlsFlags(folder: ServerFolder, { tls }: FileServerSettings): Promise<string[]> {
  if (tls === undefined) return [];
  return ['-Y', '3', '-2', await folder.write('server.pem', `${tls.key}\n${tls.cert}`)];
}
