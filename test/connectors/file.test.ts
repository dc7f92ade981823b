import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, open, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { batchText } from '#sdk';
import file from '../../connectors/file/index.ts';
import { contextOf, extractTable } from './harness.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-file-'));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const put = (name: string, content: string | Buffer) => writeFile(join(folder, name), content);
const extract = (query: Record<string, unknown>, source = {}) => extractTable(file, { source, query, folder });

test("a file's extension determines the format, even before .gz, and .tsv cells are separated by tabs", async () => {
  await put('a.csv', 'x,y\n1,2\n');
  await put('a.tsv', 'x\ty\n1\t2,3\n');
  await put('a.json', '[{"x":1,"y":"2"}]');
  await put('a.ndjson', '{"x":1,"y":"2"}\n');
  await put('a.XML', '<r><i><x>1</x><y>2</y></i></r>');
  await put('a.csv.gz', gzipSync('x,y\n1,2\n'));
  for (const path of ['a.csv', 'a.json', 'a.ndjson', 'a.XML', 'a.csv.gz']) {
    expect((await extract({ path })).rows).toEqual([['1', '2']]);
  }
  expect((await extract({ path: 'a.tsv' })).rows).toEqual([['1', '2,3']]);
});

test('a file without a known extension needs a format, but gzip is recognized by its bytes', async () => {
  await put('export', gzipSync('x\n1\n'));
  await expect(extract({ path: 'export' })).rejects.toMatchObject({ code: 'FILE_FORMAT', family: 'config' });
  expect((await extract({ path: 'export', format: 'csv' })).rows).toEqual([['1']]);
});

test("a glob reads all matching files, sorted by name, and path_column contains each file's name", async () => {
  await mkdir(join(folder, 'sub', 'deep'), { recursive: true });
  await put('sub/b.csv', 'y,x\n4,3\n');
  await put('sub/a.csv', 'x,y\n1,2\n');
  await put('sub/deep/c.csv.gz', gzipSync('x,y\n5,6\n'));
  const { columns, rows } = await extract({ path: '**/*.csv*', path_column: 'file' }, { folder: 'sub' });
  expect(columns.map(({ name }) => name)).toEqual(['file', 'x', 'y']);
  expect(rows).toEqual([
    ['a.csv', '1', '2'],
    ['b.csv', '3', '4'],
    ['deep/c.csv.gz', '5', '6'],
  ]);
});

test('an absolute glob also works, and files outside the folder are named by their full path', async () => {
  await put('a.csv', 'x\n1\n');
  await put('b.csv', 'x\n2\n');
  await mkdir(join(folder, 'elsewhere'));
  const { rows } = await extract({ path: join(folder, '*.csv'), path_column: 'f' }, { folder: 'elsewhere' });
  expect(rows).toEqual([
    [join(folder, 'a.csv'), '1'],
    [join(folder, 'b.csv'), '2'],
  ]);
});

/** Writes a file with a modification time, in seconds since 1970. */
async function putAt(name: string, content: string, time: number): Promise<void> {
  await put(name, content);
  await utimes(join(folder, name), time, time);
}

/** The new rows since the watermark, and the next watermark. */
async function readOn(query: Record<string, unknown>, watermark?: string) {
  const context = contextOf(file, { source: {}, query, folder });
  const extraction = await file.extract({ ...context, ...(watermark === undefined ? {} : { watermark }) });
  const rows: (string | null)[][] = [];
  for await (const batch of extraction.batches) rows.push(...batchText(batch));
  return { rows, watermark: extraction.watermark?.(), unchanged: extraction.unchanged?.() };
}

test('only the most recently modified matching file is read if requested', async () => {
  await putAt('b.csv', 'x\n1\n', 1_770_000_000);
  await putAt('a.csv', 'x\n2\n', 1_770_000_500);
  expect((await readOn({ path: '*.csv', files: 'newest' })).rows).toEqual([['2']]);
});

test('files changed since the watermark are read once each, whether they are new, modified or late', async () => {
  const query = { path: '**/*.csv', files: 'changed', path_column: 'file' };
  expect(await readOn(query)).toEqual({ rows: [], watermark: undefined, unchanged: false });
  await putAt('a.csv', 'x\n1\n', 1_770_000_000);
  await putAt('b.csv', 'x\n2\n', 1_770_000_000.25);
  const first = await readOn(query);
  expect(first).toMatchObject({
    rows: [
      ['a.csv', '1'],
      ['b.csv', '2'],
    ],
    unchanged: false,
  });
  const none = await readOn(query, first.watermark);
  expect(none).toMatchObject({ rows: [], unchanged: true, watermark: first.watermark });
  await mkdir(join(folder, 'in'));
  await putAt('in/c.csv', 'x\n3\n', 1_770_000_000);
  await putAt('a.csv', 'x\n10\n', 1_770_000_000);
  await putAt('late.csv', 'x\n4\n', 1_769_999_000);
  await putAt('old.csv', 'x\n5\n', 1_769_000_000);
  const second = await readOn(query, none.watermark);
  expect(second.rows).toEqual([
    ['a.csv', '10'],
    ['in/c.csv', '3'],
    ['late.csv', '4'],
    ['old.csv', '5'],
  ]);
  expect((await readOn(query, second.watermark)).rows).toEqual([]);
  expect(file.readsOnFrom?.(second.watermark!, {} as never)).toBe(second.watermark);
  await expect(readOn(query, 'yesterday')).rejects.toMatchObject({ code: 'FILES_WATERMARK', family: 'config' });
});

test('changed files are read regardless of their modification times, even after a file dated in the future', async () => {
  const query = { path: '*.csv', files: 'changed' };
  await putAt('wrong-clock.csv', 'x\n1\n', 2_145_916_800);
  const first = await readOn(query);
  await putAt('today.csv', 'x\n2\n', 1_770_000_000);
  await putAt('kept-time.csv', 'x\n3\n', 1_000_000_000);
  const second = await readOn(query, first.watermark);
  expect(second.rows).toEqual([['3'], ['2']]);
  await rm(join(folder, 'wrong-clock.csv'));
  expect(await readOn(query, second.watermark)).toMatchObject({ rows: [], unchanged: true });
  const from = file.readsOnFrom?.('{"since":"2026-01-01T00:00:00Z"}', {} as never);
  expect((await readOn(query, from)).rows).toEqual([['2']]);
});

test("files that were read aren't read again after their folder was temporarily empty", async () => {
  const query = { path: '*.csv', files: 'changed' };
  await putAt('a.csv', 'x\n1\n', 1_770_000_000);
  const { watermark } = await readOn(query);
  await rm(join(folder, 'a.csv'));
  const empty = await readOn(query, watermark);
  expect(empty).toMatchObject({ unchanged: true, watermark });
  await putAt('a.csv', 'x\n1\n', 1_770_000_000);
  expect(await readOn(query, empty.watermark)).toMatchObject({ rows: [], unchanged: true });
});

test("a folder that is missing or can't be listed causes an error instead of counting as empty", async () => {
  const query = { path: 'in/**/*.csv', files: 'changed' };
  await mkdir(join(folder, 'in/sub'), { recursive: true });
  await putAt('in/a.csv', 'x\n1\n', 1_770_000_000);
  const { watermark } = await readOn(query);
  // A link to itself can't be listed, not even by root.
  await rm(join(folder, 'in/sub'), { recursive: true });
  await symlink('sub', join(folder, 'in/sub'));
  expect(await readOn(query, watermark)).toMatchObject({ unchanged: true });
  await rename(join(folder, 'in'), join(folder, 'out'));
  await expect(readOn(query, watermark)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND', family: 'job' });
  await symlink('in', join(folder, 'in'));
  await expect(readOn(query, watermark)).rejects.toMatchObject({ code: 'FILE_UNREADABLE', family: 'job' });
});

test('csv files with different columns are rejected by name; json files get the union of their keys', async () => {
  await put('a.csv', 'x,y\n1,2\n');
  await put('b.csv', 'x,z\n1,2\n');
  await expect(extract({ path: '*.csv' })).rejects.toMatchObject({
    code: 'CSV_COLUMNS_DIFFER',
    where: { file: join(folder, 'b.csv') },
  });
  await put('a.json', '[{"x":1}]');
  await put('b.json', '[{"z":"q","x":2.5}]');
  expect(await extract({ path: '*.json' })).toEqual({
    columns: [
      { name: 'x', type: 'decimal' },
      { name: 'z', type: 'text' },
    ],
    rows: [
      ['1', null],
      ['2.5', 'q'],
    ],
  });
});

test('a path that matches no file causes an error, never an empty table', async () => {
  await expect(extract({ path: 'none.csv' })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND', family: 'job' });
  await expect(extract({ path: '*.csv' })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  await expect(extract({ path: '.' })).rejects.toMatchObject({ code: 'FILE_NOT_A_FILE' });
});

test('a file with brackets in its name is found by that name', async () => {
  await put('sales[1].csv', 'x\n7\n');
  await put('sales1.csv', 'x\n8\n');
  expect((await extract({ path: 'sales[1].csv' })).rows).toEqual([['7']]);
  expect((await extract({ path: 'sales{1,2}.csv' })).rows).toEqual([['8']]);
});

test('errors name the position in the file', async () => {
  await put('a.csv', 'x,y\n1,2\n1\n');
  const where = { file: join(folder, 'a.csv'), line: 3 };
  await expect(extract({ path: 'a.csv' })).rejects.toMatchObject({ code: 'CSV_RAGGED', where });
});

/** Seconds since 1970; whole, so that it can be restored exactly. */
const oldTime = 1_770_000_000;

const change = {
  'appended to': (path: string) => appendFile(path, '9,9\n'),
  'rewritten in the same size': async (path: string) => {
    const handle = await open(path, 'r+');
    await handle.write('z', 0);
    await handle.close();
  },
  'changed, and given its old time back': async (path: string) => {
    await writeFile(path, 'zz', { flag: 'r+' });
    await utimes(path, oldTime, oldTime);
  },
  'replaced by another': async (path: string) => {
    await writeFile(`${path}.new`, 'x,y\n1,2\n');
    await rename(`${path}.new`, path);
  },
};

test.each(Object.entries(change))('a file that is %s during the read causes a try_later problem', async (_, act) => {
  const path = join(folder, 'a.csv');
  await writeFile(path, `x,y\n${'1,2\n'.repeat(300_000)}`);
  await utimes(path, oldTime, oldTime);
  const { batches } = await file.extract(contextOf(file, { source: {}, query: { path }, folder }));
  const reading = (async () => {
    let rows = 0;
    for await (const batch of batches) {
      if (rows === 0) await act(path);
      rows += batch.length;
    }
  })();
  await expect(reading).rejects.toMatchObject({ code: 'FILE_CHANGED', family: 'try_later' });
});

test('a stopped run throws the reason', async () => {
  await put('a.csv', `x,y\n${'1,2\n'.repeat(300_000)}`);
  const stop = new AbortController();
  const { batches } = await file.extract(
    contextOf(file, { source: {}, query: { path: 'a.csv' }, folder, signal: stop.signal }),
  );
  const reason = new Error('stopped by the test');
  const reading = (async () => {
    for await (const _ of batches) stop.abort(reason);
  })();
  await expect(reading).rejects.toBe(reason);
});

test('a run that is stopped while its file is being opened throws only the reason', async () => {
  await put('a.csv', `x,y\n${'1,2\n'.repeat(1000)}`);
  const stray: unknown[] = [];
  const catchStray = (error: unknown) => stray.push(error);
  process.on('uncaughtException', catchStray);
  const reason = new Error('stopped by the test');
  for (let turns = 0; turns < 40; turns++) {
    const stop = new AbortController();
    const run = contextOf(file, { source: {}, query: { path: 'a.csv' }, folder, signal: stop.signal });
    const reading = (async () => {
      for await (const _ of (await file.extract(run)).batches);
    })().catch((error: unknown) => error);
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    stop.abort(reason);
    expect([reason, undefined]).toContain(await reading);
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('uncaughtException', catchStray);
  expect(stray).toEqual([]);
});

test('the file is closed if its consumer stops early', async () => {
  await put('a.csv', `x,y\n${'1,2\n'.repeat(300_000)}`);
  const { batches } = await file.extract(contextOf(file, { source: {}, query: { path: 'a.csv' }, folder }));
  for await (const _ of batches) break;
  const { readdir, readlink } = await import('node:fs/promises');
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  expect(links.filter((link) => link.startsWith(folder))).toEqual([]);
});

test("check reports the number of files in the folder, or why the folder can't be read", async () => {
  await put('a.csv', 'x\n');
  const at = (source: Record<string, unknown>) => contextOf(file, { source, query: { path: 'x' }, folder });
  expect(await file.check(at({}))).toBe(`${folder} exists and contains 1 file`);
  await expect(file.check(at({ folder: 'missing' }))).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    seen: 'ENOENT',
  });
});

test('conflicting options are reported before anything is read', () => {
  const faults = (query: Record<string, unknown>) =>
    file.validate?.({
      source: { folder: undefined },
      query: contextOf(file, { source: {}, query: { path: 'x', ...query }, folder }).query,
    }) ?? [];
  expect(faults({})).toEqual([]);
  expect(faults({ delimiter: '"' }).map(({ option }) => option)).toEqual(['quote']);
  expect(faults({ delimiter: '' }).map(({ option }) => option)).toEqual(['delimiter']);
  expect(faults({ delimiter: '\\x01' }).map(({ option }) => option)).toEqual(['delimiter']);
  for (const delimiter of ['\\t', 'tab', '||', '\u0001', '¦']) expect(faults({ delimiter })).toEqual([]);
  expect(faults({ delimiter: '|', quote: '', escape: '\\' }).map(({ option }) => option)).toEqual(['escape']);
  expect(faults({ encoding: 'klingon' }).map(({ option }) => option)).toEqual(['encoding']);
  expect(faults({ columns: [{ name: 'a' }, { name: 'a' }] }).map(({ option }) => option)).toEqual(['columns']);
});

const readerChild = fileURLToPath(new URL('reader-child.ts', import.meta.url));

test.each(['csv', 'jsonl', 'json'])('a million rows in %s are read with a heap of 24 MB', async (format) => {
  const path = join(folder, `big.${format}`);
  await writeMillion(path, format);
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=24', readerChild, path], {
    timeout: 250_000,
  });
  expect(JSON.parse(stdout)).toMatchObject({ rows: 1_000_000, sum: 499999500000 });
});

async function writeMillion(path: string, format: string): Promise<void> {
  const handle = await open(path, 'w');
  if (format === 'csv') await handle.write('id,name,note\n');
  if (format === 'json') await handle.write('[');
  for (let from = 0; from < 1_000_000; from += 10_000) {
    const lines = Array.from({ length: 10_000 }, (_, i) => line(from + i, format));
    await handle.write(lines.join(''));
  }
  if (format === 'json') await handle.write(']');
  await handle.close();
}

function line(id: number, format: string): string {
  if (format === 'csv') return `${id},Jürgen ${id},"a ""quoted"", note"\n`;
  const record = `{"id":${id},"name":"Jürgen ${id}","note":"a \\"quoted\\", note"}`;
  return format === 'json' ? `${id === 0 ? '' : ','}${record}` : `${record}\n`;
}
