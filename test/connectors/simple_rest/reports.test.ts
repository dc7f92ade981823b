import { expect, test } from 'vitest';
import rest from '../../../connectors/simple_rest/index.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { batchText } from '../../../src/sdk/index.ts';
import { contextOf } from '../harness.ts';
import { sendJson, TestServer } from '../http-server.ts';
import { faults, ids, numbers, restBench } from './rig.ts';

const { server, folder, extract, failure, askedInFull } = restBench();

const report = {
  start: {
    path: '/exports',
    body: { type: 'orders', on: '{{ today }}' },
    keep: { id: 'data.id', at: 'header(Location)' },
  },
  poll: { path: '/exports/{{ report.id }}', every: '1s', state: 'status', done: ['done'], failed: 'error' },
};
const result = { path: '/exports/{{ report.id }}/rows', records: 'rows', paging: { kind: 'page' } };

/** A server that has a report ready after some polls. */
function exporter({ polls = 1, state = 'done' } = {}): void {
  let reports = 0;
  let polled = 0;
  server.answer = ({ pathname, searchParams }, response) => {
    if (pathname === '/exports') {
      response.writeHead(202, { location: `/exports/${++reports}`, 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ data: { id: reports } }));
    }
    if (!pathname.endsWith('/rows')) return sendJson(response, { status: ++polled < polls ? 'running' : state });
    const page = Number(searchParams.get('page'));
    sendJson(response, { rows: page > 2 ? [] : ids(page, page + 1) });
  };
}

test('a report is started, polled until it is ready, and then read page by page', async () => {
  exporter({ polls: 2 });
  const auth = { kind: 'bearer', token: 'report-token-1' };
  const run = { logicalAt: Date.UTC(2026, 2, 1, 12) };
  expect((await extract({ report, ...result }, { auth, headers: { 'x-team': 'blue' } }, run)).rows).toEqual(
    numbers(1, 3),
  );
  expect(askedInFull()).toEqual([
    'POST /exports {"type":"orders","on":"2026-03-01"}',
    'GET /exports/1',
    'GET /exports/1',
    'GET /exports/1/rows?page=1',
    'GET /exports/1/rows?page=2',
    'GET /exports/1/rows?page=3',
  ]);
  const sent = server.requests.map(({ headers }) => [headers.authorization, headers['x-team']].join());
  expect(new Set(sent)).toEqual(new Set(['Bearer report-token-1,blue']));
});

test('the location of a report can be polled', async () => {
  exporter();
  const poll = { ...report.poll, path: '{{ report.at }}' };
  expect(
    (await extract({ report: { ...report, poll }, ...result }, { url: `${server.url}/exports/../` })).rows,
  ).toEqual(numbers(1, 3));
  expect(server.requests[1]!.url).toBe('/exports/1');
});

test("a report's file at another origin gets no credentials, and must be allowed", async () => {
  const other = await new TestServer().start();
  other.answer = (_, response) => sendJson(response, ids(5, 7));
  server.answer = ({ pathname }, response) =>
    sendJson(response, pathname === '/exports' ? { id: 1 } : { status: 'done', url: `${other.url}/file?sig=1` });
  const query = {
    report: {
      start: { path: '/exports', method: 'POST', keep: { id: 'id' } },
      poll: { path: '/exports/{{ report.id }}', state: 'status', done: 'done', keep: { url: 'url' } },
    },
    endpoint_url: '{{ report.url }}',
  };
  const auth = { kind: 'bearer', token: 'report-token-1' };
  try {
    expect(await failure(query, { auth })).toMatchObject({ code: 'REST_ORIGIN' });
    expect(other.requests).toEqual([]);
    expect((await extract(query, { auth, other_origins: [other.url] })).rows).toEqual(numbers(5, 7));
    expect(other.requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/file?sig=1', undefined],
    ]);
  } finally {
    await other.stop();
  }
});

test('all places in the responses of a report can be filters, last items, and values in headers', async () => {
  server.answer = ({ pathname }, response) => {
    if (pathname === '/exports') return sendJson(response, { ids: [4, 7] }, { 'x-job': '{"queue":{"name":"q1"}}' });
    if (pathname === '/q1/7') {
      const links = [
        { rel: 'self', href: '/no' },
        { rel: 'file', href: '/files/7' },
      ];
      return sendJson(response, { links, steps: [{ state: 'begun' }, { state: 'done' }] });
    }
    sendJson(response, pathname === '/files/7' ? ids(1, 3) : []);
  };
  const places = {
    start: { path: '/exports', method: 'POST', keep: { id: 'ids[-1]', queue: 'header(X-Job).queue.name' } },
    poll: {
      ...{ path: '/{{ report.queue }}/{{ report.id }}', state: 'steps[-1].state', done: 'done' },
      keep: { file: "links[?@.rel=='file'].href" },
    },
  };
  expect((await extract({ report: places, path: '{{ report.file }}' })).rows).toEqual(numbers(1, 3));
});

test('a failed report, a missing ID and a late report are errors', async () => {
  exporter({ state: 'error' });
  expect(await failure({ report, ...result })).toMatchObject({ code: 'SERVICE_JOB_FAILED', seen: 'error' });
  server.answer = (_, response) => sendJson(response, { error: 'no' });
  expect(await failure({ report, ...result })).toMatchObject({ code: 'SERVICE_JOB_FAILED', family: 'job' });
  exporter({ state: 'running' });
  const poll = { ...report.poll, at_most: '1s' };
  expect(await failure({ report: { ...report, poll }, ...result })).toMatchObject({ code: 'SERVICE_JOB_LATE' });
});

test("the run's next attempt polls the report that an earlier attempt has started", async () => {
  exporter({ polls: 99, state: 'never' });
  const attemptFacts = { texts: new Map<string, string>(), since: Date.UTC(2026, 2, 1), folder: '/none' };
  const attempt = async () => {
    const source = { url: server.url, retries: 0 };
    const context = { ...contextOf(rest, { source, query: { report, ...result }, folder }), attemptFacts };
    const { batches } = await rest.extract(context);
    const rows: (string | null)[][] = [];
    for await (const batch of batches) rows.push(...batchText(batch));
    return rows;
  };
  const { answer } = server;
  server.answer = (url, response, number) =>
    number === 2 ? void response.writeHead(503).end() : answer(url, response, number);
  await expect(attempt()).rejects.toBeInstanceOf(Problem);
  expect(attemptFacts.texts.size).toBe(1);
  server.answer = (url, response, number) =>
    url.pathname === '/exports/1' ? sendJson(response, { status: 'done' }) : answer(url, response, number);
  expect(await attempt()).toEqual(numbers(1, 3));
  expect(server.requests.filter(({ url }) => url === '/exports')).toHaveLength(1);
});

test('options of a report are checked before any request is sent', () => {
  const { start, poll } = report;
  const given = (change: object) => faults({ report: { start, poll, ...change }, ...result });
  expect(given({})).toEqual([]);
  expect(faults({ report, ...result, path: '/exports/{{ report.uid }}' })).toEqual(['report']);
  expect(given({ poll: { ...poll, path: '/exports/{{ report.uid }}' } })).toEqual(['report']);
  expect(given({ start: { ...start, path: '/{{ report.id }}' } })).toEqual(['report']);
  expect(given({ start: { ...start, method: 'GET' } })).toEqual(['report']);
  expect(given({ start: { ...start, keep: { 'a-b': 'id', id: 'id' } } })).toEqual(['report']);
  expect(given({ start: { ...start, keep: { id: 'a[?bad]' } } })).toEqual(['report']);
  expect(given({ poll: { ...poll, state: 'last_record().state' } })).toEqual(['report']);
  expect(faults({ path: '/{{ report.id }}' })).toEqual(['path']);
});
