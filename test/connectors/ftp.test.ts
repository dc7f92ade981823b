import { posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import ftp from '../../connectors/ftp/index.ts';
import { bookOf, zipOf } from '../sdk/archives.ts';
import { describeWithFileServer } from '../servers/describe-file-servers.ts';
import type { FileServer } from '../servers/file-server.ts';
import { clearFiles, ftpContext, ownFolder, putFile, readFtp } from './ftp-harness.ts';
import { certificates, keyLogin, type Login, plainLogin, tlsLogin } from './ftp-logins.ts';

const tls = async () => ({ tls: await certificates() });

const suites = [
  { title: 'over FTP', suite: { server: 'ProFTPD' }, login: plainLogin },
  { title: 'over FTP without MLSD', suite: { server: 'vsftpd' }, login: plainLogin },
  { title: 'over FTPS', suite: { server: 'ProFTPD', settings: tls }, login: tlsLogin('ftps') },
  { title: 'over FTPS without MLSD', suite: { server: 'vsftpd', settings: tls }, login: tlsLogin('ftps') },
  { title: 'over FTP with another server', suite: { server: 'Pure-FTPd' }, login: plainLogin },
  { title: 'over FTPS with another server', suite: { server: 'Pure-FTPd', settings: tls }, login: tlsLogin('ftps') },
  {
    title: 'over implicit FTPS',
    suite: { server: 'ProFTPD', settings: async () => ({ ...(await tls()), implicit: true }) },
    login: tlsLogin('ftps_implicit'),
  },
  { title: 'over SFTP', suite: { server: 'sshd' }, login: keyLogin },
] as const;

describe('the ftp connector', () => {
  for (const { title, suite, login } of suites)
    describeWithFileServer(suite, title, (server) => reading(server, login));
});

function reading(server: () => FileServer, login: Login): void {
  const folder = ownFolder();
  beforeEach(async () => await clearFiles(server()));
  const put = (name: string, content: string | Buffer, modified?: number) => putFile(server(), name, content, modified);
  const read = async (query: Record<string, unknown>, watermark?: string) =>
    await readFtp({ source: await login(server(), folder()), query, watermark });

  it('reports the number of files in check()', async () => {
    await put('a.csv', 'x\n1\n');
    const source = await login(server(), folder());
    const said = await ftp.check(ftpContext({ source, query: {} }, folder()));
    expect(said).toMatch(/^connected to s?ftps?:\/\/127\.0\.0\.1:\d+; \/.* contains 1 file$/);
  });

  it('reads every format, by its extension, compressed or not', async () => {
    await put('a.csv', 'x,y\n1,2\n');
    await put('a.tsv', 'x\ty\n1\t2\n');
    await put('a.json', '[{"x":1,"y":2}]');
    await put('a.jsonl', '{"x":1,"y":2}\n');
    await put('a.xml', '<r><i><x>1</x><y>2</y></i></r>');
    await put('a.csv.gz', gzipSync('x,y\n1,2\n'));
    await put('a.zip', await zipOf({ 'in/a.csv': 'x,y\n1,2\n' }));
    const row = (...cells: string[]) => `<row>${cells.map((cell) => `<c t="str"><v>${cell}</v></c>`).join('')}</row>`;
    await put('a.xlsx', await bookOf({ rows: row('x', 'y') + row('1', '2') }));
    for (const path of ['a.csv', 'a.tsv', 'a.json', 'a.jsonl', 'a.xml', 'a.csv.gz', 'a.zip', 'a.xlsx']) {
      expect((await read({ path })).rows, path).toEqual([['1', '2']]);
    }
  });

  it('reads CSV files from Excel, and text in named code pages', async () => {
    await put('bom.csv', Buffer.from('\ufeffx\nä\n', 'utf8'));
    await put('utf16.csv', Buffer.from('\ufeffx\nä\n', 'utf16le'));
    await put('page.csv', Buffer.from('x\n\x84\n', 'latin1'));
    for (const path of ['bom.csv', 'utf16.csv']) expect((await read({ path })).rows, path).toEqual([['ä']]);
    expect((await read({ path: 'page.csv', encoding: 'cp437' })).rows).toEqual([['ä']]);
  });

  it("reads a glob's files across folders, sorted by name, and adds path and time to each row", async () => {
    await put('2026/02/b.csv', 'x\n2\n', 1_770_000_000);
    await put('2026/01/a.csv', 'x\n1\n', 1_760_000_000);
    await put('2025/c.csv', 'x\n0\n');
    await put('2026/01/a.txt', 'no');
    const { columns, rows } = await read({ path: '2026/**/*.csv', path_column: 'file', modified_column: 'at' });
    expect(columns.map(({ name, type }) => [name, type])).toEqual([
      ['file', 'text'],
      ['at', 'timestamptz'],
      ['x', 'text'],
    ]);
    expect(rows).toEqual([
      ['2026/01/a.csv', '2025-10-09T08:53:20.000Z', '1'],
      ['2026/02/b.csv', '2026-02-02T02:40:00.000Z', '2'],
    ]);
    expect((await read({ path: '{2025,2026/0?}/[bc].csv' })).rows).toEqual([['0'], ['2']]);
    const absolute = posix.join(server().files, '2026/*/*.csv');
    expect((await read({ path: absolute, path_column: 'file' })).rows.map(([name]) => name)).toEqual([
      '2026/01/a.csv',
      '2026/02/b.csv',
    ]);
  });

  it('finds files by their exact names, no matter which characters they contain', async () => {
    const names = [
      'two words.csv',
      'Ünïcode – 日本.csv',
      'sales[1].csv',
      "it's #1 & 100%.csv",
      'a{b,c}.csv',
      ' lead.csv',
    ];
    for (const [i, name] of names.entries()) await put(`odd [x] folder/${name}`, `x\n${i}\n`);
    for (const [i, name] of names.entries()) {
      expect((await read({ path: `odd [x] folder/${name}` })).rows, name).toEqual([[String(i)]]);
    }
    const all = await read({ path: 'odd*/*.csv', path_column: 'file' });
    expect(all.rows.map(([name]) => name)).toEqual(names.map((name) => `odd [x] folder/${name}`).sort());
  });

  it('reads the newest matching file', async () => {
    await put('a.csv', 'x\n3\n', 1_770_000_000);
    await put('b.csv', 'x\n1\n', 1_760_000_000);
    expect((await read({ path: '*.csv', files: 'newest' })).rows).toEqual([['3']]);
  });

  it('reads only files that are new or modified since the watermark', async () => {
    await put('a.csv', 'x\n1\n', 1_770_000_000);
    await put('b.csv', 'x\n2\n', 1_770_000_000);
    const query = { path: '*.csv', files: 'changed' };
    const empty = await read({ ...query, path: 'not-yet-*.csv' });
    expect(empty).toMatchObject({ rows: [], unchanged: false, watermark: undefined });
    const first = await read(query);
    expect(first.rows).toEqual([['1'], ['2']]);
    const none = await read(query, first.watermark);
    expect(none).toMatchObject({ rows: [], unchanged: true, watermark: first.watermark });
    await put('c.csv', 'x\n3\n', 1_770_000_000);
    await put('a.csv', 'x\n10\n', 1_770_000_000);
    await put('late.csv', 'x\n4\n', 1_769_999_000);
    await put('old.csv', 'x\n5\n', 1_769_000_000);
    const second = await read(query, none.watermark);
    expect(second).toMatchObject({ rows: [['10'], ['3'], ['4'], ['5']], unchanged: false });
    expect((await read(query, second.watermark)).rows).toEqual([]);
  });

  it('skips files without a marker until they have one', async () => {
    await put('a.csv', 'x\n1\n', 1_770_000_000);
    await put('b.csv', 'x\n2\n', 1_780_000_000);
    await put('b.csv.done', '');
    const query = { path: '*.csv', marker: '.done', files: 'changed' };
    const first = await read(query);
    expect(first.rows).toEqual([['2']]);
    await put('a.csv.done', '');
    const second = await read(query, first.watermark);
    expect(second.rows).toEqual([['1']]);
    expect((await read(query, second.watermark)).rows).toEqual([]);
    await put('c.csv', 'x\n1\n');
    const waiting = { code: 'FILES_NOT_COMPLETE', family: 'try_later', seen: 'c.csv' };
    await expect(read({ path: 'c.csv', marker: '{stem}.ok' })).rejects.toMatchObject(waiting);
    await put('c.ok', '');
    expect((await read({ path: 'c.csv', marker: '{stem}.ok' })).rows).toEqual([['1']]);
  });

  it('reads the files of several days and paths, once each, as soon as they are old enough', async () => {
    const today = new Date().toISOString().slice(0, 10);
    await put(`in/${today}/a.csv`, 'x\n1\n', 1_770_000_000);
    await put('b.csv', 'x\n2\n', 1_770_000_000);
    await put('c.csv.tmp', 'x\n3\n', 1_770_000_000);
    const query = { path: ['in/{yyyy-MM-dd}/*.csv', 'in/{yyyy-MM-dd}.csv', 'b.csv'], days: 3, files: 'changed' };
    const first = await read(query);
    expect(first.rows).toEqual([['1'], ['2']]);
    await put(`in/${today}/d.csv`, 'x\n4\n', Math.floor(Date.now() / 1000));
    const young = await read({ ...query, min_age: '5h' }, first.watermark);
    expect(young.rows).toEqual([]);
    expect((await read(query, young.watermark)).rows).toEqual([['4']]);
    const dated = { path: 'in/{yyyy-MM-dd}/a.csv', offset: '1y' };
    await expect(read(dated)).rejects.toMatchObject({ code: 'FTP_NOT_FOUND' });
    for (const path of ['gone/{yyyy}/a.csv', 'gone/{yyyy}*.csv', 'gone/{yyyy}.csv'])
      await expect(read({ ...query, path })).rejects.toMatchObject({ code: 'FTP_NOT_FOUND' });
  });

  it("names a path that doesn't exist or is a folder", async () => {
    await put('sub/a.csv', 'x\n1\n');
    await expect(read({ path: 'b.csv' })).rejects.toMatchObject({
      code: 'FTP_NOT_FOUND',
      family: 'job',
      seen: 'b.csv',
    });
    await expect(read({ path: '*.csv' })).rejects.toMatchObject({ code: 'FTP_NOT_FOUND' });
    await expect(read({ path: 'sub' })).rejects.toMatchObject({
      code: 'FTP_NOT_A_FILE',
      next: expect.stringContaining('sub/*.csv'),
    });
    await expect(read({ path: 'nowhere/*.csv' })).rejects.toMatchObject({ code: 'FTP_NOT_FOUND' });
  });

  it('reads an empty file as a table without rows', async () => {
    await put('empty.jsonl', '');
    expect((await read({ path: 'empty.jsonl' })).rows).toEqual([]);
    await put('empty.csv', '');
    await expect(read({ path: 'empty.csv' })).rejects.toMatchObject({ code: 'CSV_HEADER' });
  });
}
