import { expect, it } from 'vitest';
import writeXlsxFile from 'write-excel-file/node';
import { defineService, fileOptions, option, type StreamData, withDefaults } from '../../../src/sdk/index.ts';
import { zipOf } from '../../sdk/archives.ts';
import { failService, runService } from '../doubles/service-suite.ts';
import type { Reply, Routes } from '../doubles/vendor.ts';

const content: StreamData = {
  about: 'What stands in files.',
  options: { folder: option.text({ about: 'Where to look.', default: '' }), ...fileOptions },
  partitions: {
    file: {
      request: { path: '/folders/{{ folder }}' },
      records: 'files',
      fields: { id: 'id', name: 'name', at: 'changed' },
    },
  },
  request: { path: '/files/{{ partition.file.id }}' },
  decode: { as: 'file', name: '{{ partition.file.name }}', modified: '{{ partition.file.at }}' },
  records: '',
  columns: 'discovered',
};
const service = defineService({
  id: 'acme',
  title: 'Acme',
  summary: 'Keeps files.',
  base: 'https://files.acme.example',
  login: { kind: 'none' },
  streams: { content, names: { about: 'Names.', request: { path: '/' }, records: '', columns: { name: 'text' } } },
  check: { request: { path: '/' }, message: 'ok' },
});

/** The files of the folder `all`, in this order. */
function folder(files: Readonly<Record<string, Reply>>): Routes {
  const list = Object.keys(files).map((name, id) => ({ id, name, changed: '2026-01-05T10:00:00Z' }));
  const bytes = Object.values(files).map((reply, id) => [`GET /files/${id}`, reply] as const);
  return { 'GET /folders/all': { json: { files: list } }, ...Object.fromEntries(bytes) };
}
const given = (routes: Routes, query: Readonly<Record<string, unknown>> = {}) => ({
  service,
  routes,
  query: { stream: 'content', folder: 'all', ...query },
});

it("reads a service's files as one table, with their names", async () => {
  const routes = folder({ 'a.csv': { text: 'id;paid\n1;12.50\n' }, 'b.csv': { text: 'id;paid\n2;7\n' } });
  const query = { delimiter: ';', types: { paid: 'decimal' }, path_column: 'file', modified_column: 'at' };
  const outcome = await runService(given(routes, query));
  expect(outcome.columns).toEqual(['file text', 'at timestamptz', 'id text', 'paid decimal']);
  expect(outcome.rows).toEqual([
    ['a.csv', '2026-01-05T10:00:00.000Z', '1', '12.50'],
    ['b.csv', '2026-01-05T10:00:00.000Z', '2', '7'],
  ]);
});

it('reads workbooks and archives', async () => {
  const book = await writeXlsxFile([
    [{ value: 'id' }, { value: 'paid' }],
    [{ value: 1 }, { value: 12.5 }],
  ]).toBuffer();
  expect((await runService(given(folder({ 'Orders.xlsx': { text: book } })))).rows).toEqual([['1', '12.5']]);
  const zip = await zipOf({ 'x.json': '[{"id": 1.50}]', 'y.txt': '' });
  const outcome = await runService(given(folder({ 'all.zip': { text: zip } }), { member: '*.json' }));
  expect(outcome.rows).toEqual([['1.50']]);
});

it("waits for a file that isn't ready, and restarts a broken download", async () => {
  const routes = folder({ 'a.csv': { text: 'id\n1\n' } });
  const faults = [
    { at: 1, to: 'GET /files/0', reply: { status: 503, headers: { 'retry-after': '0' } } },
    { at: 2, to: 'GET /files/0', reply: 'cut' as const },
  ];
  expect((await runService({ ...given(routes), faults })).rows).toEqual([['1']]);
});

it('treats a missing file neither as an error nor as an empty table', async () => {
  expect(await failService(given(folder({})))).toMatchObject({ code: 'SERVICE_NO_FILE', family: 'job' });
  expect(await failService(given(folder({ 'a.pdf': { text: '%PDF' } })))).toMatchObject({
    code: 'FILE_FORMAT',
    seen: 'a.pdf',
  });
});

it('validates file options before a run, and ignores other streams', () => {
  const faults = (query: Readonly<Record<string, unknown>>) =>
    (service.validate?.({ source: {}, query: withDefaults(service.query, query) }) ?? []).map((one) => one.option);
  expect(faults({ stream: 'content', encoding: 'klingon' })).toEqual(['encoding']);
  expect(faults({ stream: 'content' })).toEqual([]);
  expect(faults({ stream: 'names' })).toEqual([]);
  expect(faults({ stream: 'names', format: 'csv' })).toEqual(['format']);
});

it('downloads all files again if one of them has changed, and none otherwise', async () => {
  const files = { 'a.csv': { text: 'id\n1\n' }, 'b.csv': { text: 'id\n2\n' } };
  const first = await runService(given(folder(files), { incremental: true }));
  expect(first).toMatchObject({ rows: [['1'], ['2']], unchanged: false, watermark: expect.stringContaining('files') });
  const again = { ...given(folder(files), { incremental: true }), watermark: first.watermark! };
  const second = await runService(again);
  expect(second).toMatchObject({ rows: [], unchanged: true, watermark: first.watermark });
  expect(second.asked).toEqual(['GET /folders/all']);
  const third = await runService({ ...again, routes: folder({ ...files, 'c.csv': { text: 'id\n3\n' } }) });
  expect(third).toMatchObject({ rows: [['1'], ['2'], ['3']], unchanged: false });
  expect(third.watermark).not.toBe(first.watermark);
});
