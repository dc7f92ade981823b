import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { batchText, type RunWarning } from '#sdk';
import file from '../../connectors/file/index.ts';
import { withDefaults } from '../../src/sdk/index.ts';
import { contextOf } from './harness.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-paths-'));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

/** Writes a file with one row that names it. */
async function put(name: string, modified = new Date('2026-01-01T00:00:00Z')): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `x\n${name}\n`);
  await utimes(path, modified, modified);
}

interface Read {
  readonly watermark?: string | undefined;
  readonly timezone?: string;
  readonly warn?: (warning: RunWarning) => void;
}

/** The first cells of all rows of a run on March 2, 2026, at 00:30 UTC, and its watermark. */
async function read(query: Record<string, unknown>, { watermark, ...more }: Read = {}) {
  const context = contextOf(file, { source: {}, query, folder });
  const logicalAt = Date.parse('2026-03-02T00:30:00Z');
  const before = watermark === undefined ? {} : { watermark };
  const { batches, ...rest } = await file.extract({ ...context, logicalAt, ...before, ...more });
  const names: (string | null | undefined)[] = [];
  for await (const batch of batches) names.push(...batchText(batch).map(([name]) => name));
  return { names, watermark: rest.watermark?.() };
}

const faultsOf = (query: Record<string, unknown>) =>
  file.validate!({ source: withDefaults(file.source, {}), query: withDefaults(file.query, query) });

it('a date in a path is the day of the run in the job’s time zone, plus the offset', async () => {
  for (const day of ['0227', '0228', '0301', '0302']) await put(`r_2026${day}.csv`);
  const path = 'r_{yyyyMMdd}.csv';
  expect((await read({ path })).names).toEqual(['r_20260302.csv']);
  expect((await read({ path }, { timezone: 'America/New_York' })).names).toEqual(['r_20260301.csv']);
  expect((await read({ path, offset: '-1d' })).names).toEqual(['r_20260301.csv']);
  expect((await read({ path, offset: '-1d', days: 3 })).names).toEqual([
    'r_20260227.csv',
    'r_20260228.csv',
    'r_20260301.csv',
  ]);
  expect((await read({ path: 'r_{yyyyMM}*.csv', offset: '-1mo' })).names).toHaveLength(2);
});

it('a day without a file fails the run if all files are wanted', async () => {
  await put('r_20260302.csv');
  const query = { path: 'r_{yyyyMMdd}.csv', days: 2 };
  await expect(read(query)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND', seen: 'r_20260301.csv' });
  expect((await read({ ...query, files: 'newest' })).names).toEqual(['r_20260302.csv']);
  const empty = { path: 'other_{yyyyMMdd}.csv', days: 2, files: 'newest' };
  await expect(read(empty)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND', seen: /other_20260301.*other_20260302/ });
});

it('files of several days are read once each, however late they come, even in folders that do not exist yet', async () => {
  await mkdir(join(folder, 'in'));
  const paths = ['in/{yyyy-MM-dd}/a.csv', 'in/{yyyy/MM/dd}/*.csv'];
  for (const path of paths) {
    const query = { path, days: 7, files: 'changed' };
    const none = await read(query);
    expect(none).toEqual({ names: [], watermark: undefined });
  }
  await put('in/2026-03-01/a.csv');
  await put('in/2026/02/28/b.csv');
  const query = { path: paths, days: 7, files: 'changed' };
  const first = await read(query);
  expect(first.names).toEqual(['in/2026-03-01/a.csv', 'in/2026/02/28/b.csv']);
  await put('in/2026/02/27/c.csv');
  const second = await read(query, first);
  expect(second.names).toEqual(['in/2026/02/27/c.csv']);
  expect((await read(query, second)).names).toEqual([]);
  // A folder that isn't mounted doesn't mean that there are no files.
  await rm(join(folder, 'in'), { recursive: true });
  for (const path of paths) await expect(read({ ...query, path })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
});

it('a list of paths is read in its order, each file once, and each path must have a file', async () => {
  for (const name of ['b/1.csv', 'a/2.csv', 'a/1.csv']) await put(name);
  expect((await read({ path: ['b/*.csv', 'a/2.csv', 'a/*.csv'] })).names).toEqual(['b/1.csv', 'a/2.csv', 'a/1.csv']);
  await expect(read({ path: ['b/*.csv', 'c.csv'] })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND', seen: 'c.csv' });
});

it('files of a list of paths with dates are moved after their delivery', async () => {
  for (const name of ['a/20260302.csv', 'b/1.csv']) await put(name);
  const query = {
    path: ['a/{yyyyMMdd}.csv', 'b/*.csv'],
    files: 'changed',
    after_delivery: 'move',
    move_to: 'old/{name}',
  };
  const { watermark = '' } = await read(query);
  const { query: values, ...context } = contextOf(file, { source: {}, query, folder });
  const done = await file.afterDelivery!({ ...context, query: values, watermark, isDelivered: true });
  expect(done).toMatchObject({ actions: 2, problem: undefined });
  expect((await read({ path: ['a/old/*', 'b/old/*'], format: 'csv' })).names).toEqual(['a/20260302.csv', 'b/1.csv']);
  expect(faultsOf({ ...query, move_to: '../a/{yyyyMMdd}{name}' })).toEqual([]);
  expect(faultsOf({ ...query, move_to: '../b/{name}' })).toMatchObject([{ option: 'move_to' }]);
});

it('jobs with dates or lists of paths that can match the same file are found', () => {
  const input = (path: string | readonly string[]) => ({
    ...{ source: withDefaults(file.source, {}), query: withDefaults(file.query, { path }), folder: '/in' },
  });
  const mayShare = (one: string | readonly string[], other: string | readonly string[]) =>
    file.mayShareInput!(input(one), input(other));
  expect(mayShare('r_{yyyyMMdd}.csv', 'r_20260302.csv')).toBe(true);
  expect(mayShare(['a.csv', 'r_*.csv'], ['b.csv', 'r_{yyyy-MM-dd}.csv'])).toBe(true);
  expect(mayShare('r_{yyyyMMdd}.csv', 'r_latest.csv')).toBe(false);
});

it('a file younger than min_age is not complete', async () => {
  await put('old.csv');
  await put('new.csv', new Date(Date.now() - 5000));
  const changed = { path: '*.csv', min_age: '1h', files: 'changed' };
  const first = await read(changed);
  expect(first.names).toEqual(['old.csv']);
  await put('new.csv', new Date(Date.now() - 3_700_000));
  expect((await read(changed, first)).names).toEqual(['new.csv']);
  await put('new.csv', new Date(Date.now() - 5000));
  const young = { code: 'FILES_NOT_COMPLETE', family: 'try_later', seen: 'new.csv' };
  for (const files of ['all', 'newest']) await expect(read({ ...changed, files })).rejects.toMatchObject(young);
  await put('new.csv', new Date(Date.now() + 86_400_000));
  await expect(read({ ...changed, files: 'all' })).rejects.toMatchObject({ next: /in the future/ });
});

it('unfinished uploads are skipped with a warning, unless the path names their extension', async () => {
  for (const name of ['a.csv', 'b.csv.tmp', 'c.csv.filepart', 'd.csv.part', 'e.csv.partial']) await put(name);
  const warnings: RunWarning[] = [];
  const warn = (warning: RunWarning) => void warnings.push(warning);
  expect((await read({ path: '*', format: 'csv' }, { warn })).names).toEqual(['a.csv']);
  expect(warnings).toMatchObject([{ code: 'FILES_UPLOADING', seen: 'b.csv.tmp, c.csv.filepart, d.csv.part' }]);
  expect((await read({ path: '*.tmp', format: 'csv' })).names).toEqual(['b.csv.tmp']);
  await expect(read({ path: 'b*', format: 'csv' })).rejects.toMatchObject({ code: 'FILES_NOT_COMPLETE' });
});

it('wrong dates, and offsets without a date, are rejected', () => {
  expect(faultsOf({ path: '{yyyy-M}.csv' })).toMatchObject([
    { option: 'path', message: expect.stringContaining('"M"') },
  ]);
  expect(faultsOf({ path: 'a.csv', offset: '-1d', days: 2 })).toMatchObject([{ option: 'offset' }, { option: 'days' }]);
  expect(faultsOf({ path: ['a.csv', '{yyyy}.csv'], offset: '-1d', days: 2 })).toEqual([]);
});
