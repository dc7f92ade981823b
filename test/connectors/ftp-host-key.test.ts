import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import ftp from '../../connectors/ftp/index.ts';
import { describeWithFileServer } from '../servers/describe-file-servers.ts';
import { ftpContext, ownFolder } from './ftp-harness.ts';
import { fingerprintOf, keyLogin } from './ftp-logins.ts';

describeWithFileServer({ server: 'sshd' }, 'the host key of an SFTP server', (server) => {
  const folder = ownFolder();
  const check = async (over: Record<string, unknown>) => {
    const source = { ...(await keyLogin(server(), folder())), ...over };
    return await ftp.check(ftpContext({ source, query: {} }, folder()));
  };
  const knownHosts = async (text: string) => {
    await writeFile(join(folder(), 'hosts'), text);
    return { known_hosts_file: 'hosts' };
  };
  const name = () => `[127.0.0.1]:${server().port}`;
  const otherKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8dTbtVd5Kk3dYzjyNDQwOIsXvm3cSMsqrHXkqkJ2mB';

  it("is rejected if it's unknown; the error shows its fingerprint and how to trust it", async () => {
    const print = fingerprintOf(server().hostKey);
    await expect(check({ known_hosts_file: 'nowhere' })).rejects.toMatchObject({
      code: 'FTP_HOST_KEY_UNKNOWN',
      family: 'config',
      message: expect.stringContaining(print),
      seen: `ssh-ed25519 ${print}`,
      next: expect.stringMatching(new RegExp(`host_key: ${RegExp.escape(print)}.*ssh-keyscan -p ${server().port}`)),
    });
  });

  it("is rejected if another key is known or pinned, or if it's revoked", async () => {
    const changed = { code: 'FTP_HOST_KEY_CHANGED', family: 'config' };
    await expect(check(await knownHosts(`${name()} ${otherKey}\n`))).rejects.toMatchObject(changed);
    await expect(check({ host_key: `SHA256:${'A'.repeat(43)}` })).rejects.toMatchObject(changed);
    const revoked = `${name()} ${server().hostKey}\n@revoked * ${server().hostKey}\n`;
    await expect(check(await knownHosts(revoked))).rejects.toMatchObject(changed);
  });

  it('is trusted if its fingerprint is pinned, or if a pattern, list or hash in the known hosts matches the host', async () => {
    const found = expect.stringContaining('connected to');
    expect(await check({ host_key: fingerprintOf(server().hostKey) })).toEqual(found);
    expect(await check(await knownHosts(`# mine\nother,[127.0.*]:* ${server().hostKey} comment\n`))).toEqual(found);
    await knownHosts(`${name()} ${server().hostKey}\n`);
    execFileSync('ssh-keygen', ['-H', '-f', join(folder(), 'hosts')], { stdio: 'ignore' });
    expect(await check({ known_hosts_file: 'hosts' })).toEqual(found);
    const negated = `*,!${name()} ${server().hostKey}\n`;
    await expect(check(await knownHosts(negated))).rejects.toMatchObject({ code: 'FTP_HOST_KEY_UNKNOWN' });
  });

  it('is requested in the type of the known key', async () => {
    const rsa = 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ==';
    const both = `${name()} ${rsa}\n${name()} ${server().hostKey}\n`;
    expect(await check(await knownHosts(both))).toContain('connected to');
  });
});

describeWithFileServer({ server: 'sshd' }, 'a login with a key', (server) => {
  const folder = ownFolder();
  const check = async (over: Record<string, unknown>) => {
    const source = { ...(await keyLogin(server(), folder())), ...over };
    return await ftp.check(ftpContext({ source, query: {} }, folder()));
  };

  it('decrypts the key with its passphrase', async () => {
    const locked = { private_key_file: server().lockedKey };
    expect(await check({ ...locked, passphrase: server().password })).toContain('connected to');
    await expect(check({ ...locked, passphrase: 'wrong' })).rejects.toMatchObject({ code: 'FTP_OPTION_FILE' });
    await expect(check(locked)).rejects.toMatchObject({ code: 'FTP_OPTION_FILE', family: 'config' });
  });

  it('reports an invalid key file or user', async () => {
    await expect(check({ private_key_file: 'none' })).rejects.toMatchObject({ code: 'FTP_OPTION_FILE' });
    await expect(check({ user: 'unknown-user' })).rejects.toMatchObject({ code: 'FTP_LOGIN_REFUSED', family: 'login' });
  });
});
