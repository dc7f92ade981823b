import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { sendJson } from '../http-server.ts';
import { faults, ids, numbers, restBench } from './rig.ts';

const { server, extract, failure, asked } = restBench();

/** Serves these pages by number, counted from 1; other pages are empty. */
function pagesAre(pages: readonly unknown[], headers: Record<string, string> = {}): void {
  server.answer = ({ searchParams }, response) => {
    const page = Number(searchParams.get('page') ?? 1);
    sendJson(response, pages[page - 1] ?? { rows: [] }, headers);
  };
}

const next = (page: number) => `/?page=${page}`;
const link = { kind: 'next_link', path: 'next' };

describe('the next-page value', () => {
  it.each([
    ['has a wrong path', { kind: 'next_link', path: 'nxt' }, '`nxt`'],
    ["is a cursor that the server doesn't send", { kind: 'cursor', cursor: 'bookmark' }, '`bookmark`'],
    ['is a path into the records', { kind: 'cursor', cursor: 'rows.9.id' }, '`rows.9.id`'],
    ['is the Link header of a server that sends none', { kind: 'link_header' }, 'the Link header'],
  ])('causes an error with a fix if it %s', async (_, paging, place) => {
    pagesAre([
      { rows: ids(0, 10), next: next(2) },
      { rows: ids(10, 20), next: null },
    ]);
    const problem = await failure({ records: 'rows', paging });
    expect(problem).toMatchObject({ code: 'REST_NO_WAY_ON', family: 'job' });
    expect(problem.message).toContain(place);
    expect(problem.seen).toMatch(/^10 records on page 1; the response refers to a next page at `next`/);
    expect(problem.next).toContain('`paging: {missing: end}`');
  });

  it('can be missing on a last page that is shorter than the others', async () => {
    pagesAre([{ rows: ids(0, 3), next: next(2) }, { rows: ids(3, 6), next: next(3) }, { rows: ids(6, 7) }]);
    expect((await extract({ records: 'rows', paging: link })).rows).toEqual(numbers(0, 7));
    expect(await failure({ records: 'rows', paging: { ...link, missing: 'error' } })).toMatchObject({
      code: 'REST_NO_WAY_ON',
    });
  });

  it('can be missing on a page that is shorter than the largest one', async () => {
    pagesAre([{ rows: ids(0, 3), next: next(2) }, { rows: ids(3, 4), next: next(3) }, { rows: ids(4, 6) }]);
    expect((await extract({ records: 'rows', paging: link })).rows).toEqual(numbers(0, 6));
  });

  it("causes an error if it's missing on a full page, unless the server is declared to omit it", async () => {
    pagesAre([{ rows: ids(0, 3), next: next(2) }, { rows: ids(3, 6) }]);
    expect(await failure({ records: 'rows', paging: link })).toMatchObject({ code: 'REST_NO_WAY_ON' });
    const paging = { ...link, missing: 'end' };
    expect((await extract({ records: 'rows', paging })).rows).toEqual(numbers(0, 6));
    pagesAre([{ rows: ids(0, 3), '@odata.nextLink': next(2) }, { rows: ids(3, 6) }]);
    const odata = { kind: 'next_link', path: '@odata.nextLink' };
    expect((await extract({ records: 'rows', paging: odata })).rows).toEqual(numbers(0, 6));
  });

  it("isn't needed on a single page if a total is reached, or if the page is empty", async () => {
    pagesAre([{ rows: ids(0, 3), count: 3 }]);
    const single = async (more: object) => (await extract({ records: 'rows', paging: { ...link, ...more } })).rows;
    expect(await single({ total: 'count' })).toEqual(numbers(0, 3));
    // A server may return fewer records than requested.
    for (const size of [{}, { size_parameter: 'n', size: 10 }]) {
      expect(await failure({ records: 'rows', paging: { ...link, ...size } })).toMatchObject({
        code: 'REST_NO_WAY_ON',
      });
    }
    pagesAre([{ rows: [] }]);
    expect(await single({})).toEqual([]);
  });

  it("isn't considered omitted if a short page refers to a next page in another field", async () => {
    pagesAre([
      { rows: ids(0, 3), next: next(2) },
      { rows: ids(3, 5), next_page: next(3) },
    ]);
    expect(await failure({ records: 'rows', paging: link })).toMatchObject({ code: 'REST_NO_WAY_ON' });
  });

  it.each([null, false, ''])("ends paging if it's %j", async (last) => {
    pagesAre([
      { rows: ids(0, 3), next: next(2) },
      { rows: ids(3, 6), next: last },
    ]);
    expect((await extract({ records: 'rows', paging: link })).rows).toEqual(numbers(0, 6));
  });

  it.each([
    ['an object', { href: '/?page=3' }],
    ['a list', ['/?page=3']],
    ['not a URL', 'http://[bad'],
    ['a URL of another scheme', 'mailto:a@example.com'],
    ['a number', 3],
    ['true', true],
  ])("causes an error if it's %s", async (_, value) => {
    pagesAre([
      { rows: ids(0, 3), next: next(2) },
      { rows: ids(3, 6), next: value },
    ]);
    expect(await failure({ records: 'rows', paging: link })).toMatchObject({
      code: 'REST_NO_WAY_ON',
      message: expect.stringContaining('`next` is not a URL'),
    });
  });

  it.each([
    ['no link', 'nonsense'],
    ['a URL without angle brackets', 'http://h/?page=3; rel="next"'],
    ['cut', '</?page=1>; rel="first", </?pa'],
    ['truncated in a relation', '</?page=3>; rel="ne'],
    ['no URL', '<http://[bad>; rel="next"'],
  ])('causes an error if the Link header is %s', async (_, header) => {
    server.answer = ({ searchParams }, response) => {
      const isFirst = searchParams.get('page') === null;
      sendJson(response, ids(0, 3), { link: isFirst ? '</?page=2>; rel="next"' : header });
    };
    expect(await failure({ paging: { kind: 'link_header' } })).toMatchObject({
      code: 'REST_NO_WAY_ON',
      message: expect.stringContaining('the Link header is not a URL'),
    });
    server.answer = (_url, response) =>
      sendJson(response, ids(0, 3), {
        link: `</?page=1>; rel=first; title*=UTF-8''a, </x> ; rel="prev last"; title="a, <b>"`,
      });
    expect((await extract({ paging: { kind: 'link_header' } })).rows).toEqual(numbers(0, 3));
  });

  it("causes an error if it's an object where a cursor is expected", async () => {
    pagesAre([{ rows: ids(0, 3), next: { token: 'x' } }]);
    expect(await failure({ records: 'rows', paging: { kind: 'cursor', cursor: 'next' } })).toMatchObject({
      code: 'REST_NO_WAY_ON',
      seen: '{"token":"x"}',
    });
  });
});

describe('a flag for more pages', () => {
  it.each([
    ['more', [{ rows: ids(0, 3), more: true }, { rows: ids(3, 4) }]],
    ['last', [{ rows: ids(0, 3), last: false }, { rows: ids(3, 4) }]],
  ])('causes an error if `%s` is configured but missing from a response', async (name, pages) => {
    pagesAre(pages);
    const paging = { kind: 'page', [name]: name };
    expect(await failure({ records: 'rows', paging })).toMatchObject({
      code: 'REST_PAGE_FLAG',
      next: expect.stringContaining(`paging.${name}`),
    });
  });

  it('is checked against the total if it says there are no more pages', async () => {
    pagesAre([{ rows: ids(0, 3), more: false, count: 5 }]);
    expect(await failure({ records: 'rows', paging: { kind: 'page', more: 'more', total: 'count' } })).toMatchObject({
      code: 'REST_PAGES_SHORT',
    });
  });

  it('overrides a reached total if it says there are more pages', async () => {
    pagesAre([
      { rows: ids(0, 3), more: true, count: 3 },
      { rows: ids(3, 5), more: false, count: 3 },
    ]);
    const outcome = await extract({ records: 'rows', paging: { kind: 'page', more: 'more', total: 'count' } });
    expect(outcome).toMatchObject({ rows: numbers(0, 5), warnings: [{ code: 'REST_TOTAL_EXCEEDED' }] });
  });

  it('requires a next-page value if it says there are more pages, even if the last page can omit that value', async () => {
    pagesAre([{ rows: ids(0, 3), more: true }]);
    expect(await failure({ records: 'rows', paging: { ...link, more: 'more', missing: 'end' } })).toMatchObject({
      code: 'REST_NO_WAY_ON',
      message: expect.stringContaining('reported more records'),
    });
  });

  it("requires a next-page value that isn't null if it says there are more pages", async () => {
    pagesAre([{ rows: ids(0, 3), more: true, next: null }]);
    expect(await failure({ records: 'rows', paging: { ...link, more: 'more' } })).toMatchObject({
      code: 'REST_NO_WAY_ON',
    });
  });
});

describe('a total', () => {
  const answer = (rows: unknown, count: unknown, more: object = {}) => ({ count, rows, ...more });

  it.each([
    ['page numbers', { kind: 'page', total: 'count' }, { rows: [] }],
    ['next links', { ...link, total: 'count' }, { rows: [], next: null }],
  ])("causes an error if the pages end before it's reached (paging with %s)", async (_, paging, third) => {
    pagesAre([
      answer(ids(0, 10), 47, { next: next(2) }),
      answer(ids(10, 20), 47, { next: next(3) }),
      { count: 47, ...third },
    ]);
    expect(await failure({ records: 'rows', paging })).toMatchObject({ code: 'REST_PAGES_SHORT', seen: '20 of 47' });
  });

  it("of pages also causes an error if it isn't reached", async () => {
    pagesAre([
      { rows: ids(0, 2), pages: 3 },
      { rows: [], pages: 3 },
    ]);
    const paging = { kind: 'page', pages: 'pages' };
    expect(await failure({ records: 'rows', paging })).toMatchObject({ code: 'REST_PAGES_SHORT', seen: '2 of 3' });
  });

  it.each([-1, 2.5, '3 pages', true, {}, []])('that is %j causes an error', async (count) => {
    pagesAre([{ rows: ids(0, 2), count }]);
    expect(await failure({ records: 'rows', paging: { kind: 'page', total: 'count' } })).toMatchObject({
      code: 'REST_TOTAL',
    });
  });

  it("causes an error if no response contains it or it isn't a number", async () => {
    pagesAre([{ rows: ids(0, 2), count: 'many' }]);
    const failed = (total: string) => failure({ records: 'rows', paging: { kind: 'page', total } });
    expect(await failed('cnt')).toMatchObject({ code: 'REST_TOTAL', message: expect.stringContaining('`cnt`') });
    expect(await failed('count')).toMatchObject({ code: 'REST_TOTAL', seen: 'many' });
  });

  it("isn't checked if it's declared as an estimate", async () => {
    pagesAre([answer(ids(0, 2), 47, { next: null })]);
    const paging = { ...link, total: { path: 'count', estimate: true } };
    expect(await extract({ records: 'rows', paging })).toMatchObject({ rows: numbers(0, 2), warnings: [] });
  });

  it('causes a second read of all pages if it changes', async () => {
    let reads = 0;
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('page') ?? 1);
      if (page === 1) reads++;
      const count = reads === 1 && page === 2 ? 5 : 4;
      sendJson(response, answer(ids(page * 2 - 2, Math.min(4, page * 2)), count, { next: page < 2 ? next(2) : null }));
    };
    const outcome = await extract({ records: 'rows', paging: { ...link, total: 'count' } });
    expect(outcome).toMatchObject({ rows: numbers(0, 4), warnings: [] });
    expect(asked()).toEqual(['/', '/?page=2', '/', '/?page=2']);
  });

  it('causes a warning if it also changes during the second read', async () => {
    pagesAre([answer(ids(0, 2), 4, { next: next(2) }), answer(ids(2, 5), 5, { next: null })]);
    const outcome = await extract({ records: 'rows', paging: { ...link, total: 'count' } });
    expect(outcome.rows).toEqual(numbers(0, 5));
    expect(outcome.warnings).toMatchObject([{ code: 'REST_TOTAL_CHANGED' }]);
    expect(asked()).toHaveLength(4);
  });

  it("causes a warning if it's exceeded", async () => {
    pagesAre([answer(ids(0, 2), 2, { next: next(2) }), answer(ids(2, 4), 2, { next: null })]);
    const outcome = await extract({ records: 'rows', paging: { ...link, total: 'count' } });
    expect(outcome).toMatchObject({ rows: numbers(0, 4), warnings: [{ code: 'REST_TOTAL_EXCEEDED' }] });
  });
});

describe('the list of records', () => {
  it.each([
    ['null', null],
    ['an object', { error: 'x' }],
    ['a string', 'try later'],
  ])("causes an error on a later page if it's %s", async (_, list) => {
    pagesAre([{ rows: ids(0, 3) }, { rows: list }]);
    expect(await failure({ records: 'rows', paging: { kind: 'page' } })).toMatchObject({ code: 'REST_NO_LIST' });
  });

  it('can be null if the config says that the server sends null for an empty list', async () => {
    pagesAre([{ rows: ids(0, 3) }, { rows: null }]);
    const query = { records: 'rows', paging: { kind: 'page' }, null_records: 'empty' };
    expect((await extract(query)).rows).toEqual(numbers(0, 3));
    pagesAre([{ rows: null }]);
    expect(await failure({ records: 'rows' })).toMatchObject({ code: 'REST_NO_LIST' });
  });

  it("causes an error if the first page is a list but a later page isn't", async () => {
    pagesAre([ids(0, 3), { error: 'x' }, []]);
    expect(await failure({ paging: { kind: 'page' } })).toMatchObject({ code: 'REST_NO_LIST' });
  });

  it("isn't requested endlessly if it's empty and the responses are identical", async () => {
    pagesAre([
      { rows: [], more: true },
      { rows: [], more: true },
    ]);
    const paging = { kind: 'page', more: 'more' };
    expect(await failure({ records: 'rows', paging })).toMatchObject({ code: 'REST_PAGES_REPEAT' });
    expect(asked()).toHaveLength(2);
  });
});

describe('an XML page without records', () => {
  const page = (from: number, to: number, before = '') =>
    `<r>${before}<rows>${ids(from, to)
      .map(({ id }) => `<row><id>${id}</id></row>`)
      .join('')}</rows></r>`;
  const xmlIs = (pages: readonly string[]) => {
    server.answer = ({ searchParams }, response) => {
      const at = Number(searchParams.get('page') ?? Number(searchParams.get('offset')) / 3 + 1) - 1;
      response.writeHead(200, { 'content-type': 'application/xml' }).end(pages[at] ?? pages.at(-1));
    };
  };

  it.each(['row', 'r/rows/row', '/r/rows/row'])('ends paging with records at %s', async (records) => {
    for (const kind of ['page', 'offset']) {
      for (const before of ['', '<total>9</total>']) {
        xmlIs([page(0, 3, before), page(3, 6, before), page(0, 0, before)]);
        for (const columns of [[], [{ name: 'id', type: 'integer' }]]) {
          expect((await extract({ records, columns, paging: { kind } })).rows).toEqual(numbers(0, 6));
        }
      }
    }
  });

  it.each([
    ['another document', '<error>quota</error>'],
    ['an error in place of the list', '<r><rows><error/></rows></r>'],
    ['an error next to the list', '<r><error>quota</error><rows/></r>'],
    ['a document without the list', '<r/>'],
  ])("causes an error if it's %s", async (_, last) => {
    xmlIs([page(0, 3), page(3, 6), last]);
    expect(await failure({ records: 'row', paging: { kind: 'page' } })).toMatchObject({ code: 'RECORDS_NOT_FOUND' });
  });

  it("causes an error if it has a different root element, even if `records` isn't set", async () => {
    xmlIs(['<l><id>1</id></l>', '<l><id>2</id></l>', '<l/>']);
    expect((await extract({ paging: { kind: 'page' } })).rows).toHaveLength(2);
    xmlIs(['<l><id>1</id></l>', '<l><id>2</id></l>', '<error/>']);
    expect(await failure({ paging: { kind: 'page' } })).toMatchObject({ code: 'RECORDS_NOT_FOUND' });
  });

  it('can be the first response if null_records is set', async () => {
    xmlIs([page(0, 0)]);
    for (const paging of [{ kind: 'none' }, { kind: 'page' }]) {
      expect(await failure({ records: 'row', paging })).toMatchObject({ code: 'RECORDS_NOT_FOUND' });
      expect((await extract({ records: 'row', paging, null_records: 'empty' })).rows).toEqual([]);
    }
    // Content after the records is still checked against them.
    xmlIs([page(0, 3), '<error/>']);
    const query = { records: 'row', paging: { kind: 'page' }, null_records: 'empty' };
    expect(await failure(query)).toMatchObject({ code: 'RECORDS_NOT_FOUND' });
    xmlIs([page(0, 3), '<r/>']);
    expect((await extract(query)).rows).toEqual(numbers(0, 3));
  });
});

describe('identical pages', () => {
  const rowsAre = (total: number, rowOf: (i: number) => object) => {
    server.answer = ({ searchParams }, response) => {
      const left = Math.max(0, 25 - Number(searchParams.get('offset')));
      sendJson(response, { total, pages: 3, rows: Array.from({ length: Math.min(10, left) }, (_, i) => rowOf(i)) });
    };
  };
  const read = (paging: object) => ({ records: 'rows', paging: { kind: 'offset', ...paging } });
  const refused = { code: 'REST_PAGES_REPEAT' };

  it('are accepted if all their records are identical and a total confirms the count', async () => {
    rowsAre(25, () => ({ v: 0 }));
    expect((await extract(read({ total: 'total' }))).rows).toHaveLength(25);
    expect((await extract(read({ pages: 'pages' }))).rows).toHaveLength(25);
    for (const records of ['$.rows', 'rows.*']) {
      expect((await extract({ ...read({ total: 'total' }), records })).rows).toHaveLength(25);
    }
    rowsAre(26, () => ({ v: 0 }));
    expect(await failure(read({ total: 'total' }))).toMatchObject({ code: 'REST_PAGES_SHORT' });
  });

  it('are recognized in every format', async () => {
    const answerAs = (type: string, bodyOf: (rows: number[]) => string, rowOf: (i: number) => number) => {
      server.answer = ({ searchParams }, response) => {
        const left = Math.max(0, 25 - Number(searchParams.get('offset')));
        const rows = Array.from({ length: Math.min(10, left) }, (_, i) => rowOf(i));
        response.writeHead(200, { 'content-type': type, 'x-total': '25' }).end(bodyOf(rows));
      };
    };
    const formats = [
      ['application/xml', (rows: number[]) => `<a>${rows.map((v) => `<r><v>${v}</v><w>x</w></r>`).join('')}</a>`],
      ['text/csv', (rows: number[]) => `v,w\n${rows.map((v) => `${v},x\n`).join('')}`],
    ] as const;
    for (const [type, bodyOf] of formats) {
      const query = {
        records: type === 'text/csv' ? undefined : 'a.r',
        paging: { kind: 'offset', total: 'header(x-total)' },
      };
      answerAs(type, bodyOf, () => 0);
      expect((await extract(query)).rows).toHaveLength(25);
      answerAs(type, bodyOf, (i) => i);
      // The records are the same only in the job's columns.
      const narrow = { ...query, columns: [{ name: 'w' }], ignore_unknown: true };
      for (const one of [query, narrow]) expect(await failure(one)).toMatchObject(refused);
    }
  });

  it('are rejected without an exact total, or if their records differ', async () => {
    rowsAre(25, () => ({ v: 0 }));
    expect(await failure(read({}))).toMatchObject({ ...refused, next: expect.stringContaining('set `total`') });
    expect(await failure(read({ total: { path: 'total', estimate: true } }))).toMatchObject(refused);
    rowsAre(25, (v) => ({ v }));
    expect(await failure(read({ total: 'total' }))).toMatchObject(refused);
  });
});

describe('HTTP status', () => {
  const answerWith = (status: number, headers: Record<string, string>, value: unknown) => {
    server.answer = (_, response: ServerResponse) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(status === 304 ? undefined : JSON.stringify(value));
    };
  };
  const once = { retries: 0 };

  it('206 causes an error without paging, unless the range is complete', async () => {
    for (const range of ['0-19/47', 'items 0-19/*', 'items 20-46/47', 'bytes 0-9/20']) {
      answerWith(206, { 'content-range': range }, ids(0, 3));
      expect(await failure({})).toMatchObject({ code: 'REST_PARTIAL', seen: `status 206, Content-Range: ${range}` });
    }
    answerWith(206, {}, ids(0, 3));
    expect(await failure({})).toMatchObject({ code: 'REST_PARTIAL' });
    answerWith(206, { 'content-range': '0-2/3' }, ids(0, 3));
    expect((await extract({})).rows).toEqual(numbers(0, 3));
    answerWith(206, { 'content-range': 'items 0-2/47' }, ids(0, 3));
    const parameters = [{ name: 'Range', value: 'items=0-2', type: 'header' }];
    expect((await extract({ parameters })).rows).toEqual(numbers(0, 3));
  });

  it('206 is accepted if all pages have it, but not after a complete response', async () => {
    let first = 206;
    server.answer = ({ searchParams }, response) => {
      const from = Number(searchParams.get('offset'));
      const headers = { 'content-type': 'application/json', 'content-range': `${from}-${from + 2}/5` };
      response.writeHead(from === 0 ? first : 206, headers);
      response.end(JSON.stringify(ids(from, Math.min(5, from + 3))));
    };
    expect((await extract({ paging: { kind: 'offset' } })).rows).toEqual(numbers(0, 5));
    first = 200;
    expect(await failure({ paging: { kind: 'offset' } })).toMatchObject({ code: 'REST_PARTIAL' });
  });

  it("202 means that the data isn't ready, and only a GET is retried", async () => {
    answerWith(202, { location: '/later' }, { status: 'queued' });
    expect(await failure({}, once)).toMatchObject({ code: 'REST_ACCEPTED', family: 'try_later' });
    expect(await failure({ method: 'POST', body: {} })).toMatchObject({ code: 'REST_ACCEPTED', family: 'job' });
    server.answer = (_, response, n) => {
      if (n < 5) response.writeHead(202).end();
      else sendJson(response, ids(0, 2));
    };
    expect((await extract({})).rows).toEqual(numbers(0, 2));
  });

  it('304 causes an error on any page if the request had no validator', async () => {
    answerWith(304, {}, undefined);
    expect(await failure({}, once)).toMatchObject({ code: 'REST_NOT_MODIFIED', family: 'try_later' });
    expect(await failure({ conditional: true }, once)).toMatchObject({ code: 'REST_NOT_MODIFIED' });
    server.answer = ({ searchParams }, response) => {
      if (searchParams.get('page') === '1') sendJson(response, ids(0, 2));
      else response.writeHead(304).end();
    };
    expect(await failure({ paging: { kind: 'page' } }, once)).toMatchObject({ code: 'REST_NOT_MODIFIED' });
  });
});

describe('a response that reports an error', () => {
  const graph = { method: 'POST', body: { query: '{ items { id } }' }, records: 'data.items' };
  const errors = [{ message: 'timeout' }, { message: 'again' }];

  it('causes an error in GraphQL, even if it contains data', async () => {
    for (const data of [{ items: ids(0, 2) }, { items: null }, null]) {
      pagesAre([{ data, errors }]);
      expect(await failure(graph)).toMatchObject({ code: 'REST_ANSWER_ERROR', seen: 'timeout; again' });
    }
    pagesAre([{ data: { items: ids(0, 2) }, errors: [] }]);
    expect((await extract(graph)).rows).toEqual(numbers(0, 2));
    pagesAre([{ data: { items: ids(0, 2) }, errors }]);
    expect((await extract({ ...graph, fail_when: [] })).rows).toEqual(numbers(0, 2));
  });

  it('also causes an error if the GraphQL request is written as a string', async () => {
    pagesAre([{ data: { items: ids(0, 2) }, errors }]);
    const body = '{ "query": "{ items { id } }" }';
    expect(await failure({ ...graph, body })).toMatchObject({ code: 'REST_ANSWER_ERROR', seen: 'timeout; again' });
    expect((await extract({ ...graph, body: '{"filter": "x"}' })).rows).toEqual(numbers(0, 2));
  });

  it('causes an error in other APIs if fail_when matches', async () => {
    pagesAre([{ rows: ids(0, 2), errors, status: 'error' }]);
    const query = { records: 'rows' };
    expect((await extract(query)).rows).toEqual(numbers(0, 2));
    expect(await failure({ ...query, fail_when: ['errors'] })).toMatchObject({ code: 'REST_ANSWER_ERROR' });
    const fail_when = ['other', { path: 'status', is: 'error' }];
    expect(await failure({ ...query, fail_when })).toMatchObject({ code: 'REST_ANSWER_ERROR', seen: 'error' });
    pagesAre([{ rows: ids(0, 2), status: 'ok' }]);
    expect((await extract({ ...query, fail_when })).rows).toEqual(numbers(0, 2));
  });

  it('can be in a header, in any format', async () => {
    server.answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/csv', 'x-error': 'quota' }).end('id\n1\n');
    const problem = await failure({ fail_when: ['header(X-Error)'] });
    expect(problem).toMatchObject({ code: 'REST_ANSWER_ERROR', seen: 'quota' });
    expect((await extract({ fail_when: ['header(X-Other)'] })).rows).toEqual([['1']]);
  });

  it("can't be detected in CSV, or without `records`", () => {
    expect(faults({ fail_when: ['errors'] })).toEqual(['fail_when']);
    expect(faults({ fail_when: ['errors'], records: 'rows', format: 'csv' })).toEqual(['fail_when']);
    expect(faults({ fail_when: [] })).toEqual([]);
  });
});

describe('a declared column that no record contains', () => {
  const column = (name: string) => ({ name, type: 'text' });

  it.each([
    ['json', 'application/json', '{"rows":[{"new_id":"1","b":null}]}'],
    ['xml', 'application/xml', '<l><rows><new_id>1</new_id><b/></rows></l>'],
  ])('causes a warning: %s', async (_, type, text) => {
    server.answer = (_url, response) => response.writeHead(200, { 'content-type': type }).end(text);
    const query = { records: 'rows', columns: [column('id'), column('b')], ignore_unknown: true };
    const { rows, warnings } = await extract(query);
    expect(rows).toHaveLength(1);
    expect(warnings).toMatchObject([{ code: 'COLUMN_IN_NO_RECORD', message: expect.stringMatching(/: id$/) }]);
  });
});

describe("a next page that isn't read", () => {
  it.each([
    ['a member', { rows: ids(0, 2), next: '/?page=2' }, {}, '`next`'],
    ['a link object', { rows: ids(0, 2), links: { next: { href: '/?page=2' } } }, {}, '`links.next`'],
    ['a flag', { rows: ids(0, 2), meta: { has_more: true } }, {}, '`meta.has_more`'],
    ['the Link header', { rows: ids(0, 2) }, { link: '</?page=2>; rel=next' }, 'the Link header'],
    ['a header', { rows: ids(0, 2) }, { 'x-next-page': '2', 'x-page': '1' }, '`header(X-Next-Page)`'],
  ])('causes a warning if %s refers to it', async (_, answer, headers, place) => {
    pagesAre([answer], headers);
    for (const columns of [[], [{ name: 'id', type: 'integer' }]]) {
      const { rows, warnings } = await extract({ records: 'rows', columns });
      expect(rows).toEqual(numbers(0, 2));
      expect(warnings).toMatchObject([{ code: 'REST_MORE_PAGES', message: expect.stringContaining(place) }]);
    }
  });

  it("causes a warning for csv, whose rows aren't counted", async () => {
    server.answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/csv', link: '</?page=2>; rel="next"' }).end('id\n1\n');
    expect((await extract({})).warnings).toMatchObject([{ code: 'REST_MORE_PAGES' }]);
  });

  it.each([{ next: null }, { next: '' }, { has_more: false }, { links: { next: null } }])(
    "isn't assumed from %j",
    async (members) => {
      pagesAre([{ rows: ids(0, 2), ...members }]);
      expect((await extract({ records: 'rows' })).warnings).toEqual([]);
    },
  );
});
