import { mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import ftp from '../../connectors/ftp/index.ts';
import { clearFiles, ftpContext, ownFolder, putFile, readFtp } from '../connectors/ftp-harness.ts';
import { fingerprintOf } from '../connectors/ftp-logins.ts';
import { describeWithFileServer } from '../servers/describe-file-servers.ts';
import type { PythonFileServer } from '../servers/python-files.ts';

function sourceOf({ host, port, user, password, hostKey }: PythonFileServer): Record<string, unknown> {
  const login = { host, port, user, password };
  return hostKey === undefined
    ? { ...login, protocol: 'ftp' }
    : { ...login, protocol: 'sftp', host_key: fingerprintOf(hostKey) };
}

/** Names that a shell, a listing or a URL could misinterpret. */
const oddNames = [
  ' lead',
  'in side',
  'é-nfc',
  'e\u0301-nfd',
  '日本',
  '😀',
  "it's",
  '"quoted"',
  'a*b',
  'a?b',
  '[ab]',
  '{a,b}',
  'a -> b',
  'a;b',
  'a=b',
  '#1',
  '%20',
  '~',
  'total 5',
].map((name) => `${name}.csv`);

function reading(
  server: () => PythonFileServer,
  { newest = true, odd = true, sizes = true }: { newest?: boolean; odd?: boolean; sizes?: boolean } = {},
): void {
  beforeEach(async () => await clearFiles(server()));
  const put = (name: string, content: string, modified?: number) => putFile(server(), name, content, modified);
  const read = (query: Record<string, unknown>, watermark?: string) =>
    readFtp({ source: sourceOf(server()), query, watermark });

  it('returns a single file, or all files that a glob matches across folders, unchanged', async () => {
    const big = `x,y\n${Array.from({ length: 200_000 }, (_, i) => `${i},${i}\n`).join('')}`;
    await put('sub/deep/big.csv', big);
    await put('sub/small.csv', 'x,y\nend,end\n');
    expect((await read({ path: 'sub/deep/big.csv' })).rows.length).toBe(200_000);
    const { rows } = await read({ path: 'sub/**/*.csv' });
    expect([rows.length, rows[199_999], rows[200_000]]).toEqual([200_001, ['199999', '199999'], ['end', 'end']]);
  });

  it('reports a missing file or folder', async () => {
    for (const path of ['none.csv', 'none/a.csv', 'none/*.csv', '*.csv']) {
      await expect(read({ path }), path).rejects.toMatchObject({ code: 'FTP_NOT_FOUND', family: 'job' });
    }
  });

  if (odd)
    it('returns all files with unusual names', async () => {
      for (const [i, name] of oddNames.entries()) await put(`odd/${name}`, `x\n${i}\n`);
      const { rows } = await read({ path: 'odd/*.csv', path_column: 'file' });
      expect(rows.map(([name]) => name).sort()).toEqual(oddNames.map((name) => `odd/${name}`).sort());
    });

  if (!odd)
    it("reports a folder with file names that it can't return", async () => {
      for (const [i, name] of oddNames.entries()) await put(`odd/${name}`, `x\n${i}\n`);
      await expect(read({ path: 'odd/*.csv' })).rejects.toMatchObject({
        family: 'job',
        message: expect.stringContaining('/odd'),
      });
    });

  if (newest)
    it('returns only the newest file, or only the files that no run has read, as configured', async () => {
      await put('a.csv', 'x\n1\n', 1_760_000_000);
      await put('b.csv', 'x\n2\n', 1_770_000_000);
      expect((await read({ path: '*.csv', files: 'newest' })).rows).toEqual([['2']]);
      const first = await read({ path: '*.csv', files: 'changed' });
      expect(first.rows).toEqual([['1'], ['2']]);
      await put('c.csv', 'x\n3\n', 1_750_000_000);
      const second = await read({ path: '*.csv', files: 'changed' }, first.watermark);
      expect(second.rows).toEqual([['3']]);
      expect(await read({ path: '*.csv', files: 'changed' }, second.watermark)).toMatchObject({
        rows: [],
        unchanged: true,
      });
      await rename(server().files, `${server().files}-gone`);
      try {
        await expect(read({ path: '/a/*.csv', files: 'changed' }, second.watermark)).rejects.toMatchObject({
          family: 'job',
        });
      } finally {
        await rename(`${server().files}-gone`, server().files);
      }
    });

  if (!newest)
    it('has no modification times, which is reported if a query needs them', async () => {
      await put('a.csv', 'x\n1\n');
      await put('b.csv', 'x\n2\n');
      expect((await read({ path: '*.csv' })).rows).toEqual([['1'], ['2']]);
      for (const files of ['newest', 'changed']) {
        await expect(read({ path: '*.csv', files })).rejects.toMatchObject({ code: 'FTP_NO_TIMES', family: 'config' });
      }
    });

  if (odd && sizes)
    it("returns a link's target, and skips dangling and circular links", async () => {
      await put('a.csv', 'x\n1\n');
      await symlink('a.csv', join(server().files, 'link.csv'));
      await symlink('none.csv', join(server().files, 'lost.csv'));
      await symlink('round.csv', join(server().files, 'round.csv'));
      await mkdir(join(server().files, 'folder'));
      await symlink('folder', join(server().files, 'folder.csv'));
      expect((await read({ path: '*.csv', path_column: 'file' })).rows).toEqual([
        ['a.csv', '1'],
        ['link.csv', '1'],
      ]);
    });
}

describeWithFileServer({ server: 'pyftpdlib' }, 'pyftpdlib', reading);
describeWithFileServer(
  { server: 'pyftpdlib', settings: () => ({ lines: ['MLSD', 'MLST'] }) },
  'pyftpdlib without MLSD',
  reading,
);
describeWithFileServer(
  { server: 'pyftpdlib', settings: () => ({ lines: ['MLSD', 'MLST', 'MDTM'] }) },
  'pyftpdlib without MLSD and MDTM',
  (server) => reading(server, { newest: false }),
);
describeWithFileServer(
  { server: 'pyftpdlib', settings: () => ({ lines: ['MLSD', 'MLST', 'EPSV', 'FEAT', 'SIZE'] }) },
  'pyftpdlib without MLSD, EPSV, FEAT and SIZE',
  (server) => {
    reading(server, { sizes: false });

    it("doesn't report the size of a link's target, which causes an error", async () => {
      await putFile(server(), 'a.csv', 'x\n1\n');
      await symlink('a.csv', join(server().files, 'link.csv'));
      const reading = readFtp({ source: sourceOf(server()), query: { path: '*.csv' } });
      await expect(reading).rejects.toMatchObject({ code: 'FTP_NO_SIZE', family: 'job' });
    });
  },
);
describeWithFileServer({ server: 'Twisted' }, 'Twisted FTP', (server) => reading(server, { odd: false }));
describeWithFileServer({ server: 'asyncssh' }, 'asyncssh SFTP', reading);
describeWithFileServer(
  { server: 'asyncssh', settings: () => ({ lines: ['permissions'] }) },
  'asyncssh SFTP without permissions',
  (server) => reading(server, { sizes: false }),
);
describeWithFileServer(
  { server: 'asyncssh', settings: () => ({ lines: ['times'] }) },
  'asyncssh SFTP without times',
  (server) => reading(server, { newest: false }),
);
describeWithFileServer(
  { server: 'asyncssh', settings: () => ({ lines: ['sizes'] }) },
  'asyncssh SFTP without sizes',
  reading,
);

describeWithFileServer(
  { server: 'asyncssh', settings: () => ({ lines: ['silent'] }) },
  'asyncssh SFTP that goes silent',
  (server) => {
    const folder = ownFolder();

    it('times out, or stops immediately if the run is stopped', async () => {
      const source = sourceOf(server());
      const quick = ftp.check(ftpContext({ source: { ...source, connect_timeout_seconds: 3 }, query: {} }, folder()));
      await expect(quick).rejects.toMatchObject({ code: 'FTP_CONNECT_TIMEOUT', family: 'try_later' });
      const stop = new AbortController();
      const long = { ...source, connect_timeout_seconds: 200 };
      const reading = readFtp({ source: long, query: { path: 'a.csv' }, signal: stop.signal });
      setTimeout(() => stop.abort(new Error('enough')), 3000);
      await expect(reading).rejects.toThrow('enough');
    });
  },
);
