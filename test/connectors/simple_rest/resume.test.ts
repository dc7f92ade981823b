import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AttemptFacts } from '../../../src/sdk/index.ts';
import { sendJson } from '../http-server.ts';
import { faults, ids, numbers, restBench } from './rig.ts';

const { server, folder, extract, failure, asked } = restBench();

const secret = 'page-token-of-the-next-page';
const query = { path: '/x', records: 'data', paging: { kind: 'cursor', cursor: 'next' }, resume: true };

/** Pages of two records each. The page with number `broken` fails until it's repaired. */
function pages({ count = 5, ...given }: { count?: number; broken?: number; total?: () => number } = {}) {
  const state = { broken: given.broken };
  server.answer = ({ searchParams, pathname }, response) => {
    const page = Number(searchParams.get('cursor')?.split('.')[1] ?? 1);
    if (page === state.broken) return void response.writeHead(503).end();
    const next = page < count ? `${secret}.${page + 1}` : null;
    const parent = Number(pathname.slice(1)) || 0;
    const data = ids(parent + page * 2, parent + page * 2 + 2);
    sendJson(response, { data, next, total: given.total?.() }, { 'x-at': `page ${page}` });
  };
  return state;
}

/** The attempts of one run. */
function attempts(more: object = {}) {
  const attemptFacts: AttemptFacts = { texts: new Map(), since: 0, folder: join(folder, 'attempts') };
  const all = { ...query, ...more };
  return {
    attemptFacts,
    fails: async (source: object = {}) => {
      server.requests.length = 0;
      return failure(all, { retries: 0, ...source }, { attemptFacts });
    },
    succeeds: async (source: object = {}) => {
      server.requests.length = 0;
      return extract(all, { retries: 0, ...source }, { attemptFacts });
    },
  };
}

test('the next attempt requests only the pages that the failed one has not read', async () => {
  const state = pages({ broken: 4 });
  const run = attempts({ header_columns: { at: 'x-at' } });
  expect(await run.fails()).toMatchObject({ code: 'REST_BUSY', family: 'try_later' });
  expect(asked()).toHaveLength(4);
  expect(await run.fails()).toMatchObject({ code: 'REST_BUSY' });
  expect(asked()).toEqual([`/x?cursor=${secret}.4`]);
  state.broken = undefined;
  const { rows, warnings } = await run.succeeds();
  expect(asked()).toEqual([`/x?cursor=${secret}.4`, `/x?cursor=${secret}.5`]);
  const expected = numbers(2, 12).map(([id], i) => [`page ${1 + Math.floor(i / 2)}`, id]);
  expect(rows).toEqual(expected);
  expect(warnings).toMatchObject([{ code: 'REST_RESUMED', message: expect.stringContaining('3 pages') }]);
  expect(await readdir(run.attemptFacts.folder)).toEqual([]);
});

test('without `resume`, or for another run, all pages are requested', async () => {
  pages({ broken: 3 });
  const other = attempts({ resume: false });
  await other.fails();
  expect(other.attemptFacts.texts.size).toBe(0);
  await other.fails();
  expect(asked()).toHaveLength(3);
  const run = attempts();
  await run.fails();
  const next = attempts();
  await next.fails();
  expect(asked()).toHaveLength(3);
});

test('kept pages are private, and their URLs and headers are encrypted', async () => {
  pages({ broken: 3 });
  const run = attempts();
  await run.fails({ headers: { 'x-key': 'a-secret-key' } });
  const { folder: kept } = run.attemptFacts;
  expect((await stat(kept)).mode & 0o777).toBe(0o700);
  expect((await readdir(kept)).toSorted()).toEqual(['answers.spool', 'pages.journal']);
  const journal = await readFile(join(kept, 'pages.journal'), 'latin1');
  const plain = journal.split('\n').map((line) => Buffer.from(line, 'base64').toString('latin1'));
  for (const text of [journal, ...plain])
    for (const word of ['cursor', secret, 'secret-key']) expect(text).not.toContain(word);
});

test.each<[string, (kept: string) => Promise<void>, number]>([
  ['lost', (kept) => rm(kept, { recursive: true }), 5],
  ['of another key', (kept) => writeFile(join(kept, 'pages.journal'), Buffer.alloc(60).toString('base64')), 5],
  [
    'damaged in the second page',
    async (kept) => {
      const path = join(kept, 'answers.spool');
      const bytes = await readFile(path);
      await writeFile(path, bytes.fill(32, bytes.indexOf('{"data"', 1)));
    },
    4,
  ],
])('pages that are %s are requested again', async (_, damage, count) => {
  const state = pages({ broken: 4 });
  const run = attempts();
  await run.fails();
  await damage(run.attemptFacts.folder);
  state.broken = undefined;
  expect((await run.succeeds()).rows).toEqual(numbers(2, 12));
  expect(asked()).toHaveLength(count);
});

test('only the parents and pages that are missing are requested', async () => {
  const state = pages({ broken: 2, count: 2 });
  const run = attempts({ path: '/{{ parent.value }}', for_each: { values: [10, 20, 30], concurrency: 3 } });
  await run.fails();
  state.broken = undefined;
  expect((await run.succeeds()).rows).toEqual([10, 20, 30].flatMap((n) => numbers(n + 2, n + 6)));
  expect(asked()).not.toContain('/10');
  expect(asked()).toContain(`/10?cursor=${secret}.2`);
});

test('if the total has changed since the failed attempt, all pages are read again', async () => {
  let total = 10;
  const state = pages({ broken: 3, total: () => total });
  const run = attempts({ paging: { ...query.paging, total: 'total' } });
  await run.fails();
  state.broken = undefined;
  total = 9;
  const { rows, warnings } = await run.succeeds();
  expect(rows).toEqual(numbers(2, 12));
  expect(asked()).toHaveLength(3 + 5);
  expect(warnings.map(({ code }) => code)).toEqual(['REST_TOTAL_EXCEEDED']);
});

test('a limit for all pages applies to the pages of all attempts', async () => {
  const state = pages({ broken: 4 });
  const run = attempts();
  await run.fails();
  state.broken = undefined;
  expect(await run.fails({ max_answer_bytes: 280 })).toMatchObject({ code: 'REST_TOO_LARGE' });
});

test.each<[boolean, object]>([
  [true, { paging: { kind: 'page' } }],
  [true, { paging: { kind: 'offset' } }],
  [true, { paging: { kind: 'none' } }],
  [
    true,
    {
      paging: {
        kind: 'cursor',
        cursor: 'next',
        next_request: { path: '/y', method: 'POST', body: '{{ page.token }}' },
      },
    },
  ],
  [false, { paging: { kind: 'cursor', cursor: 'next', next_request: { path: '/y?c={{ page.token }}' } } }],
  [false, { paging: { kind: 'next_link', path: 'next' } }],
  [false, { paging: { kind: 'link_header' } }],
  [false, { paging: { kind: 'none' }, path: '/{{ parent.value }}', for_each: { values: [1, 2] } }],
])('can be refused: %s with %o', (isRefused, more) => {
  expect(faults({ ...query, ...more })).toEqual(isRefused ? ['resume'] : []);
});
