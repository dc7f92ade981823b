import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ssh2, { type Connection, type SFTPWrapper } from 'ssh2';
import { afterEach, expect, it } from 'vitest';
import ftp from '../../connectors/ftp/index.ts';
import { newSshKey } from '../servers/ssh-key.ts';
import { ftpContext, ownFolder, readFtp } from './ftp-harness.ts';
import { fingerprintOf } from './ftp-logins.ts';

const folder = ownFolder();
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;
const isFile = { mode: 0o100644, size: 4, uid: 0, gid: 0, atime: 1_770_000_000, mtime: 1_770_000_000 };
const isDirectory = { ...isFile, mode: 0o040755 };

/** The point at which the subsystem goes silent. The SSH server itself keeps answering keepalives, as sshd does. */
const points = ['the subsystem', 'REALPATH', 'STAT', 'OPENDIR', 'READDIR', 'OPEN', 'READ'] as const;
type Point = (typeof points)[number];

interface Silent {
  readonly source: Record<string, unknown>;
  /** Currently open connections. */
  readonly open: ReadonlySet<Connection>;
}

/** An SFTP server with one file, which responds up to one point. */
async function openSilent(silentAt: Point): Promise<Silent> {
  const key = newSshKey();
  const open = new Set<Connection>();
  const server = new ssh2.Server({ hostKeys: [key.private] }, (connection) => {
    open.add(connection);
    connection.on('authentication', (login) => login.accept());
    connection.on('close', () => open.delete(connection)).on('error', () => undefined);
    connection.on('session', (accept) =>
      accept().on('sftp', (begin) => {
        if (silentAt !== 'the subsystem') answer(begin(), silentAt);
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    for (const connection of open) connection.end();
  });
  const login = { protocol: 'sftp', host: '127.0.0.1', user: 'u', password: 'p' };
  const { port } = server.address() as AddressInfo;
  return { source: { ...login, port, host_key: fingerprintOf(key.public) }, open };
}

function answer(sftp: SFTPWrapper, silentAt: Point): void {
  const until = (point: Point, reply: () => void) => () => silentAt === point || reply();
  const handle = Buffer.from('h');
  let listed = false;
  sftp.on('REALPATH', (id) =>
    until('REALPATH', () => sftp.name(id, [{ filename: '/', longname: '/', attrs: isDirectory }]))(),
  );
  sftp.on('STAT', (id, path) => until('STAT', () => sftp.attrs(id, path.endsWith('.csv') ? isFile : isDirectory))());
  sftp.on('OPENDIR', (id) => until('OPENDIR', () => sftp.handle(id, handle))());
  sftp.on('READDIR', (id) =>
    until('READDIR', () => {
      if (listed) sftp.status(id, STATUS_CODE.EOF);
      else sftp.name(id, [{ filename: 'a.csv', longname: '-rw-r--r-- a.csv', attrs: isFile }]);
      listed = true;
    })(),
  );
  sftp.on('OPEN', (id, _path, flags) =>
    until('OPEN', () => (flags === OPEN_MODE.READ ? sftp.handle(id, handle) : sftp.status(id, STATUS_CODE.FAILURE)))(),
  );
  sftp.on('READ', (id) => until('READ', () => sftp.data(id, Buffer.from('x\n1\n')))());
  sftp.on('CLOSE', (id) => sftp.status(id, STATUS_CODE.OK));
}

/** Short if the server is silent; otherwise, long enough for a busy machine. */
const opening = { connect_timeout_seconds: 2 };
const later = { connect_timeout_seconds: 120, idle_timeout_seconds: 1 };

it.each(points)(
  'a server whose SFTP goes silent at %s causes a timeout, and the connection is closed',
  async (point) => {
    const { source, open } = await openSilent(point);
    const isOpening = point === 'the subsystem' || point === 'REALPATH';
    const limits = isOpening ? opening : later;
    const reading = readFtp({ source: { ...source, ...limits }, query: { path: '*.csv' } });
    const code = isOpening ? 'FTP_CONNECT_TIMEOUT' : 'FTP_LOST';
    await expect(reading).rejects.toMatchObject({ code, family: 'try_later' });
    await expect.poll(() => open.size).toBe(0);
  },
);

it.each(points)(
  'a run that is stopped while SFTP is silent at %s ends immediately, and closes the connection',
  async (point) => {
    const { source, open } = await openSilent(point);
    const stop = new AbortController();
    const reading = readFtp({ source, query: { path: '*.csv' }, signal: stop.signal });
    reading.catch(() => undefined);
    await expect.poll(() => open.size).toBe(1);
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await expect.poll(() => open.size).toBe(0);
  },
);

it("a check times out if the server's SFTP doesn't respond", async () => {
  const { source, open } = await openSilent('REALPATH');
  const checking = ftp.check(ftpContext({ source: { ...source, ...opening }, query: {} }, folder()));
  await expect(checking).rejects.toMatchObject({ code: 'FTP_CONNECT_TIMEOUT', family: 'try_later' });
  await expect.poll(() => open.size).toBe(0);
});
