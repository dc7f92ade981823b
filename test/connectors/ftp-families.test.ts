import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import ssh2, { type Connection, type ServerConfig } from 'ssh2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withDefaults } from '#sdk';
import ftp from '../../connectors/ftp/index.ts';
import { makeCertificates } from '../servers/certificates.ts';
import { newSshKey } from '../servers/ssh-key.ts';
import { problemOf } from './db-reader.ts';
import { ftpContext, ownFolder, readFtp } from './ftp-harness.ts';
import { fingerprintOf } from './ftp-logins.ts';
import { type FtpScript, listLine, openFtpScript } from './ftp-script.ts';

const folder = ownFolder();
const files = () => new Map([['/in/a.csv', 'x\na\n']]);

async function serve(script: Partial<FtpScript>) {
  const server = await openFtpScript({ files: files(), ...script });
  onTestFinished(() => server.close());
  return server;
}

async function read(script: Partial<FtpScript>, { source = {}, ...query }: Record<string, unknown> = {}) {
  const server = await serve(script);
  const all = { ...server.source, ...(source as object) };
  return await readFtp({ source: all, query: { path: 'in/*.csv', settle_seconds: 0, ...query } });
}

/** Responds to one command with this reply instead of the usual one. */
const says = (to: string, answer: string): Partial<FtpScript> => ({
  reply: (verb) => (verb === to ? answer : undefined),
});

describe('an FTP server that refuses something', () => {
  it.each<[string, Partial<FtpScript>, string, string]>([
    ['has no capacity (421)', says('USER', '421 Too many connections'), 'FTP_BUSY', 'try_later'],
    ['has no capacity (530)', says('PASS', '530 Maximum number of clients reached'), 'FTP_BUSY', 'try_later'],
    ['has too many users (530)', says('PASS', '530 Sorry, too many users'), 'FTP_BUSY', 'try_later'],
    ['refuses the password', says('PASS', '530 Login incorrect'), 'FTP_LOGIN_REFUSED', 'login'],
    ['requires an account', says('PASS', '332 Account please'), 'FTP_ACCOUNT', 'login'],
    [
      'requires TLS (530)',
      says('USER', '530 Non-anonymous sessions must use encryption.'),
      'FTP_TLS_REQUIRED',
      'config',
    ],
    ['requires TLS (534)', says('USER', '534 Policy requires SSL.'), 'FTP_TLS_REQUIRED', 'config'],
    [
      'requires TLS (421)',
      says('USER', '421 Sorry, cleartext sessions are not accepted'),
      'FTP_TLS_REQUIRED',
      'config',
    ],
    ['requires TLS (503)', says('USER', '503 Use AUTH first.'), 'FTP_TLS_REQUIRED', 'config'],
    ['is temporarily busy', says('RETR', '450 File is in use'), 'FTP_BUSY', 'try_later'],
    ["doesn't implement a command", says('RETR', '504 No'), 'FTP_REFUSED', 'job'],
    ['denies permission', says('RETR', '550 Permission denied'), 'FTP_DENIED', 'job'],
  ])('because it %s is reported with the cause', async (_, script, code, family) => {
    const problem = await problemOf(read(script));
    expect(problem).toMatchObject({ code, family, isLoginRefused: code === 'FTP_LOGIN_REFUSED' });
    expect(problem.next).toBeDefined();
  });

  it('in the middle of a transfer is retried later', async () => {
    const content = `x\n${'a\n'.repeat(200_000)}`;
    const retrieve: FtpScript['retrieve'] = (_path, _rest, { bytes }) => ({
      bytes: bytes.subarray(0, 100_000),
      end: '550 The disk went away',
    });
    const reply = (verb: string) => (verb === 'MDTM' ? '502 no' : undefined);
    const problem = await problemOf(read({ files: new Map([['/in/a.csv', content]]), retrieve, reply }));
    expect(problem).toMatchObject({ family: 'try_later' });
    expect(problem.seen).toContain('The disk went away');
  });
});

describe('an unusual FTP server', () => {
  it('is sent the account that it asks for', async () => {
    const server = await serve({
      reply: (verb) => (verb === 'PASS' ? '332 Account please' : verb === 'ACCT' ? '230 in' : undefined),
    });
    const source = { ...server.source, account: 'sales' };
    const { rows } = await readFtp({ source, query: { path: 'in/*.csv', settle_seconds: 0 } });
    expect(rows).toEqual([['a']]);
    expect(server.commands).toContain('ACCT sales');
  });

  it.each(['257 /', '257 "" is current', '502 not known'])(
    'can report its folder without a path: %s',
    async (answer) => {
      const { rows } = await read(says('PWD', answer), { path: '/in/*.csv' });
      expect(rows).toEqual([['a']]);
    },
  );

  it.each(['450 No files found', '550 No such file found'])(
    'can report an empty folder as an error: %s',
    async (answer) => {
      const first = await read({}, { files: 'changed' });
      const server = await serve({ reply: (verb) => (verb === 'LIST' ? answer : undefined) });
      const query = { path: 'in/*.csv', files: 'changed', settle_seconds: 0 };
      const again = await readFtp({ source: server.source, query, watermark: first.watermark! });
      expect(again).toMatchObject({ rows: [], unchanged: true });
    },
  );

  it('causes a permanent error if it denies access to a folder', async () => {
    const problem = await problemOf(read(says('LIST', '550 No such file or directory')));
    expect(problem).toMatchObject({ code: 'FTP_DENIED', family: 'job' });
  });
});

describe('the TLS options of FTP', () => {
  const faults = (source: object) =>
    ftp.validate?.({ source: withDefaults(ftp.source, { host: 'a', ...source }) })?.map(({ message }) => message);

  it.each([
    [{ protocol: 'ftps' }, []],
    [{ protocol: 'ftps', tls: { mode: 'require', verify: false } }, []],
    [{ protocol: 'ftps', tls: { mode: 'verify', verify: false } }, ['has verify: false, but mode verify']],
    [{ protocol: 'ftps', tls: { mode: 'verify-ca' } }, ['with mode verify-ca requires ca_file']],
    [{ protocol: 'ftps', tls: { mode: 'verify', cert_file: 'a.pem' } }, ['needs both cert_file and key_file']],
    [{ protocol: 'ftp', tls: { mode: 'require', verify: false } }, ['requires protocol ftps']],
  ])('are checked without a connection: %j', (source, messages) => {
    expect(faults(source)).toEqual(messages.map((message) => expect.stringContaining(message)));
  });
});

describe('data connections without TLS', () => {
  it.each<[string, Partial<FtpScript>]>([
    ['the server rejects TLS for data', says('PROT', '536 Not for data')],
    ['the server accepts it and sends plain data', says('PROT', '200 ok')],
  ])('cause a config error if %s', async (_, script) => {
    const list = (_folder: string, names: readonly string[]) => names.map((name) => listLine(name, 4)).join('\r\n');
    const tls = await makeCertificates(['IP:127.0.0.1']);
    const source = { tls: { mode: 'require', verify: false }, idle_timeout_seconds: 5 };
    expect(await problemOf(read({ ...script, list, tls }, { source }))).toMatchObject({
      code: 'FTP_TLS_REFUSED',
      family: 'config',
    });
  });
});

describe('a server with another protocol', () => {
  const greets = async (greeting: string) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.write(greeting);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return {
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      connect_timeout_seconds: greeting === '' ? 0.5 : 60,
    };
  };
  const asked = async (protocol: string, greeting: string) => {
    const source = { ...(await greets(greeting)), protocol, user: 'u', password: 'p', known_hosts_file: 'none' };
    return await problemOf(ftp.check(ftpContext({ source, query: { path: '*' } }, folder())));
  };

  it.each([
    ['ftp', 'SSH-2.0-OpenSSH_9.2\r\n', 'protocol: sftp'],
    ['ftps', 'SSH-2.0-OpenSSH_9.2\r\n', 'protocol: sftp'],
    ['sftp', '220 ProFTPD Server\r\n', 'protocol: ftps'],
  ])('is recognized by its greeting if %s was expected', async (protocol, greeting, next) => {
    expect(await asked(protocol, greeting)).toMatchObject({
      code: 'FTP_PROTOCOL',
      family: 'config',
      seen: greeting.trim(),
      next: expect.stringContaining(next),
    });
  });

  it.each(['ftp', 'sftp'])('is reported as not responding if it sends nothing (%s)', async (protocol) => {
    const problem = await asked(protocol, '');
    expect(problem).toMatchObject({ code: 'FTP_CONNECT_TIMEOUT', family: 'try_later' });
  });
});

describe('an SSH server', () => {
  const [ed25519, rsa, ecdsa] = [
    newSshKey(),
    ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 }),
    ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }),
  ];
  type Serve = (connection: Connection) => void;

  const open: Serve = (connection) => {
    connection.on('authentication', (context) => context.accept());
    connection.on('session', (accept) =>
      accept().on('sftp', (begin) => {
        const sftp = begin();
        const attrs = { mode: 0o040755, size: 4, uid: 0, gid: 0, atime: 1_770_000_000, mtime: 1_770_000_000 };
        sftp.on('REALPATH', (id) => sftp.name(id, [{ filename: '/', longname: '/', attrs }]));
        sftp.on('STAT', (id) => sftp.attrs(id, attrs));
        sftp.on('OPENDIR', (id) => sftp.handle(id, Buffer.of(0)));
        sftp.on('READDIR', (id) => sftp.status(id, ssh2.utils.sftp.STATUS_CODE.EOF));
        sftp.on('CLOSE', (id) => sftp.status(id, ssh2.utils.sftp.STATUS_CODE.OK));
      }),
    );
  };

  async function check(server: { config: ServerConfig; serve?: Serve }, source: Record<string, unknown>) {
    const connections = new Set<Connection>();
    const running = new ssh2.Server(server.config, (connection) => {
      connections.add(connection.on('error', () => undefined));
      (server.serve ?? open)(connection);
    });
    running.listen(0, '127.0.0.1');
    await once(running, 'listening');
    onTestFinished(() => {
      for (const connection of connections) connection.end();
      running.close();
    });
    const { port } = running.address() as AddressInfo;
    const known = (source.known as string[] | undefined)?.map((key) => `[127.0.0.1]:${port} ${key}\n`);
    if (known !== undefined) await writeFile(join(folder(), 'hosts'), known.join(''));
    const { known: _, ...own } = source;
    const all = { protocol: 'sftp', host: '127.0.0.1', port, user: 'u', password: 'right', ...own };
    return await ftp.check(ftpContext({ source: all, query: { path: '*' } }, folder()));
  }

  const both = { config: { hostKeys: [ed25519.private, rsa.private] } };
  const pin = (key: { public: string }) => ({ host_key: fingerprintOf(key.public) });
  const here = { known_hosts_file: 'hosts' };

  it("is trusted if any of its keys is pinned, regardless of the key's type", async () => {
    for (const key of [ed25519, rsa]) expect(await check(both, pin(key))).toEqual(expect.any(String));
    expect(await problemOf(check(both, pin(ecdsa)))).toMatchObject({ code: 'FTP_HOST_KEY_CHANGED', family: 'config' });
  });

  it("is rejected if it no longer has the known key, regardless of the new key's type", async () => {
    const changed = { code: 'FTP_HOST_KEY_CHANGED', family: 'config', seen: expect.stringContaining('ssh-ed25519') };
    const one = { config: { hostKeys: [ed25519.private] } };
    expect(await problemOf(check(one, { ...here, known: [rsa.public] }))).toMatchObject(changed);
    expect(await check(both, { ...here, known: [rsa.public] })).toEqual(expect.any(String));
  });

  it('is trusted even if the file of known hosts also lists a key of an unsupported type for it', async () => {
    const strange = 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIA==';
    expect(await check(both, { ...here, known: [strange, ed25519.public] })).toEqual(expect.any(String));
  });

  it('with only old algorithms causes a config error, but works with `algorithms: legacy`', async () => {
    for (const algorithms of [
      { kex: ['diffie-hellman-group14-sha1'] },
      { kex: ['diffie-hellman-group1-sha1'] },
      { cipher: ['aes128-cbc'] },
    ] as const) {
      const old = { config: { hostKeys: [ed25519.private], algorithms: algorithms as never } };
      expect(await problemOf(check(old, pin(ed25519)))).toMatchObject({
        code: 'FTP_ALGORITHMS',
        family: 'config',
        next: expect.stringContaining('algorithms: legacy'),
      });
      expect(await check(old, { ...pin(ed25519), algorithms: 'legacy' })).toEqual(expect.any(String));
    }
  });

  it('that requires a new password is reported as such, not as unresponsive', async () => {
    const serve: Serve = (connection) =>
      connection.on('authentication', (context) => {
        if (context.method === 'password') context.requestChange('Your password has expired', () => undefined);
        else context.reject(['password']);
      });
    const problem = await problemOf(check({ ...both, serve }, pin(ed25519)));
    expect(problem).toMatchObject({ code: 'FTP_PASSWORD_EXPIRED', family: 'login', isLoginRefused: false });
  });

  it.each<[string, (accept: () => ssh2.ServerChannel, reject: () => void) => void]>([
    ['prints text instead', (accept) => void accept().write('This account is for tunnels only.\r\n')],
    ["doesn't have the subsystem", (_accept, reject) => reject()],
  ])('without SFTP causes a config error: it %s', async (_, answer) => {
    const serve: Serve = (connection) => {
      connection.on('authentication', (context) => context.accept());
      connection.on('session', (begin) => {
        const session = begin();
        session.on(
          'subsystem' as never,
          ((accept: () => ssh2.ServerChannel, reject: () => void) => answer(accept, reject)) as never,
        );
      });
    };
    const problem = await problemOf(check({ ...both, serve }, pin(ed25519)));
    expect(problem).toMatchObject({ code: 'FTP_NO_SFTP', family: 'config' });
  });
});
