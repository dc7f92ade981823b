import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sendJson } from '../http-server.ts';
import { ids, restBench } from './rig.ts';

const { server, extract, failure } = restBench();

test('csv and xml responses are recognized by their content type, including its charset', async () => {
  server.answer = ({ pathname }, response) => {
    const isCsv = pathname === '/csv';
    response.setHeader('content-type', isCsv ? 'text/csv; charset=iso-8859-1' : 'application/atom+xml');
    response.end(isCsv ? Buffer.from('a,b\nM\xfcller,\n', 'latin1') : '<r><i><a>x</a></i></r>');
  };
  expect((await extract({ path: 'csv' })).rows).toEqual([['Müller', null]]);
  expect((await extract({ path: 'xml' })).rows).toEqual([['x']]);
});

test("a response that isn't data is rejected with its content type, unless the format is set", async () => {
  server.answer = (_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('[{"id":1}]');
  };
  expect(await failure({ path: 'x' })).toMatchObject({ code: 'REST_FORMAT', seen: 'text/html' });
  expect((await extract({ path: 'x', format: 'json' })).rows).toEqual([['1']]);
  expect((await extract({ path: 'x.json' })).rows).toEqual([['1']]);
});

test('lines of JSON with the content type of JSON are rejected with the format to set', async () => {
  server.answer = (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"id":1}\n{"id":2}\n');
  };
  expect(await failure({ path: 'x' })).toMatchObject({
    code: 'JSON_SYNTAX',
    next: expect.stringContaining('set `format: jsonl`'),
  });
  expect((await extract({ path: 'x', format: 'jsonl' })).rows).toEqual([['1'], ['2']]);
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('a response compressed with %s is decompressed', async (name, pack) => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': name });
    response.end(pack(Buffer.from('[{"id":1}]')));
  };
  expect((await extract({})).rows).toEqual([['1']]);
});

test('a response without content is a table without rows', async () => {
  server.answer = (_, response) => void response.writeHead(204).end();
  expect(await extract({})).toMatchObject({ columns: [], rows: [] });
  expect(await extract({ columns: [{ name: 'a', type: 'date' }] })).toMatchObject({
    columns: [{ name: 'a', type: 'date' }],
    rows: [],
  });
});

test('a response is rejected if its decompressed size exceeds the limit', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify(ids(0, 50_000))));
  };
  expect(await failure({}, { max_answer_bytes: 100_000 })).toMatchObject({ code: 'REST_TOO_LARGE', family: 'job' });
});

test('response headers become the first columns', async () => {
  server.answer = (_, response, n) =>
    sendJson(response, n < 3 ? ids(n, n + 1) : [], n === 1 ? { 'x-version': 'v7' } : {});
  const query = { paging: { kind: 'page' }, header_columns: { version: 'X-Version' } };
  const { columns, rows } = await extract(query);
  expect(columns.map(({ name }) => name)).toEqual(['version', 'id']);
  expect(rows).toEqual([
    ['v7', '1'],
    [null, '2'],
  ]);
});
