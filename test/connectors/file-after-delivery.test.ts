import { link, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import file from '../../connectors/file/index.ts';
import { contextOf } from './harness.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-after-'));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const put = (name: string, content = 'x\n1\n') => writeFile(join(folder, name), content);
const names = async (inside = '.') => (await readdir(join(folder, inside))).sort();

type Query = Record<string, unknown>;

const moving = (to: string, more: Query = {}): Query => ({
  ...{ path: '*.csv', files: 'changed', after_delivery: 'move', move_to: to, ...more },
});

/** Reads all files that match and returns the watermark. */
async function read(query: Query, watermark?: string): Promise<string> {
  const context = contextOf(file, { source: {}, query, folder });
  const extraction = await file.extract({ ...context, ...(watermark === undefined ? {} : { watermark }) });
  for await (const _ of extraction.batches);
  return extraction.watermark?.() ?? '';
}

/** Does what is left to do; undefined if that's nothing. */
async function act(query: Query, watermark: string, isDelivered = true) {
  const { query: values, ...context } = contextOf(file, { source: {}, query, folder });
  const due = { query: values, watermark, isDelivered };
  return file.isActionDue!(due) ? await file.afterDelivery!({ ...context, ...due }) : undefined;
}

it('files are moved after their delivery, to a new folder, and only then', async () => {
  await put('a.csv');
  await put('b.csv');
  const watermark = await read(moving('done/{name}'));
  expect(await act(moving('done/{name}'), watermark, false)).toBeUndefined();
  expect(await names()).toEqual(['a.csv', 'b.csv']);
  const result = await act(moving('done/{name}'), watermark);
  expect(result).toMatchObject({ actions: 2, problem: undefined });
  expect(await names()).toEqual(['done']);
  expect(await names('done')).toEqual(['a.csv', 'b.csv']);
  expect(await act(moving('done/{name}'), result!.watermark)).toBeUndefined();
});

it('files are renamed in their folder, to names with the time at which they were read', async () => {
  await put('a.b.csv');
  const query = moving('{stem}.{yyyy}.read');
  await act(query, await read(query));
  expect(await names()).toEqual([`a.b.${new Date().getUTCFullYear()}.read`]);
});

it('files are deleted, and a file that is gone or has changed is left alone', async () => {
  for (const name of ['a.csv', 'gone.csv', 'new.csv']) await put(name);
  const query = { path: '*.csv', files: 'changed', after_delivery: 'delete' };
  const watermark = await read(query);
  await rm(join(folder, 'gone.csv'));
  await put('new.csv', 'x\n2\n3\n');
  expect(await act(query, watermark)).toMatchObject({ problem: undefined });
  expect(await names()).toEqual(['new.csv']);
});

it('a file is kept if its new path exists, is not read again, and is moved later', async () => {
  await mkdir(join(folder, 'done'));
  await put('done/a.csv', 'older');
  for (const name of ['a.csv', 'b.csv']) await put(name);
  const query = moving('done/{name}');
  const first = await act(query, await read(query));
  expect(first).toMatchObject({ actions: 1, problem: { code: 'FILES_TARGET_EXISTS', family: 'job' } });
  expect(await names()).toEqual(['a.csv', 'done']);
  expect(await readFile(join(folder, 'done', 'a.csv'), 'utf8')).toBe('older');
  await put('c.csv');
  const second = await read(query, first!.watermark);
  await rm(join(folder, 'done', 'a.csv'));
  // The next payload hasn't been delivered, but the earlier one has.
  expect(await act(query, second, false)).toMatchObject({ actions: 1, problem: undefined });
  expect(await names()).toEqual(['c.csv', 'done']);
});

it('a move that was interrupted between its two steps is completed', async () => {
  await put('a.csv');
  const query = moving('done/{name}');
  const watermark = await read(query);
  await mkdir(join(folder, 'done'));
  await link(join(folder, 'a.csv'), join(folder, 'done', 'a.csv'));
  expect(await act(query, watermark)).toMatchObject({ actions: 1, problem: undefined });
  expect(await names()).toEqual(['done']);
});

it('a file that cannot be moved is an error that names both paths, and the other files are moved', async () => {
  await put('done', 'a file in place of the folder');
  await put('a.csv');
  const query = moving('done/{name}');
  const result = await act(query, await read(query));
  const { problem } = result!;
  expect(problem).toMatchObject({ code: 'FILES_NOT_MOVED', seen: 'EEXIST' });
  expect(problem!.message).toBe(`cannot move ${join(folder, 'a.csv')} to ${join(folder, 'done', 'a.csv')}`);
});

it('a file in a folder that is gone is not taken for a file that was removed', async () => {
  await mkdir(join(folder, 'in'));
  await put('in/a.csv');
  const query = moving('done/{name}', { path: 'in/*.csv' });
  const watermark = await read(query);
  await rm(join(folder, 'in'), { recursive: true });
  expect(await act(query, watermark)).toMatchObject({ problem: { code: 'FILE_UNREADABLE' } });
});

it('a changed file replaces its former version in the list of files to move', async () => {
  await put('a.csv');
  const query = moving('done/{name}');
  const first = await read(query);
  await put('a.csv', 'x\n2\n');
  await utimes(join(folder, 'a.csv'), 1_770_000_000, 1_770_000_000);
  const second = await read(query, first);
  expect(await act(query, second)).toMatchObject({ actions: 1 });
  expect(await names()).toEqual(['done']);
});

it('a moved file must not match the path', async () => {
  await put('a.csv');
  const query = moving('done/{name}', { path: '**/*.csv' });
  await expect(read(query)).rejects.toMatchObject({ code: 'FILES_MOVED_INTO_PATH', family: 'config' });
});

it('the options are checked', () => {
  const faults = (query: Query) => {
    const { source, query: values } = contextOf(file, { source: {}, query: { path: '*.csv', ...query }, folder });
    return file.validate!({ source, query: values }).map(({ option, message }) => `${option} ${message}`);
  };
  expect(faults(moving('done/{yyyy-MM}/{name}'))).toEqual([]);
  expect(faults({ after_delivery: 'delete' })[0]).toMatch(/^after_delivery requires `files: changed`/);
  expect(faults({ files: 'changed', after_delivery: 'move' })[0]).toMatch(/^move_to is missing/);
  expect(faults({ files: 'changed', move_to: 'done/{name}' })[0]).toMatch(/^move_to requires `after_delivery: move`/);
  expect(faults(moving('{name}/old.csv'))[0]).toMatch(/^move_to must contain/);
  expect(faults(moving('{yyy}/{name}'))[0]).toMatch(/^move_to has "yyy"/);
});
