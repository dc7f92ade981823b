import { describe, expect, it } from 'vitest';
import type { StreamData } from '../../../src/sdk/index.ts';
import { fail, ids, numbers, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

describe('paging', () => {
  it('follows page numbers in the path until a page is empty', async () => {
    const { rows, asked } = await run(
      { request: { path: '/things/{{ page.number }}/2' }, paging: { by: 'page', first: 0 } },
      {
        routes: {
          'GET /v1/things/{page}/2': ({ part }) => ({
            json: { data: ids(Number(part.page) * 2, Math.min(5, Number(part.page) * 2 + 2)) },
          }),
        },
      },
    );
    expect(rows).toEqual(numbers(0, 5));
    expect(asked.at(-1)).toBe('GET /v1/things/3/2');
  });

  it('ends at a flag, a total, a page count, a short page or an empty chunk', async () => {
    const request = { path: '/things', query: { page: '{{ page.number }}' } };
    const page = (json: (n: number) => object, headers = {}) => ({
      'GET /v1/things': ({ query }: { query: URLSearchParams }) => {
        const n = Number(query.get('page'));
        return { json: { data: ids(n * 2, n * 2 + (n === 3 ? 1 : 2)), ...json(n) }, headers };
      },
    });
    const lastPage = async (stop: object, routes: Routes) =>
      (await run({ request, paging: { by: 'page', first: 1, ...stop } }, { routes })).asked.at(-1);
    const third = 'GET /v1/things?page=3';
    expect(
      await lastPage(
        { more: 'has_more' },
        page((n) => ({ has_more: n < 3 })),
      ),
    ).toBe(third);
    expect(
      await lastPage(
        { last: 'lastPage' },
        page((n) => ({ lastPage: n === 3 })),
      ),
    ).toBe(third);
    expect(
      await lastPage(
        { total: { header: 'Total-Count' } },
        page(() => ({}), { 'total-count': '5' }),
      ),
    ).toBe(third);
    expect(
      await lastPage(
        { pages: 'meta.pages' },
        page(() => ({ meta: { pages: 3 } })),
      ),
    ).toBe(third);
    expect(
      await lastPage(
        { size: 2 },
        page(() => ({})),
      ),
    ).toBe(third);
    expect(
      await lastPage(
        { empty: 'chunk_size' },
        page((n) => ({ chunk_size: n === 3 ? 0 : 2 })),
      ),
    ).toBe(third);
  });

  it('follows tokens in bodies and headers, links in bodies and the Link header, and keys of the last record', async () => {
    const tokens = await run(
      {
        request: { path: '/things', json: { query: 'q', pageToken: '{{ page.token }}' } },
        paging: { by: 'token', at: { header: 'locator' } },
      },
      {
        routes: {
          'POST /v1/things': ({ body }) =>
            body.pageToken
              ? { json: { data: ids(2, 3) }, headers: { locator: 'null' } }
              : { json: { data: ids(0, 2) }, headers: { locator: 't2' } },
        },
      },
    );
    expect(tokens).toMatchObject({
      rows: numbers(0, 3),
      asked: ['POST /v1/things {"query":"q"}', 'POST /v1/things {"query":"q","pageToken":"t2"}'],
    });
    const links = await run(
      { paging: { by: 'link', at: 'next' } },
      {
        routes: {
          'GET /v1/things': { json: { data: ids(0, 2), next: '/v1/more?x=1' } },
          'GET /v1/more': { json: { data: ids(2, 3) } },
        },
      },
    );
    expect(links).toMatchObject({ rows: numbers(0, 3), asked: ['GET /v1/things', 'GET /v1/more?x=1'] });
    const headers = await run(
      { request: { path: '/things', query: { limit: 2 } }, paging: { by: 'link' } },
      {
        routes: {
          'GET /v1/things': ({ query }) =>
            query.has('p')
              ? { json: { data: ids(2, 3) } }
              : { json: { data: ids(0, 2) }, headers: { link: '</v1/things?p=2>; rel="next"' } },
        },
      },
    );
    expect(headers).toMatchObject({ rows: numbers(0, 3), asked: ['GET /v1/things?limit=2', 'GET /v1/things?p=2'] });
    const journal = await run(
      {
        request: { path: '/things', query: { offset: '{{ page.token }}' } },
        paging: { by: 'token', at: { last_record: 'id' }, first: 0 },
      },
      {
        routes: {
          'GET /v1/things': ({ query }) => ({ json: { data: ids(Number(query.get('offset')) + 1, 6).slice(0, 2) } }),
        },
      },
    );
    expect(journal.asked).toEqual([0, 2, 4, 5].map((offset) => `GET /v1/things?offset=${offset}`));
  });

  it('rejects a next link to another host or to the same page', async () => {
    const away = { 'GET /v1/things': { json: { data: ids(0, 1), next: 'https://elsewhere.example/x' } } };
    expect(await fail({ paging: { by: 'link', at: 'next' } }, { routes: away })).toMatchObject({
      code: 'SERVICE_ORIGIN',
    });
    const same = { 'GET /v1/things': { json: { data: ids(0, 2) } } };
    const paging = { by: 'page' } as const;
    expect(await fail({ paging }, { routes: same })).toMatchObject({ code: 'SERVICE_PAGES_REPEAT' });
    expect(
      await fail(
        { paging, request: { path: '/things', query: { p: '{{ page.number }}' } } },
        {
          routes: { 'GET /v1/things': ({ query }) => ({ json: { data: ids(Number(query.get('p')), 99) } }) },
          query: { max_pages: 3 },
        },
      ),
    ).toMatchObject({ code: 'SERVICE_MAX_PAGES' });
  });

  it('rejects records that repeat in a different response, and a next page without a link', async () => {
    let asked = 0;
    const stuck = (records: object[]): Routes => ({
      'GET /v1/things': () => ({ json: { request: ++asked, data: records, next: 'c1' } }),
    });
    const stream: Partial<StreamData> = {
      request: { path: '/things', query: { after: '{{ page.token }}' } },
      paging: { by: 'token', at: 'next' },
    };
    expect(await fail(stream, { routes: stuck(ids(1, 3)) })).toMatchObject({ code: 'SERVICE_PAGES_REPEAT' });
    expect(asked).toBe(2);
    // The same token on different pages is not an error, because some services store the position themselves.
    const scroll: Routes = {
      'GET /v1/things': () => ({ json: { data: ids(asked++, Math.min(asked, 3)), next: 'c1' } }),
    };
    asked = 1;
    const ending = { by: 'token', at: 'next', empty: 'data' } as const;
    expect((await run({ ...stream, paging: ending }, { routes: scroll })).rows).toEqual(numbers(1, 3));
    const odd: Routes = { 'GET /v1/things': { json: { data: ids(1, 3), more: true } } };
    const flagged = { by: 'token', at: 'next', more: 'more' } as const;
    expect(await fail({ ...stream, paging: flagged }, { routes: odd })).toMatchObject({
      code: 'SERVICE_NO_WAY_ON',
      family: 'job',
    });
  });

  it("returns a record once even if it's on several pages", async () => {
    const outcome = await run(
      {
        distinct: 'id',
        paging: { by: 'token', at: 'next' },
        request: { path: '/things', query: { p: '{{ page.token }}' } },
      },
      {
        routes: {
          'GET /v1/things': ({ query }) =>
            query.has('p')
              ? { json: { data: ids(1, 4), next: null } }
              : { json: { data: [...ids(0, 2), ...ids(0, 1)], next: 'p2' } },
        },
      },
    );
    expect(outcome.rows).toEqual(numbers(0, 4));
  });

  it('follows a redirect to another host without sending the credentials', async () => {
    const outcome = await run(
      { decode: 'raw', columns: { content: 'text' } },
      {
        service: { login: { kind: 'key', headers: { authorization: 'Bearer key-98765' } } },
        routes: {
          'GET /v1/things': ({ base }) => ({
            status: 302,
            headers: { location: `${base.replace('127.0.0.1', 'localhost')}/file` },
          }),
          'GET /file': ({ headers }) => ({ text: `authorization: ${headers.authorization}` }),
        },
      },
    );
    expect(outcome.rows).toEqual([['authorization: undefined']]);
  });
});
