import { chmod, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { remoteFiles } from '../../connectors/ftp/finish-files.ts';
import ftp from '../../connectors/ftp/index.ts';
import { ReconnectingSession } from '../../connectors/ftp/reconnecting-session.ts';
import { describeWithFileServer } from '../servers/describe-file-servers.ts';
import type { FileServer } from '../servers/file-server.ts';
import { clearFiles, ftpContext, ownFolder, putFile, readFtp } from './ftp-harness.ts';
import { keyLogin, type Login, plainLogin } from './ftp-logins.ts';

const writable = () => ({ lines: ['write_enable=YES', 'anon_other_write_enable=YES', 'anon_mkdir_write_enable=YES'] });

describe('the ftp connector after a delivery', () => {
  describeWithFileServer({ server: 'ProFTPD' }, 'over FTP', (server) => finishing(server, plainLogin));
  describeWithFileServer({ server: 'vsftpd', settings: writable }, 'over FTP without MLSD', (server) =>
    finishing(server, plainLogin),
  );
  describeWithFileServer({ server: 'Pure-FTPd' }, 'over FTP with another server', (server) =>
    finishing(server, plainLogin),
  );
  describeWithFileServer({ server: 'sshd' }, 'over SFTP', (server) => finishing(server, keyLogin));
});

function finishing(server: () => FileServer, login: Login): void {
  const folder = ownFolder();
  beforeEach(async () => {
    await clearFiles(server());
    // The server runs as another user.
    await mkdir(join(server().files, 'in'));
    await chmod(join(server().files, 'in'), 0o777);
  });
  const names = async (inside = '.') => (await readdir(join(server().files, 'in', inside))).sort();
  const put = (name: string, content: string) => putFile(server(), `in/${name}`, content);

  /** Reads the files, and then does what the query wants done after their delivery. */
  async function finish(query: Record<string, unknown>, between?: () => Promise<unknown>) {
    const source = await login(server(), folder());
    const asked = { path: 'in/*.csv', files: 'changed', ...query };
    const { watermark = '' } = await readFtp({ source, query: asked });
    await between?.();
    const { query: values, ...context } = ftpContext({ source, query: asked }, folder());
    const due = { query: values, watermark, isDelivered: true };
    expect(ftp.isActionDue!(due)).toBe(true);
    return await ftp.afterDelivery!({ ...context, ...due });
  }

  it('moves files to a folder that it creates', async () => {
    await put('a b.csv', 'x\n1\n');
    await put('c.csv', 'x\n2\n');
    const result = await finish({ after_delivery: 'move', move_to: 'old/read/{name}' });
    expect(result).toMatchObject({ actions: 2, problem: undefined });
    expect(await names()).toEqual(['old']);
    expect(await names('old/read')).toEqual(['a b.csv', 'c.csv']);
  });

  it('deletes files, and leaves a file alone that is gone or has changed', async () => {
    await put('a.csv', 'x\n1\n');
    await put('new.csv', 'x\n1\n');
    const change = () => put('new.csv', 'x\n2\n3\n');
    expect(await finish({ after_delivery: 'delete' }, change)).toMatchObject({ problem: undefined });
    expect(await names()).toEqual(['new.csv']);
    const gone = () => rm(join(server().files, 'in', 'new.csv'));
    expect(await finish({ after_delivery: 'delete' }, gone)).toMatchObject({ problem: undefined });
  });

  it('removes the marker with its file, so that the next upload needs a new marker', async () => {
    await put('a.csv', 'x\n1\n');
    await put('a.csv.done', '');
    expect(await finish({ after_delivery: 'delete', marker: '.done' })).toMatchObject({ actions: 1 });
    expect(await names()).toEqual([]);
  });

  it('finds no file at a path without a pattern after the file was moved', async () => {
    await put('a.csv', 'x\n1\n');
    const query = { path: 'in/a.csv', files: 'changed', after_delivery: 'move', move_to: 'old/{name}' };
    const { watermark } = await finish(query);
    const source = await login(server(), folder());
    expect(await readFtp({ source, query, watermark })).toMatchObject({ unchanged: true });
  });

  it('puts a file back that has replaced another one in the meantime', async () => {
    const source = await login(server(), folder());
    const path = await putFile(server(), 'in/a.csv', 'x\n2\n3\n');
    const { home, ...rest } = await finisherOf(source);
    const file = { path: posix.join(home, 'in/a.csv'), modified: 0, size: 4, readAt: 0 };
    try {
      expect(await rest.finisher.remove(file)).toBe(false);
      expect(await rest.finisher.move(file, posix.join(home, 'in/old/a.csv'))).toBe(false);
      expect(await readFile(path, 'utf8')).toBe('x\n2\n3\n');
      await rename(path, join(server().files, 'in/.sluice-a.csv'));
      expect(await rest.finisher.resume(file, undefined)).toBe(false);
      expect(await readFile(path, 'utf8')).toBe('x\n2\n3\n');
      await rename(path, join(server().files, 'in/.sluice-a.csv'));
      expect(await rest.finisher.resume({ ...file, size: 6 }, undefined)).toBe(true);
      expect(await names()).toEqual(['old']);
    } finally {
      await rest.finisher.close();
    }
  });

  it('never replaces a file that it has left aside unread', async () => {
    await put('a.csv', 'x\n1\n');
    const unread = await put('.sluice-a.csv', 'x\n2\n');
    expect(await finish({ after_delivery: 'delete' })).toMatchObject({
      actions: 0,
      problem: { code: 'FILES_TARGET_EXISTS' },
    });
    expect(await readFile(unread, 'utf8')).toBe('x\n2\n');
    expect(await names()).toEqual(['.sluice-a.csv', 'a.csv']);
  });

  /** The file operations that the connector uses. */
  async function finisherOf(source: Record<string, unknown>) {
    const { source: given } = ftpContext({ source, query: { path: 'in/*.csv' } }, folder());
    const connect = async (signal: AbortSignal) =>
      given.protocol === 'sftp'
        ? (await import('../../connectors/ftp/sftp-session.ts')).openSftp(given, folder(), signal)
        : (await import('../../connectors/ftp/ftp-session.ts')).openFtp(given, folder(), signal);
    const line = await ReconnectingSession.open({ connect, signal: new AbortController().signal });
    const finisher = await remoteFiles(line, { folder: given.folder, path: 'in/*.csv' });
    return { finisher, home: finisher.folder };
  }

  it('never replaces a file', async () => {
    await put('a.csv', 'x\n1\n');
    const file = await put('old/a.csv', 'older');
    const result = await finish({ after_delivery: 'move', move_to: 'old/{name}' });
    expect(result).toMatchObject({ actions: 0, problem: { code: 'FILES_TARGET_EXISTS', family: 'job' } });
    expect(await readFile(file, 'utf8')).toBe('older');
    expect(await names()).toEqual(['a.csv', 'old']);
  });

  it('reports a refused move with the reply of the server', async () => {
    await put('a.csv', 'x\n1\n');
    await put('old', 'a file in place of the folder');
    const { problem } = await finish({ after_delivery: 'move', move_to: 'old/{name}' });
    expect(problem).toMatchObject({ code: 'FILES_NOT_MOVED', family: 'job' });
    expect(problem!.message).toMatch(/^cannot move \/.*a\.csv to \/.*old\/a\.csv$/);
    expect(problem!.seen).toBeTruthy();
  });
}
