import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sendJson } from '../http-server.ts';
import { ids, restBench } from './rig.ts';

const { server, extract } = restBench();

test('a hundred thousand records on many pages arrive complete from a buffer on disk', async () => {
  server.answer = ({ searchParams }, response) => {
    const from = Number(searchParams.get('offset'));
    sendJson(response, { items: ids(from, Math.min(from + 10_000, 100_000)) });
  };
  const { rows, scratch } = await extract({ records: 'items', paging: { kind: 'offset' } });
  expect(rows.length).toBe(100_000);
  expect(rows.every(([id], i) => id === String(i))).toBe(true);
  expect((await readFile(join(scratch, 'answers.spool'))).length).toBeGreaterThan(1_000_000);
});

test('a response with a million records is read with a heap of 32 MB', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    Readable.from(millionRecords()).pipe(response);
  };
  const child = fileURLToPath(new URL('../reader-child.ts', import.meta.url));
  const args = ['--max-old-space-size=32', child, server.url];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 280_000 });
  expect(JSON.parse(stdout)).toEqual({ rows: 1_000_000, sum: 499_999_500_000 });
});

function* millionRecords(): Generator<string> {
  for (let from = 0; from < 1_000_000; from += 1000) {
    const records = ids(from, from + 1000).map(({ id }) => `{"id":${id},"name":"Jürgen ${id}","note":null}`);
    yield `${from === 0 ? '[' : ','}${records.join()}`;
  }
  yield ']';
}

test('a hundred thousand records on a thousand pages are read with a heap of 32 MB', async () => {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page'));
    sendJson(response, ids((page - 1) * 100, page > 1000 ? 0 : page * 100));
  };
  const child = fileURLToPath(new URL('../reader-child.ts', import.meta.url));
  const query = JSON.stringify({ paging: { kind: 'page' }, max_pages: 1001 });
  const args = ['--max-old-space-size=32', child, server.url, query];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 280_000 });
  expect(JSON.parse(stdout)).toEqual({ rows: 100_000, sum: 4_999_950_000 });
});

test('a hundred thousand records of a thousand parents are read with a heap of 32 MB', async () => {
  server.answer = ({ pathname }, response) => {
    const parent = Number(pathname.slice('/parents/'.length));
    sendJson(response, pathname === '/parents' ? ids(1, 1001) : ids((parent - 1) * 100, parent * 100));
  };
  const child = fileURLToPath(new URL('../reader-child.ts', import.meta.url));
  const query = JSON.stringify({ for_each: { path: '/parents' }, path: '/parents/{{ parent.id }}' });
  const args = ['--max-old-space-size=32', child, server.url, query];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 280_000 });
  expect(JSON.parse(stdout)).toEqual({ rows: 100_000, sum: 4_999_950_000 });
});
