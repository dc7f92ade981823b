import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import ssh2, { type AuthContext, type AuthenticationType, type Connection } from 'ssh2';
import { expect, it, onTestFinished } from 'vitest';
import ftp from '../../connectors/ftp/index.ts';
import { newSshKey } from '../servers/ssh-key.ts';
import { ftpContext, ownFolder } from './ftp-harness.ts';
import { fingerprintOf } from './ftp-logins.ts';

const folder = ownFolder();
const isFolder = { mode: 0o040755, size: 4, uid: 0, gid: 0, atime: 1_770_000_000, mtime: 1_770_000_000 };

/** The steps of a login, in order. For each step, one of its methods is sufficient. */
type Wanted = readonly (readonly AuthenticationType[])[];

interface Attempt {
  readonly wanted: Wanted;
  /** The user's credentials; `key` is the right one. */
  readonly password?: string;
  readonly withKey?: boolean;
  /** Prompts of keyboard-interactive, in order. */
  readonly prompts?: readonly string[];
}

/** Tries a login. Returns the methods that the server saw, and the result. */
async function login({ wanted, password, withKey, prompts = ['Password: '] }: Attempt): Promise<{
  seen: string[];
  result: unknown;
}> {
  const [host, user] = [newSshKey(), newSshKey()];
  const seen: string[] = [];
  const open = new Set<Connection>();
  const server = new ssh2.Server({ hostKeys: [host.private] }, (connection) => {
    open.add(connection);
    connection.on('error', () => undefined);
    let step = 0;
    connection.on('authentication', (context) => {
      if (context.method !== 'publickey' || context.signature !== undefined) seen.push(context.method);
      answer(context, () => {
        step += 1;
        if (step === wanted.length) context.accept();
        else context.reject([...wanted[step]!], true);
      });
    });
    connection.on('session', (accept) =>
      accept().on('sftp', (begin) => {
        const sftp = begin();
        sftp.on('REALPATH', (id) => sftp.name(id, [{ filename: '/', longname: '/', attrs: isFolder }]));
        sftp.on('STAT', (id) => sftp.attrs(id, isFolder));
        sftp.on('OPENDIR', (id) => sftp.handle(id, Buffer.of(0)));
        sftp.on('READDIR', (id) => sftp.status(id, ssh2.utils.sftp.STATUS_CODE.EOF));
        sftp.on('CLOSE', (id) => sftp.status(id, ssh2.utils.sftp.STATUS_CODE.OK));
      }),
    );
    function answer(context: AuthContext, accepted: () => void): void {
      const offered = wanted[step]!;
      const refused = () => context.reject([...offered]);
      if (!offered.includes(context.method)) refused();
      else if (context.method === 'publickey' && context.signature === undefined) context.accept();
      else if (context.method === 'publickey' || (context.method === 'password' && context.password === 'right'))
        accepted();
      else if (context.method === 'keyboard-interactive') {
        const ask = ([prompt, ...rest]: readonly string[]): void =>
          context.prompt([{ prompt: prompt!, echo: false }], ([given]) => {
            seen.push(`${prompt} ${given}`);
            if (rest.length > 0) ask(rest);
            else if (given === 'right') accepted();
            else refused();
          });
        ask(prompts);
      } else refused();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const connection of open) connection.end();
  });
  const key = join(folder(), 'key');
  await writeFile(key, user.private, { mode: 0o600 });
  const source = {
    ...{ protocol: 'sftp', host: '127.0.0.1', port: (server.address() as AddressInfo).port, user: 'u' },
    host_key: fingerprintOf(host.public),
    ...(password === undefined ? {} : { password }),
    ...(withKey === true ? { private_key_file: key } : {}),
  };
  const result = await ftp
    .check(ftpContext({ source, query: { path: '*' } }, folder()))
    .catch((error: unknown) => error);
  return { seen, result };
}

const found = expect.any(String);

it('a server that requires a key and then a password gets both', async () => {
  const both = { password: 'right', withKey: true };
  expect(await login({ wanted: [['publickey'], ['password']], ...both })).toEqual({
    seen: ['none', 'publickey', 'password'],
    result: found,
  });
  expect(await login({ wanted: [['publickey'], ['keyboard-interactive']], ...both })).toEqual({
    seen: ['none', 'publickey', 'keyboard-interactive', 'Password:  right'],
    result: found,
  });
  expect(await login({ wanted: [['password'], ['publickey']], ...both })).toEqual({
    seen: ['none', 'password', 'publickey'],
    result: found,
  });
});

it('only login methods that the server offers are tried, with the key first', async () => {
  const both = { password: 'right', withKey: true };
  expect(await login({ wanted: [['publickey', 'password']], ...both })).toEqual({
    seen: ['none', 'publickey'],
    result: found,
  });
  expect(await login({ wanted: [['keyboard-interactive']], ...both })).toEqual({
    seen: ['none', 'keyboard-interactive', 'Password:  right'],
    result: found,
  });
  expect(await login({ wanted: [['password']], withKey: true })).toEqual({
    seen: ['none'],
    result: expect.objectContaining({ code: 'FTP_LOGIN_REFUSED', family: 'login' }),
  });
});

it('a wrong password is sent only once', async () => {
  expect(await login({ wanted: [['password', 'keyboard-interactive']], password: 'wrong' })).toEqual({
    seen: ['none', 'password'],
    result: expect.objectContaining({ code: 'FTP_LOGIN_REFUSED', family: 'login' }),
  });
});

it('the password is sent only in response to a prompt that requests it', async () => {
  const keyboard = { wanted: [['keyboard-interactive']] as const, password: 'right' };
  expect(await login({ ...keyboard, prompts: ['Password: ', 'Verification code: '] })).toEqual({
    seen: ['none', 'keyboard-interactive', 'Password:  right'],
    result: expect.objectContaining({ code: 'FTP_LOGIN_PROMPT', seen: 'Verification code:', isLoginRefused: false }),
  });
  expect(await login({ ...keyboard, password: 'wrong', prompts: ['Password: ', 'Password: '] })).toEqual({
    seen: ['none', 'keyboard-interactive', 'Password:  wrong'],
    result: expect.objectContaining({ code: 'FTP_LOGIN_REFUSED', isLoginRefused: true }),
  });
});

it("a refused key or password counts as a refused login, but a server that accepts neither method doesn't", async () => {
  const results = [
    await login({ wanted: [['password']], password: 'wrong' }),
    await login({ wanted: [['password']], withKey: true }),
  ];
  expect(results.map(({ result }) => (result as { isLoginRefused: boolean }).isLoginRefused)).toEqual([true, false]);
});
