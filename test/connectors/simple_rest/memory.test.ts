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

test('a response with 400,000 records is read with a heap of 32 MB', async () => {
  server.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    Readable.from(manyRecords()).pipe(response);
  };
  expect(await readWithSmallHeap({})).toEqual({ rows: 400_000, sum: 79_999_800_000 });
});

function* manyRecords(): Generator<string> {
  for (let from = 0; from < 400_000; from += 1000) {
    const records = ids(from, from + 1000).map(({ id }) => `{"id":${id},"name":"Jürgen ${id}","note":null}`);
    yield `${from === 0 ? '[' : ','}${records.join()}`;
  }
  yield ']';
}

/** Half of the heap is free, and 20,000 of these are 25 MB. */
const note = 'x'.repeat(1250);

/** The records of one of 200 pages; the next page is empty. */
const pageOf = (page: number): object[] =>
  page > 200 ? [] : ids((page - 1) * 100, page * 100).map(({ id }) => ({ id, note }));

test('pages that are larger together than a heap of 32 MB are read with it', async () => {
  server.answer = ({ searchParams }, response) => sendJson(response, pageOf(Number(searchParams.get('page'))));
  const query = { paging: { kind: 'page' }, max_pages: 201 };
  expect(await readWithSmallHeap(query)).toEqual({ rows: 20_000, sum: 199_990_000 });
});

test('records of 200 parents that are larger together than a heap of 32 MB are read with it', async () => {
  server.answer = ({ pathname }, response) =>
    sendJson(response, pathname === '/parents' ? ids(1, 201) : pageOf(Number(pathname.slice('/parents/'.length))));
  const query = { for_each: { path: '/parents' }, path: '/parents/{{ parent.id }}' };
  expect(await readWithSmallHeap(query)).toEqual({ rows: 20_000, sum: 199_990_000 });
});

/** Reads in a process whose heap is limited to 32 MB. */
async function readWithSmallHeap(query: object): Promise<unknown> {
  const child = fileURLToPath(new URL('../reader-child.ts', import.meta.url));
  const args = ['--max-old-space-size=32', child, server.url, JSON.stringify(query)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 280_000 });
  return JSON.parse(stdout);
}
