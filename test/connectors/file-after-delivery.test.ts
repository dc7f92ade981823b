import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { localFiles } from '../../connectors/file/finish-files.ts';
import file from '../../connectors/file/index.ts';
import type { PendingFile } from '../../src/sdk/index.ts';
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

it('a file in a folder that is gone is removed, but not if the folder of the pattern is gone, too', async () => {
  await mkdir(join(folder, 'in', '2026'), { recursive: true });
  await put('in/2026/a.csv');
  const query = moving('../../done/{name}', { path: 'in/*/*.csv' });
  const watermark = await read(query);
  await rm(join(folder, 'in', '2026'), { recursive: true });
  expect(await act(query, watermark)).toMatchObject({ actions: 0, problem: undefined });
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

const own = () => join(folder, 'a.csv');
const target = () => join(folder, 'done', 'a.csv');

/** Reads a.csv and returns it as a file that is still to be moved or deleted. */
async function pendingFile(): Promise<PendingFile> {
  return (JSON.parse(await read(moving('done/{name}'))) as { pending: PendingFile[] }).pending[0]!;
}

/** A new file with other content than a.csv; `arrive` gives it the name of a.csv. */
async function newFile(): Promise<{ arrive: () => Promise<void> }> {
  await put('new', 'x\n2\n3\n');
  let arrived: Promise<void> | undefined;
  return { arrive: () => (arrived ??= rename(join(folder, 'new'), own())) };
}

const refuseLinks = () => Promise.reject(Object.assign(new Error('no links'), { code: 'EPERM' }));

it('a new file that a partner puts in place of a file before its move stays for the next run', async () => {
  for (const addName of [link, refuseLinks]) {
    await put('a.csv');
    const file = await pendingFile();
    const { arrive } = await newFile();
    const late = async (from: string, to: string) => {
      await arrive();
      await addName(from, to);
    };
    expect(await localFiles({ folder, path: '*.csv', addName: late as typeof link }).move(file, target())).toBe(false);
    expect(await readFile(own(), 'utf8')).toBe('x\n2\n3\n');
    expect(await names('done')).toEqual([]);
    await rm(own());
  }
  expect(await names()).toEqual(['done']);
});

it('a new file that a partner puts in place of a file in the middle of its move stays for the next run', async () => {
  await put('a.csv');
  const file = await pendingFile();
  const { arrive } = await newFile();
  const linkAndReplace = async (from: string, to: string) => {
    await link(from, to);
    await arrive();
  };
  const finisher = localFiles({ folder, path: '*.csv', addName: linkAndReplace as typeof link });
  expect(await finisher.move(file, target())).toBe(true);
  expect(await readFile(own(), 'utf8')).toBe('x\n2\n3\n');
  expect(await readFile(target(), 'utf8')).toBe('x\n1\n');
  expect(await names()).toEqual(['a.csv', 'done']);
});

it('a new file that a partner puts in place of a file before its deletion stays for the next run', async () => {
  await put('a.csv');
  const file = await pendingFile();
  await (await newFile()).arrive();
  expect(await localFiles({ folder, path: '*.csv' }).remove(file)).toBe(false);
  expect(await readFile(own(), 'utf8')).toBe('x\n2\n3\n');
  expect(await names()).toEqual(['a.csv']);
});

it('a file that a partner deletes in the middle of its move is in the new folder', async () => {
  await put('a.csv');
  const file = await pendingFile();
  const linkAndDelete = async (from: string, to: string) => {
    await link(from, to);
    await rm(from);
  };
  await localFiles({ folder, path: '*.csv', addName: linkAndDelete as typeof link }).move(file, target());
  expect(await names('done')).toEqual(['a.csv']);
});

it('a file is moved on a file system without links, but never in place of another file', async () => {
  await put('a.csv');
  const finisher = localFiles({ folder, path: '*.csv', addName: refuseLinks });
  expect(await finisher.move(await pendingFile(), target())).toBe(true);
  expect(await names()).toEqual(['done']);
  await put('a.csv', 'x\n4\n');
  await expect(finisher.move(await pendingFile(), target())).rejects.toMatchObject({ code: 'FILES_TARGET_EXISTS' });
  expect(await names()).toEqual(['a.csv', 'done']);
  expect(await readFile(target(), 'utf8')).toBe('x\n1\n');
});

it('what a process that died has begun with a file is completed, or undone for an unread file', async () => {
  for (const after_delivery of ['move', 'delete']) {
    const query = {
      ...moving('done/{name}'),
      after_delivery,
      ...(after_delivery === 'move' ? {} : { move_to: undefined }),
    };
    await put('a.csv');
    const watermark = await read(query);
    const aside = join(folder, `.sluice-${(await stat(own())).ino}`);
    await rename(own(), aside);
    expect(await act(query, watermark)).toMatchObject({ actions: 1, problem: undefined });
    expect(await names()).toEqual(after_delivery === 'move' ? ['done'] : []);
    await rm(join(folder, 'done'), { recursive: true, force: true });
    await put('a.csv', 'x\n2\n3\n');
    await rename(own(), aside);
    expect(await act(query, watermark)).toMatchObject({ actions: 0, problem: undefined });
    expect(await names()).toEqual(['a.csv']);
    await rm(own());
  }
});

it('a file that is set aside is not read', async () => {
  await put('.sluice-1');
  await put('a.csv');
  for (const path of ['*', '**/*', '*.csv']) {
    const found = JSON.parse(
      await read({ ...moving('done/{name}'), path, move_to: '../{name}', format: 'csv' }),
    ) as object;
    expect(found, path).toMatchObject({ files: 1 });
  }
  expect(faults(moving('done/{name}', { path: '.*' }))[0]).toContain('matches the hidden names');
});

it('a symbolic link is neither moved nor deleted', async () => {
  await mkdir(join(folder, 'there'));
  await put('there/a.csv');
  await symlink('there/a.csv', own());
  const query = moving('done/{name}');
  const watermark = await read(query);
  expect(await act(query, watermark)).toMatchObject({ actions: 0, problem: { code: 'FILES_LINK' } });
  const deleting = { path: '*.csv', files: 'changed', after_delivery: 'delete' };
  expect(await act(deleting, watermark)).toMatchObject({ actions: 0, problem: { code: 'FILES_LINK' } });
  expect(await names()).toEqual(['a.csv', 'there']);
});

it('a file whose stem is the name of a folder gets another name', async () => {
  await put('...csv');
  const query = moving('done/{stem}', { path: '...csv' });
  expect(await act(query, await read(query))).toMatchObject({ actions: 1, problem: undefined });
  expect(await names('done')).toEqual(['..~']);
});

it('a file with the time and size of a file that was read is neither moved nor deleted', async () => {
  const time = 1_770_000_000;
  await put('a.csv');
  await utimes(join(folder, 'a.csv'), time, time);
  const query = { path: '*.csv', files: 'changed', after_delivery: 'delete' };
  const watermark = await read(query);
  await put('new', 'x\n2\n');
  await utimes(join(folder, 'new'), time, time);
  await rename(join(folder, 'new'), join(folder, 'a.csv'));
  expect(await act(query, watermark)).toMatchObject({ actions: 0, problem: { code: 'FILES_REPLACED' } });
  expect(await names()).toEqual(['a.csv']);
});

it('a path without a pattern may have no file after its move, but not before the first read', async () => {
  const query = moving('done/{name}', { path: 'in/a.csv' });
  await mkdir(join(folder, 'in'));
  await expect(read(query)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  await put('in/a.csv');
  const { watermark } = (await act(query, await read(query)))!;
  expect(await read(query, watermark)).toBe(watermark);
  await rm(join(folder, 'in'), { recursive: true });
  await expect(read(query, watermark)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
});

it('a file is not moved into the path by a later change of the options', async () => {
  await put('a.csv');
  const watermark = await read(moving('done/{name}'));
  const result = await act(moving('x-{name}'), watermark);
  expect(result).toMatchObject({ actions: 0, problem: { code: 'FILES_MOVED_INTO_PATH' } });
  expect(await names()).toEqual(['a.csv']);
});

const faults = (query: Query) => {
  const { source, query: values } = contextOf(file, { source: {}, query: { path: '*.csv', ...query }, folder });
  return file.validate!({ source, query: values }).map(({ option, message }) => `${option} ${message}`);
};

it('a place that the path matches is an error of the config, however the path is written', () => {
  for (const path of ['*.csv', './*.csv', 'sub/../in/*.csv', '/in//*.csv', '{in,on}/a-?.csv'])
    expect(faults(moving('{stem}-x.csv', { path: path.replace('a-?', 'a*') })), path).toHaveLength(1);
  expect(faults(moving('x/{name}', { path: '**/*.csv' }))[0]).toMatch(/^move_to leads to a path that `path` matches/);
  for (const path of ['*.csv', '../in/*.csv', '/in//*.csv', 'a.csv'])
    expect(faults(moving('done/{name}', { path })), path).toEqual([]);
});

it('an unknown placeholder does not become the name of a folder', () => {
  for (const wrong of ['{YYYY-MM-DD}', '{date}', '{filename}', '{Name}', '{', '}', '{}'])
    expect(faults(moving(`done/${wrong}/{name}`))[0], wrong).toContain('; allowed: {name}, {stem}, and dates such as');
});

it('the options are checked', () => {
  expect(faults(moving('done/{yyyy-MM}/{name}'))).toEqual([]);
  expect(faults({ after_delivery: 'delete' })[0]).toMatch(/^after_delivery requires `files: changed`/);
  expect(faults({ files: 'changed', after_delivery: 'move' })[0]).toMatch(/^move_to is missing/);
  expect(faults({ files: 'changed', move_to: 'done/{name}' })[0]).toMatch(/^move_to requires `after_delivery: move`/);
  expect(faults(moving('{name}/old.csv'))[0]).toMatch(/^move_to must contain/);
  expect(faults(moving('{yyy}/{name}'))[0]).toMatch(/^move_to has "yyy"/);
});
