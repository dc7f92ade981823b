import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import file from '../../connectors/file/index.ts';
import { putBook } from '../sdk/archives.ts';
import { extractTable } from './harness.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-tar-'));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const put = (name: string, content: string | Buffer) => writeFile(join(folder, name), content);
const extract = (query: Record<string, unknown>) => extractTable(file, { source: {}, query, folder });

/** Packs files of the folder with GNU tar, which is on every Debian machine. */
function pack(...args: string[]): void {
  const { status, stderr } = spawnSync('tar', args, { cwd: folder, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
}

describe('a tar archive', () => {
  const formats = ['gnu', 'oldgnu', 'pax', 'ustar'];

  it.each(formats)('in the format %s is read as the files in it, sorted by name', async (format) => {
    const long = `${'deep/'.repeat(18)}${'n'.repeat(60)}.csv`;
    await mkdir(join(folder, 'deep/'.repeat(18)), { recursive: true });
    await put('b.csv', 'x\n2\n');
    await put('a.csv.gz', gzipSync('x\n1\n'));
    await put('empty.csv', 'x\n');
    await put(long, 'x\n3\n');
    await put('.hidden.csv', 'x\n9\n');
    pack('-cf', 'all.tar', `--format=${format}`, './b.csv', './a.csv.gz', '.hidden.csv', 'empty.csv', 'deep');
    expect((await extract({ path: 'all.tar', path_column: 'file' })).rows).toEqual([
      ['all.tar/a.csv.gz', '1'],
      ['all.tar/b.csv', '2'],
      [`all.tar/${long}`, '3'],
    ]);
  });

  it('is decompressed, is recognized by its bytes, and its files can be filtered', async () => {
    await put('a.csv', 'x\n1\n');
    await put('b.json', '[{"x":2}]');
    await put('ä [1].csv', 'x\n3\n');
    pack('-cf', 'all.tar', 'a.csv', 'b.json', 'ä [1].csv');
    const bytes = await readFile(join(folder, 'all.tar'));
    await put('all.tgz', gzipSync(bytes));
    await put('all', zstdCompressSync(bytes));
    for (const path of ['all.tar', 'all.tgz', 'all']) {
      expect((await extract({ path, member: '*.json' })).rows).toEqual([['2']]);
      expect((await extract({ path, member: 'ä [1].csv' })).rows).toEqual([['3']]);
      await expect(extract({ path })).rejects.toMatchObject({ code: 'FILE_FORMAT', family: 'config' });
      const none = { code: 'RECORDS_ARCHIVE_EMPTY', seen: '*.xml', allowed: 'a.csv, b.json, ä [1].csv' };
      await expect(extract({ path, member: '*.xml' })).rejects.toMatchObject(none);
    }
  });

  it('has only the last of several files with the same name', async () => {
    await put('a.csv', 'x\n1\n');
    pack('-cf', 'all.tar', 'a.csv');
    await put('a.csv', 'x\n2\n');
    pack('-rf', 'all.tar', 'a.csv');
    expect((await extract({ path: 'all.tar' })).rows).toEqual([['2']]);
  });

  it('can contain a workbook', async () => {
    await putBook(join(folder, 'a.xlsx'), {
      rows: '<row><c t="inlineStr"><is><t>x</t></is></c></row><row><c><v>7</v></c></row>',
    });
    pack('-czf', 'all.tar.gz', 'a.xlsx');
    expect((await extract({ path: 'all.tar.gz' })).rows).toEqual([['7']]);
  });

  it('that is larger than a pipe is read completely', async () => {
    const lines = Array.from({ length: 400_000 }, (_, i) => `${i},${i * 7919}`);
    await put('a.csv', `a,b\n${lines.join('\n')}\n`);
    await put('b.csv', 'a,b\n-1,-2\n');
    pack('-czf', 'all.tar.gz', 'a.csv', 'b.csv');
    const { rows } = await extract({ path: 'all.tar.gz' });
    expect(rows).toHaveLength(lines.length + 1);
    expect([rows[0], rows[399_999], rows[400_000]]).toEqual([
      ['0', '0'],
      ['399999', String(399_999 * 7919)],
      ['-1', '-2'],
    ]);
  });

  it('that is truncated anywhere, or damaged, fails the run', async () => {
    await put('a.csv', `x\n${'1\n'.repeat(600)}`);
    await put('b.csv', 'x\n2\n');
    pack('-cf', 'all.tar', '-b', '1', 'a.csv', 'b.csv');
    const whole = await readFile(join(folder, 'all.tar'));
    // Headers and contents of both files, in blocks of 512 bytes, and two empty blocks at the end.
    expect(whole).toHaveLength(512 * 8);
    for (const bytes of [512, 700, 512 * 3, 512 * 4, 512 * 4 + 100, 512 * 5, 512 * 6, 512 * 6 + 100, 512 * 7]) {
      await put('cut.tar', whole.subarray(0, bytes));
      await expect(extract({ path: 'cut.tar' }), String(bytes)).rejects.toMatchObject({
        code: 'RECORDS_TAR',
        where: { file: /cut\.tar$/ },
      });
    }
    const damaged = Buffer.from(whole);
    damaged[512 * 4 + 3]! ^= 1;
    await put('damaged.tar', damaged);
    const refusal = { code: 'RECORDS_TAR', message: expect.stringContaining('checksum') };
    await expect(extract({ path: 'damaged.tar' })).rejects.toMatchObject(refusal);
    await put('all.tgz', gzipSync(whole));
    await truncate(join(folder, 'all.tgz'), 60);
    await expect(extract({ path: 'all.tgz' })).rejects.toMatchObject({ code: 'RECORDS_GZIP' });
  });

  it('with a link or a sparse file among the wanted files is refused', async () => {
    await put('a.csv', 'x\n1\n');
    await symlink('a.csv', join(folder, 'b.csv'));
    await put('c.csv', `x\n1\n${'\0'.repeat(1_000_000)}`);
    await truncate(join(folder, 'c.csv'), 4);
    await truncate(join(folder, 'c.csv'), 1_000_000);
    pack('-cf', 'link.tar', 'a.csv', 'b.csv');
    pack('-cSf', 'sparse.tar', '--format=gnu', 'a.csv', 'c.csv');
    pack('-cSf', 'sparse-pax.tar', '--format=pax', 'a.csv', 'c.csv');
    for (const [path, what] of [
      ['link.tar', "b.csv isn't a regular file"],
      ['sparse.tar', 'c.csv is a sparse file'],
      ['sparse-pax.tar', 'c.csv is a sparse file'],
    ] as const) {
      const refusal = { code: 'RECORDS_TAR', message: expect.stringContaining(what) };
      await expect(extract({ path }), path).rejects.toMatchObject(refusal);
      if (path !== 'sparse.tar') expect((await extract({ path, member: 'a.csv' })).rows).toEqual([['1']]);
    }
  });

  it("isn't unpacked if it's implausibly large", async () => {
    await put('a.csv', 'x\n1\n');
    pack('-cf', 'all.tar', 'a.csv');
    const zeros = Buffer.alloc(64 * 1024 * 1024);
    const bytes = zstdCompressSync(Buffer.concat([await readFile(join(folder, 'all.tar')), zeros, zeros]));
    await put('bomb.tar.zst', bytes);
    const refusal = { code: 'RECORDS_ARCHIVE_BOMB', message: expect.stringContaining('unpack to far more') };
    await expect(extract({ path: 'bomb.tar.zst' })).rejects.toMatchObject(refusal);
  });
});
