import { describe, expect, it } from 'vitest';
import { sendJson } from '../http-server.ts';
import { faults, ids, numbers, restBench } from './rig.ts';

const { server, extract, failure, asked, askedInFull } = restBench();

/** Serves up to three records after the ID in a parameter, as Stripe does. */
function servesAfter(last: number, more: (from: number) => object = () => ({})): void {
  server.answer = ({ searchParams }, response) => {
    const from = Number(searchParams.get('starting_after') ?? 0) + 1;
    sendJson(response, { data: ids(from, Math.min(from + 3, last + 1)), ...more(from) });
  };
}

const keyset = { kind: 'cursor', cursor: 'last_record().id', parameter: 'starting_after' };

describe('a cursor in the last record', () => {
  it.each(['last_record().id', 'data[-1].id', '$.data[-1].id'])('requests the records after it: %s', async (cursor) => {
    servesAfter(7);
    for (const columns of [[], [{ name: 'id', type: 'integer' }]]) {
      expect((await extract({ records: 'data', columns, paging: { ...keyset, cursor } })).rows).toEqual(numbers(1, 8));
    }
    expect(asked().slice(0, 4)).toEqual(['/', ...[3, 6, 7].map((id) => `/?starting_after=${id}`)]);
  });

  it('ends with the flag that says so, and must end there', async () => {
    servesAfter(6, (from) => ({ has_more: from < 4 }));
    const paging = { ...keyset, more: 'has_more' };
    expect((await extract({ records: 'data', paging })).rows).toEqual(numbers(1, 7));
    expect(asked()).toHaveLength(2);
    servesAfter(6, (from) => ({ has_more: from < 4, total: 9 }));
    const failed = await failure({ records: 'data', paging: { ...paging, total: 'total' } });
    expect(failed).toMatchObject({ code: 'REST_PAGES_SHORT', seen: '6 of 9' });
  });

  it.each([null, '', false, undefined])("causes an error if it's %j", async (id) => {
    server.answer = (_, response) => sendJson(response, { data: [{ id: 1 }, { id, name: 'x' }] });
    expect(await failure({ records: 'data', paging: keyset })).toMatchObject({
      code: 'REST_NO_WAY_ON',
      message: expect.stringContaining('The last record has no value at `last_record().id`'),
    });
  });

  it("causes an error if it doesn't advance", async () => {
    servesAfter(7);
    const stuck = { ...keyset, parameter: 'after' };
    expect(await failure({ records: 'data', paging: stuck })).toMatchObject({ code: 'REST_PAGES_REPEAT' });
  });

  it.each([
    [
      'csv',
      'text/csv',
      (from: number, to: number) =>
        `id\n${ids(from, to)
          .map(({ id }) => `${id}\n`)
          .join('')}`,
    ],
    [
      'jsonl',
      'application/x-ndjson',
      (from: number, to: number) =>
        ids(from, to)
          .map((one) => `${JSON.stringify(one)}\n`)
          .join(''),
    ],
    [
      'xml',
      'text/xml',
      (from: number, to: number) =>
        `<l>${ids(from, to)
          .map(({ id }) => `<r><id>${id}</id></r>`)
          .join('')}</l>`,
    ],
  ])('also works with %s', async (_, type, textOf) => {
    server.answer = ({ searchParams }, response) => {
      const from = Number(searchParams.get('starting_after') ?? 0) + 1;
      response.writeHead(200, { 'content-type': type }).end(textOf(from, Math.min(from + 3, 9)));
    };
    expect((await extract({ records: type === 'text/xml' ? 'l.r' : undefined, paging: keyset })).rows).toEqual(
      numbers(1, 9),
    );
  });

  it('keeps its type in a body: a list, an object or a number with all its digits', async () => {
    const sorts = [[12345678901234567890n, 'ä"'], { k: { s: 'x' } }, 12345678901234567890n];
    for (const sort of sorts) {
      const text = JSON.stringify(sort, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)).replaceAll(
        /"(\d+)n"/g,
        '$1',
      );
      server.answer = (_, response) => {
        const isFirst = server.requests.at(-1)!.body === '{"size":2}';
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(`{"hits":{"hits":[${isFirst ? `{"id":1,"sort":1},{"id":2,"sort":${text}}` : ''}]}}`);
      };
      server.requests.length = 0;
      const query = { method: 'POST', records: 'hits.hits', body: { size: 2, search_after: '{{ page.token }}' } };
      const paging = { kind: 'cursor', cursor: 'hits.hits[-1].sort' };
      expect((await extract({ ...query, paging })).rows).toHaveLength(2);
      expect(askedInFull()[1]).toBe(`POST / {"size":2,"search_after":${text}}`);
    }
    server.answer = (_, response) => sendJson(response, { rows: [{ sort: [1] }] });
    const inQuery = { kind: 'cursor', cursor: 'last_record().sort' };
    expect(await failure({ records: 'rows', paging: inQuery })).toMatchObject({ code: 'REST_NO_WAY_ON', seen: '[1]' });
  });
});

describe('a value in a header', () => {
  const serves = (headers: (page: number) => Record<string, string>, type = 'application/json') => {
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('cursor') ?? searchParams.get('page') ?? 1);
      const rows = ids(page * 2 - 2, Math.min(5, page * 2));
      response.writeHead(page > 3 ? 400 : 200, { 'content-type': type, ...headers(page) });
      response.end(type === 'text/csv' ? ['id', ...rows.map(({ id }) => id), ''].join('\n') : JSON.stringify(rows));
    };
  };

  it.each(['application/json', 'text/csv'])('is a cursor that ends with an empty header: %s', async (type) => {
    serves((page): Record<string, string> => ({ 'x-next-page': page < 3 ? String(page + 1) : '' }), type);
    expect((await extract({ paging: { kind: 'cursor', cursor: 'header(X-Next-Page)' } })).rows).toEqual(numbers(0, 5));
  });

  it('can be missing on the last page only if something confirms the end', async () => {
    serves((page): Record<string, string> => (page < 3 ? { 'x-next-cursor': String(page + 1) } : {}));
    const paging = { kind: 'cursor', cursor: 'header(X-Next-Cursor)' };
    expect((await extract({ paging })).rows).toEqual(numbers(0, 5));
    serves((page): Record<string, string> => (page < 2 ? { 'x-next-cursor': String(page + 1) } : {}));
    expect(await failure({ paging })).toMatchObject({ code: 'REST_NO_WAY_ON' });
    expect(await failure({ paging: { kind: 'cursor', cursor: 'header(X-Next)' } })).toMatchObject({
      message: expect.stringContaining('`header(X-Next)`, is missing from all responses'),
    });
  });

  it.each([
    ['pages', 'header(X-Total-Pages)', 'x-total-pages', '3'],
    ['total', 'header(x-total)', 'x-total', '5'],
    ['pages', 'header(X-Pagination).total_pages', 'x-pagination', '{"total_pages":3,"next":2}'],
  ])('is the number of %s: %s', async (name, place, header, value) => {
    serves(() => ({ [header]: value }));
    expect((await extract({ paging: { kind: 'page', [name]: place } })).rows).toEqual(numbers(0, 5));
    expect(asked()).toHaveLength(3);
  });

  it('is held against the pages that came', async () => {
    serves(() => ({ 'x-total': '9' }));
    const paging = { kind: 'page', total: 'header(X-Total)', size: 2, stop_at: 'short' };
    expect(await failure({ paging })).toMatchObject({ code: 'REST_PAGES_SHORT', seen: '5 of 9' });
  });
});

describe('a whole response as a record', () => {
  const nextLink = (more: object = {}) => ({
    records: '$',
    paging: { kind: 'next_link', path: 'links.next', ...more },
  });
  /** Pages with lists beside each other; the last one has these members instead of a link to the next page. */
  const serves = (last: object) => {
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('page') ?? 1);
      const links = page < 3 ? { links: { next: `/?page=${page + 1}` } } : last;
      sendJson(response, { data: [page], included: [{ id: page / 4 }], ...links });
    };
  };
  const rows = [1, 2, 3].map((page) => [`[${page}]`, `[{"id":${page / 4}}]`]);
  const read = async (query: Record<string, unknown>) => {
    const { columns, rows, warnings } = await extract(query);
    const wanted = ['data', 'included'].map((name) => columns.findIndex((column) => column.name === name));
    return { rows: rows.map((row) => wanted.map((at) => row[at])), warnings };
  };

  it('has its lists as columns, on all pages', async () => {
    serves({ links: { next: null } });
    expect(await read(nextLink())).toEqual({ rows, warnings: [] });
    serves({});
    expect(await read({ ...nextLink({ missing: 'end' }), fail_when: ['errors'] })).toEqual({ rows, warnings: [] });
  });

  it('is not taken for the last page if it reports an error or lacks the link', async () => {
    serves({ errors: [{ message: 'timeout' }] });
    expect(await failure({ ...nextLink({ missing: 'end' }), fail_when: ['errors'] })).toMatchObject({
      code: 'REST_ANSWER_ERROR',
      seen: 'timeout',
    });
    expect(await failure(nextLink({ missing: 'end' }))).toMatchObject({ code: 'REST_NO_LIST' });
    expect(await failure(nextLink())).toMatchObject({ code: 'REST_NO_WAY_ON' });
  });

  it.each(['page', 'offset'])('is no page of records with paging by %s', async (kind) => {
    serves({});
    expect(await failure({ records: '$', paging: { kind } })).toMatchObject({
      code: 'REST_NO_LIST',
      next: expect.stringContaining('`$` requires a cursor or link'),
    });
    server.answer = (_, response) => sendJson(response, []);
    expect((await extract({ records: '$', paging: { kind } })).rows).toEqual([]);
  });
});

describe('a next link in a list of links', () => {
  const path = "links[?@.rel=='next'].href";
  const serves = (last: readonly object[]) => {
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('page') ?? 1);
      const self = { rel: 'self', href: '/' };
      const links = page < 3 ? [self, { rel: 'next', href: `/?page=${page + 1}` }] : last;
      sendJson(response, { links, rows: ids(page * 2 - 2, page * 2) });
    };
  };
  it('is found by its relation, and a list without it is the end', async () => {
    serves([{ rel: 'self', href: '/' }]);
    expect((await extract({ records: 'rows', paging: { kind: 'next_link', path } })).rows).toEqual(numbers(0, 6));
  });

  it('causes an error if the list is empty, or a link that does not match leads to the next page', async () => {
    for (const last of [[], [{ relation: 'next', href: '/?page=4' }]]) {
      serves(last);
      expect(await failure({ records: 'rows', paging: { kind: 'next_link', path } })).toMatchObject({
        code: 'REST_NO_WAY_ON',
      });
    }
    const typo = "links[?@.rel=='nxt'].href";
    expect(await failure({ records: 'rows', paging: { kind: 'next_link', path: typo } })).toMatchObject({
      code: 'REST_NO_WAY_ON',
    });
  });

  it('works in Atom', async () => {
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('page') ?? 1);
      const next = page < 3 ? `<link rel="next" href="/?page=${page + 1}"/>` : '';
      const entries = ids(page * 2 - 2, page * 2)
        .map(({ id }) => `<entry><id>${id}</id></entry>`)
        .join('');
      response.writeHead(200, { 'content-type': 'application/atom+xml' });
      response.end(
        `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/"/>${next}<total>6</total>${entries}</feed>`,
      );
    };
    const paging = { kind: 'next_link', path: "feed.link[?@.@rel=='next'].@href", total: 'feed.total' };
    expect((await extract({ records: 'entry', paging })).rows).toEqual(numbers(0, 6));
    expect(await failure({ records: 'entry', paging: { ...paging, total: 'feed.totl' } })).toMatchObject({
      code: 'REST_TOTAL',
      seen: expect.stringContaining('`feed` contains link, total; did you mean "total"?'),
    });
  });
});

it('an error names what the response contains at the nearest place', async () => {
  server.answer = (_, response) => sendJson(response, { meta: { next_cursor: 'a', total: 4 }, data: ids(0, 2) });
  expect(await failure({ records: 'data', paging: { kind: 'cursor', cursor: 'meta.next_cursr' } })).toMatchObject({
    seen: '2 records on page 1; the response refers to a next page at `meta.next_cursor`; `meta` contains next_cursor, total; did you mean "next_cursor"?',
  });
  expect(await failure({ records: 'dta' })).toMatchObject({
    allowed: 'the document contains meta, data; did you mean "data"?',
  });
});

describe('another request for later pages', () => {
  const scroll = {
    path: '/idx/_search?scroll=1m',
    method: 'POST',
    body: { size: 2 },
    records: 'hits.hits',
    paging: {
      kind: 'cursor',
      cursor: '_scroll_id',
      stop_at: 'empty',
      next_request: { path: '/_search/scroll', method: 'POST', body: { scroll_id: '{{ page.token }}' } },
    },
  };
  /** A scroll, whose ID is the same on all pages. */
  const serves = (more: object = {}, drop = -1) => {
    let at = 0;
    server.answer = ({ pathname }, response, n) => {
      if (pathname.startsWith('/idx')) at = 0;
      const hits = ids(at, Math.min(5, at + 2));
      at += 2;
      if (n === drop) response.destroy();
      else sendJson(response, { _scroll_id: 'same==', hits: { hits, ...more } });
    };
  };

  it('reads a scroll to its end', async () => {
    serves({ total: { value: 5 } });
    const paging = { ...scroll.paging, total: 'hits.total.value' };
    for (const query of [scroll, { ...scroll, paging }]) {
      server.requests.length = 0;
      expect((await extract(query)).rows).toEqual(numbers(0, 5));
      expect(askedInFull()).toEqual([
        'POST /idx/_search?scroll=1m {"size":2}',
        ...Array(3).fill('POST /_search/scroll {"scroll_id":"same=="}'),
      ]);
    }
  });

  it('is not repeated after a failure, because the server may have moved on', async () => {
    serves({}, 2);
    expect(await failure(scroll)).toMatchObject({ family: 'try_later' });
    expect(askedInFull()).toHaveLength(2);
    serves({}, 1);
    expect((await extract(scroll)).rows).toEqual(numbers(0, 5));
  });

  it('causes an error if the pages stay the same', async () => {
    server.answer = (_, response) => sendJson(response, { _scroll_id: 'x', hits: { hits: ids(0, 2) } });
    expect(await failure(scroll)).toMatchObject({ code: 'REST_PAGES_REPEAT' });
  });
});

describe('a status that ends paging', () => {
  const serves = (from: number, more: object = {}) => {
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('page') ?? 1);
      if (page >= from) response.writeHead(404).end('{"detail":"Invalid page."}');
      else
        sendJson(response, { rows: ids(page * 2 - 2, page * 2), next: `/?page=${page + 1}`, token: page + 1, ...more });
    };
  };
  const kinds = [
    { kind: 'page' },
    { kind: 'next_link', path: 'next' },
    { kind: 'cursor', cursor: 'token', parameter: 'page' },
  ];

  it.each(kinds)('is the end after a page: %j', async (paging) => {
    serves(4);
    for (const stop_at of [404, [404, 410]]) {
      expect((await extract({ records: 'rows', paging: { ...paging, stop_at } })).rows).toEqual(numbers(0, 6));
    }
    expect(await failure({ records: 'rows', paging })).toMatchObject({ code: 'REST_NOT_FOUND' });
  });

  it.each(kinds)('is no end on the first page, or if a total says that there is more: %j', async (kind) => {
    const paging = { ...kind, stop_at: 404 };
    serves(1);
    expect(await failure({ records: 'rows', paging })).toMatchObject({ code: 'REST_NOT_FOUND' });
    serves(3, { count: 5, pages: 3 });
    const short = { code: 'REST_PAGES_SHORT' };
    expect(await failure({ records: 'rows', paging: { ...paging, total: 'count' } })).toMatchObject({
      ...short,
      seen: '4 of 5',
    });
    expect(await failure({ records: 'rows', paging: { ...paging, pages: 'pages' } })).toMatchObject({
      ...short,
      seen: '2 of 3',
    });
  });
});

it('all pages are read again if the total changes on a few pages, but not if there are many', async () => {
  for (const pages of [19, 25]) {
    server.requests.length = 0;
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('page'));
      sendJson(response, { rows: ids(page, page + 1), n: page < 3 ? pages + 1 : pages });
    };
    const { rows, warnings } = await extract({ records: 'rows', paging: { kind: 'page', total: 'n' } });
    expect(rows).toEqual(numbers(1, pages + 1));
    expect(warnings).toMatchObject([{ code: 'REST_TOTAL_CHANGED' }]);
    expect(asked()).toHaveLength(pages === 19 ? 38 : 25);
  }
});

it('members of an object are records', async () => {
  server.answer = ({ searchParams }, response) =>
    sendJson(response, { items: searchParams.get('page') === '1' ? { a: { n: 1 }, b: { n: 2 } } : {} });
  const query = { records: 'items.*', key_column: 'key', paging: { kind: 'page' } };
  expect((await extract(query)).rows).toEqual([
    ['a', '1'],
    ['b', '2'],
  ]);
});

describe('options that contradict each other are rejected before the run', () => {
  it.each([
    [{ paging: { kind: 'cursor', cursor: 'a[b]' }, records: 'r' }, ['paging']],
    [{ paging: { kind: 'page', total: 'header(X' } }, ['paging']],
    [{ paging: { kind: 'page', total: 'header(X-Total)' } }, []],
    [{ paging: { kind: 'page', total: 'header(X-Total)' }, format: 'csv' }, []],
    [{ paging: { kind: 'page', total: 'n' }, records: 'r', format: 'csv' }, ['paging']],
    [{ paging: { kind: 'page', total: 'n' }, records: 'r', format: 'xml' }, []],
    [{ paging: keyset }, []],
    [{ paging: { ...keyset, missing: 'end' } }, ['paging']],
    [{ paging: { kind: 'page', stop_at: 429 } }, ['paging']],
    [{ paging: { kind: 'page', stop_at: [404, 'short'] } }, ['paging']],
    [{ paging: { kind: 'none', stop_at: 404 } }, ['paging']],
    [{ paging: { kind: 'link_header', stop_at: 'short' } }, ['paging']],
    [{ paging: { ...keyset, next_request: { path: '/b' } } }, []],
    [{ paging: { kind: 'cursor', cursor: 'last_record().id', next_request: { path: '/b' } } }, ['paging']],
    [{ paging: { ...keyset, next_request: { body: {} } } }, ['paging', 'paging']],
    [{ paging: { kind: 'page', next_request: { path: '/{{ page.token }}' } } }, ['paging']],
    [{ paging: { ...keyset, next_request: { path: '/{{ nothing.there }}' } } }, ['paging']],
    [{ records: 'a[?@.b]' }, ['records']],
    [{ records: 'a', key_column: 'k' }, ['key_column']],
    [{ fail_when: ['a['], records: 'r' }, ['fail_when']],
  ])('%j', (query, expected) => {
    expect(faults(query)).toEqual(expected);
  });
});
