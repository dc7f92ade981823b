import { describe, expect, it } from 'vitest';
import type { Paging, StreamData } from '../../../src/sdk/index.ts';
import { begin, fail, ids, numbers, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

/** Pages by number or token; the first request has neither. */
const pagesAre = (pages: readonly unknown[], headers: Record<string, string> = {}): Routes => ({
  'GET /v1/things': ({ query }) => ({ json: pages[Number(query.get('p') ?? 1) - 1] ?? { data: [] }, headers }),
});
const numbered = (stop: object): Partial<StreamData> => ({
  request: { path: '/things', query: { p: '{{ page.number }}' } },
  paging: { by: 'page', ...stop },
});
const byToken = (stop: object = {}): Partial<StreamData> => ({
  request: { path: '/things', query: { p: '{{ page.token }}' } },
  paging: { by: 'token', at: 'next', ...stop } as Paging,
});

describe("the end of a service's pages", () => {
  it.each([
    ['more', [{ data: ids(0, 2), flag: true }, { data: ids(2, 3) }]],
    ['last', [{ data: ids(0, 2), flag: false }, { data: ids(2, 3) }]],
    ['empty', [{ data: ids(0, 2), flag: 2 }, { data: ids(2, 3) }]],
  ])("isn't assumed from a missing flag: %s", async (name, pages) => {
    expect(await fail(numbered({ [name]: 'flag' }), { routes: pagesAre(pages) })).toMatchObject({
      code: 'SERVICE_PAGE_FLAG',
      message: expect.stringContaining('`flag` is missing'),
    });
  });

  it('is detected from an omitted field next to one that is always present', async () => {
    const paging = numbered({ present: 'links.next', always: 'links' });
    const first = { data: ids(0, 2), links: { next: 'x' } };
    expect((await run(paging, { routes: pagesAre([first, { data: ids(2, 4), links: {} }]) })).rows).toEqual(
      numbers(0, 4),
    );
    expect(await fail(paging, { routes: pagesAre([first, { data: ids(2, 3) }]) })).toMatchObject({
      code: 'SERVICE_PAGE_FLAG',
    });
  });

  it.each(['more', 'last', 'empty'])("isn't assumed from a null flag: %s", async (name) => {
    const routes = pagesAre([{ data: ids(0, 2), flag: null }]);
    expect(await fail(numbered({ [name]: 'flag' }), { routes })).toMatchObject({ code: 'SERVICE_PAGE_FLAG' });
  });

  it('is detected from a missing link on a single page if the vendor omits it only there', async () => {
    const stream = (missing: string): Partial<StreamData> => ({ paging: { by: 'link', missing } as Paging });
    const pages = (more: object): Routes => ({
      'GET /v1/things': ({ query, base }) =>
        query.has('p')
          ? { json: { data: ids(2, 3) }, ...more }
          : { json: { data: ids(0, 2) }, headers: { link: `<${base}/v1/things?p=2>; rel="next"` } },
    });
    const single = { 'GET /v1/things': { json: { data: ids(0, 2) } } };
    expect((await run(stream('single'), { routes: single })).rows).toEqual(numbers(0, 2));
    const back = pages({ headers: { link: '</v1/things>; rel="previous"' } });
    expect((await run(stream('single'), { routes: back })).rows).toEqual(numbers(0, 3));
    expect((await run(stream('end'), { routes: pages({}) })).rows).toEqual(numbers(0, 3));
    const routes = pages({ json: { data: ids(2, 4) } });
    expect(await fail(stream('single'), { routes })).toMatchObject({ code: 'SERVICE_NO_WAY_ON' });
  });

  it("isn't assumed from a null list, even if the vendor omits an empty one", async () => {
    const stream = { absent: 'kind' };
    const answer = (json: object): Routes => ({ 'GET /v1/things': { json: { kind: 'list', ...json } } });
    expect((await run(stream, { routes: answer({}) })).rows).toEqual([]);
    expect(await fail(stream, { routes: answer({ data: null }) })).toMatchObject({ code: 'SERVICE_NO_LIST' });
  });

  it("isn't assumed from a missing next-page field, unless the vendor omits it on the last page", async () => {
    const routes = pagesAre([{ data: ids(0, 2) }]);
    expect(await fail(byToken(), { routes })).toMatchObject({ code: 'SERVICE_NO_WAY_ON' });
    expect((await run(byToken({ missing: 'end' }), { routes })).rows).toEqual(numbers(0, 2));
    const link: Partial<StreamData> = { paging: { by: 'link', at: 'next' } };
    const odd = pagesAre([{ data: ids(0, 2), next: { href: '/v1/things?p=2' } }]);
    expect(await fail(link, { routes: odd })).toMatchObject({ code: 'SERVICE_NO_WAY_ON' });
  });

  it("isn't assumed before the vendor's last total is reached, or while it reports remaining records", async () => {
    const short = pagesAre([
      { data: ids(0, 2), total: 5 },
      { data: ids(2, 4), total: 5 },
    ]);
    expect(await fail(numbered({ total: 'total' }), { routes: short })).toMatchObject({
      code: 'SERVICE_PAGES_SHORT',
      seen: '4 of 5',
    });
    const left = pagesAre([
      { data: ids(0, 2), next: 2, left: 5 },
      { data: ids(2, 4), next: null, left: 3 },
    ]);
    expect(await fail(byToken({ remaining: 'left' }), { routes: left })).toMatchObject({ code: 'SERVICE_PAGES_SHORT' });
    const none = pagesAre([
      { data: ids(0, 2), next: 2, left: 4 },
      { data: ids(2, 4), next: null, left: 2 },
    ]);
    expect((await run(byToken({ remaining: 'left' }), { routes: none })).rows).toEqual(numbers(0, 4));
  });

  it('is confirmed by the total number of records, regardless of the page count that the vendor reports', async () => {
    const counts = { total: 4, pages: 3 };
    const routes = pagesAre([
      { data: ids(0, 2), ...counts },
      { data: ids(2, 4), ...counts },
    ]);
    const { rows, asked } = await run(numbered({ total: 'total', pages: 'pages' }), { routes });
    expect(rows).toEqual(numbers(0, 4));
    expect(asked).toHaveLength(2);
  });

  it('is a page without records after the reported total, even if it has another token', async () => {
    const routes = pagesAre([
      { data: ids(0, 2), next: 2, total: 2 },
      { data: [], next: 3, total: 2 },
      { data: [], next: 4, total: 2 },
    ]);
    const { rows, asked } = await run(byToken({ total: 'total' }), { routes });
    expect([rows, asked.length]).toEqual([numbers(0, 2), 2]);
  });

  it("isn't assumed from a repeated page without records, which causes an error", async () => {
    let asked = 0;
    const routes: Routes = { 'GET /v1/things': () => ({ json: { data: [], more: ++asked > 0 } }) };
    expect(await fail(numbered({ more: 'more' }), { routes })).toMatchObject({ code: 'SERVICE_PAGES_REPEAT' });
    expect(asked).toBe(2);
  });
});

describe('a total that changes while the pages are read', () => {
  /** Each read returns the next of these lists of pages; further reads repeat the last one. */
  const readsAre = (reads: readonly (readonly object[])[]): Routes => {
    let read = -1;
    return {
      'GET /v1/things': ({ query }) => {
        const page = Number(query.get('p') ?? 1);
        if (page === 1) read++;
        return { json: reads[Math.min(read, reads.length - 1)]![page - 1] ?? { data: [], total: 0 } };
      },
    };
  };
  const total = (data: unknown, count: number) => ({ data, total: count });
  const stream = numbered({ total: 'total' });

  it('causes a second read of all pages, without a warning if that read is complete', async () => {
    const routes = readsAre([
      [total(ids(0, 2), 4), total(ids(1, 3), 5), total(ids(3, 5), 5)],
      [total(ids(9, 11), 5), total(ids(11, 13), 5), total(ids(13, 14), 5)],
    ]);
    for (const columns of [{ id: 'integer' }, 'discovered'] as const) {
      const outcome = await run({ ...stream, columns }, { routes, query: { max_pages: 3 } });
      expect(outcome).toMatchObject({ rows: numbers(9, 14), warnings: [] });
    }
  });

  it('causes a second read, but no third, even if the pages end with an error', async () => {
    const short = [total(ids(0, 2), 5), total(ids(2, 3), 6), total([], 6)];
    const good = readsAre([short, [total(ids(0, 2), 4), total(ids(2, 4), 4)]]);
    expect(await run(stream, { routes: good })).toMatchObject({ rows: numbers(0, 4), warnings: [] });
    expect(await fail(stream, { routes: readsAre([short]) })).toMatchObject({ code: 'SERVICE_PAGES_SHORT' });
  });

  it('causes a warning if it also changes in the second read', async () => {
    const routes = readsAre([[total(ids(0, 2), 4), total(ids(2, 5), 5)]]);
    const outcome = await run(stream, { routes });
    expect(outcome.rows).toEqual(numbers(0, 5));
    expect(outcome.warnings).toMatchObject([{ code: 'SERVICE_TOTAL_CHANGED', incomplete: true }]);
    expect(outcome.asked).toEqual([1, 2, 1, 2].map((p) => `GET /v1/things?p=${p}`));
  });

  it("causes a warning, but no second read, if it's exceeded", async () => {
    const outcome = await run(stream, { routes: readsAre([[total(ids(0, 2), 3), total(ids(2, 4), 3)]]) });
    expect(outcome).toMatchObject({ rows: numbers(0, 4), warnings: [{ code: 'SERVICE_TOTAL_EXCEEDED' }] });
    expect(outcome.asked).toHaveLength(2);
  });

  it("doesn't alter the digits, strings and page boundaries of the buffered pages", async () => {
    const rows = (n: number) => [{ id: n, big: '@', text: `\u2028"${n}\n` }];
    const raw = (n: number, count: number) =>
      JSON.stringify({ data: rows(n), total: count }).replace('"@"', `1234567890123456789.${n}0`);
    const routes: Routes = {
      'GET /v1/things': ({ query }) => ({
        text: raw(Number(query.get('p')), 3),
        headers: { 'content-type': 'application/json' },
      }),
    };
    const columns = {
      id: 'integer',
      big: 'decimal',
      text: 'text',
      page: { type: 'integer', scope: 'page.number' },
    } as const;
    expect((await run({ ...stream, columns }, { routes })).rows).toEqual(
      [1, 2, 3].map((n) => [`${n}`, `1234567890123456789.${n}0`, `\u2028"${n}\n`, `${n}`]),
    );
  });

  it("doesn't advance the watermark past records that were skipped because others were deleted", async () => {
    const incremental: Partial<StreamData> = {
      ...stream,
      incremental: { column: 'changed', key: 'id' },
      columns: { id: 'integer', changed: 'integer' },
    };
    const changed = (from: number, to: number) => ids(from, to).map(({ id }) => ({ id, changed: 100 - id }));
    const fallen = [total(changed(0, 2), 5), total(changed(2, 4), 4)];
    const routes = readsAre([fallen]);
    const query = { incremental: true };
    expect(await fail(incremental, { routes, query })).toMatchObject({
      code: 'SERVICE_TOTAL_CHANGED',
      family: 'try_later',
    });
    expect((await run(incremental, { routes })).rows).toHaveLength(4);
    const whole = readsAre([
      [total(changed(-9, 2), 12), fallen[1]!],
      [total(changed(0, 2), 4), total(changed(2, 4), 4)],
    ]);
    // The watermark comes from the second read, because records that only the first read saw no longer exist.
    const { rows, watermark } = await run(incremental, { routes: whole, query });
    expect(rows).toHaveLength(4);
    expect(JSON.parse(watermark!)).toMatchObject({ since: '100' });
  });
});

describe('the watermark of unordered records', () => {
  const stream: Partial<StreamData> = {
    ...numbered({ more: 'more' }),
    incremental: { column: 'changed', key: 'id' },
    columns: { id: 'integer', changed: 'integer' },
  };
  const page = (id: number, changed: number, more: boolean) => ({ data: [{ id, changed }], more });
  const routes = pagesAre([page(1, 90, true), page(2, 100, true), page(3, 95, false)]);
  const query = { incremental: true };

  it('advances only once all of them have been read', async () => {
    const { extraction, next } = await begin(stream, { routes, query });
    await next();
    await next();
    expect(extraction.watermark?.()).toBeUndefined();
    expect(extraction.unchanged?.()).toBe(false);
    await next();
    expect(extraction.watermark?.()).toBeUndefined();
    await next();
    expect(JSON.parse(extraction.watermark!()!)).toMatchObject({ since: '100' });
  });

  it("doesn't advance if a page fails, or if the consumer stops early", async () => {
    const failing = pagesAre([page(1, 90, true), page(2, 100, true), { error: 'no' }]);
    const failed = await begin(stream, { routes: failing, query });
    await failed.next();
    await failed.next();
    await expect(failed.next()).rejects.toMatchObject({ code: 'SERVICE_NO_LIST' });
    expect(failed.extraction.watermark?.()).toBeUndefined();
    const left = await begin(stream, { routes, query });
    await left.next();
    await left.leave();
    expect(left.extraction.watermark?.()).toBeUndefined();
  });
});

describe("a response that doesn't match the stream's description", () => {
  const answer = (json: unknown, headers: Record<string, string> = {}): Routes => ({
    'GET /v1/things': { json, headers },
  });

  it('causes a warning if it refers to a next page although the stream has no paging', async () => {
    const shown = async (json: unknown, headers = {}) => (await run({}, { routes: answer(json, headers) })).warnings;
    const warning = [{ code: 'SERVICE_MORE_PAGES', incomplete: true }];
    expect(await shown({ data: ids(0, 2), next: '/x' })).toMatchObject(warning);
    expect(await shown({ data: ids(0, 2) }, { link: '</x>; rel=next' })).toMatchObject(warning);
    expect(await shown({ data: ids(0, 2), next: null })).toEqual([]);
  });

  it.each([
    ['in a list', 'data', { data: [{ id: 1 }, { error: 'quota' }] }],
    ['by itself', { one: '' }, { error: { message: 'quota' } }],
  ])('causes an error if it has an error object in place of a record: %s', async (_, records, json) => {
    expect(await fail({ records }, { routes: answer(json) })).toMatchObject({
      code: 'SERVICE_NO_RECORD',
      seen: expect.stringContaining('quota'),
    });
  });

  it('causes an error if a record in its list is null', async () => {
    for (const data of [[null], [{ id: 1 }, null]]) {
      expect(await fail({}, { routes: answer({ data }) })).toMatchObject({ code: 'SERVICE_NO_LIST' });
    }
  });

  it.each(['{"id":1}\n{"id":', '<html>log in</html>'])(
    "causes an error if one of its lines can't be parsed: %j",
    async (text) => {
      const stream = { decode: 'jsonl', records: '' } as const;
      const routes: Routes = { 'GET /v1/things': { text } };
      expect(await fail(stream, { routes, source: { retries: 0 } })).toMatchObject({
        code: 'SERVICE_UNREADABLE',
        family: 'try_later',
      });
    },
  );

  it('is accepted if a record is empty, or empty in some columns', async () => {
    const stream: Partial<StreamData> = { columns: { id: 'integer', city: { type: 'text', at: 'address.city' } } };
    const routes = answer({ data: [{}, { id: 1 }, { address: {} }, { address: null, more: 1 }] });
    expect((await run(stream, { routes })).rows).toEqual([
      [null, null],
      ['1', null],
      [null, null],
      [null, null],
    ]);
  });

  it('causes a warning if no record has the column that the stream resumes by', async () => {
    const stream: Partial<StreamData> = {
      incremental: { column: 'changed', key: 'id' },
      columns: { id: 'integer', changed: 'integer' },
    };
    const warned = async (data: unknown) => (await run(stream, { routes: answer({ data }) })).warnings;
    expect(await warned([{ id: 1 }])).toMatchObject([{ code: 'COLUMN_IN_NO_RECORD' }]);
    expect(await warned([{ id: 1 }, { id: 2, changed: 7 }])).toEqual([]);
    expect(await warned([])).toEqual([]);
  });
});

describe('a skipped partition', () => {
  it('causes an error if it has already returned a page', async () => {
    const stream: Partial<StreamData> = {
      ...numbered({ more: 'more' }),
      errors: [{ status: 404, verdict: 'ignore' }],
    };
    const gone = (from: number): Routes => ({
      'GET /v1/things': ({ query }) =>
        Number(query.get('p')) < from ? { json: { data: ids(0, 2), more: true } } : { status: 404, json: {} },
    });
    expect((await run(stream, { routes: gone(1) })).rows).toEqual([]);
    expect(await fail(stream, { routes: gone(2) })).toMatchObject({ code: 'SERVICE_PART_LOST', family: 'try_later' });
  });
});

describe("a report that a vendor doesn't create", () => {
  const job = {
    create: { path: '/reports', json: {} },
    keep: { id: 'report.id' },
    poll: { path: '/reports/{{ job.id }}' },
    state: 'state',
    done: ['Done'],
    failed: [],
  };
  const stream: Partial<StreamData> = { job, request: { path: '/reports/{{ job.id }}/rows' } };

  it('is empty if its URL is null, but causes an error if the URL is missing', async () => {
    const needing: Partial<StreamData> = {
      job: { ...job, result: { url: 'file.url' }, needs: 'url' },
      request: { path: '{{ job.url }}' },
    };
    const answer = (file: unknown): Routes => ({
      'POST /v1/reports': { json: { report: { id: 7 } } },
      'GET /v1/reports/7': { json: { state: 'Done', ...(file === undefined ? {} : { file }) } },
      'GET /v1/file': { json: { data: ids(0, 2) } },
    });
    expect((await run(needing, { routes: answer({ url: '/file' }) })).rows).toEqual(numbers(0, 2));
    expect((await run(needing, { routes: answer({ url: null }) })).rows).toEqual([]);
    for (const file of [{}, undefined, null]) {
      expect(await fail(needing, { routes: answer(file) })).toMatchObject({
        code: 'SERVICE_JOB_FAILED',
        message: expect.stringContaining('`file.url`'),
      });
    }
  });

  it.each([{ error: 'quota' }, { report: { id: null } }, { report: { id: '' } }, { report: { id: {} } }, []])(
    'fails immediately if the response is %j',
    async (json) => {
      const given = { routes: { 'POST /v1/reports': { json } } };
      expect(await fail(stream, given)).toMatchObject({
        code: 'SERVICE_JOB_FAILED',
        family: 'job',
        message: expect.stringContaining('`report.id`'),
        seen: JSON.stringify(json),
      });
    },
  );
});

it('a page without a next token is short if any earlier page had more records', async () => {
  const pages = [{ data: ids(0, 3), next: 2 }, { data: ids(3, 5), next: 3 }, { data: ids(5, 7) }];
  expect((await run(byToken(), { routes: pagesAre(pages) })).rows).toEqual(numbers(0, 7));
});

it('a stream is incomplete if a single record of the announced total is missing', async () => {
  const routes = pagesAre([{ data: ids(0, 2), done: true, total: 3 }]);
  expect(await fail(numbered({ last: 'done', total: 'total' }), { routes })).toMatchObject({
    message: expect.stringContaining('3 records in total'),
  });
});

describe('pages by offset', () => {
  const byOffset = (stop: object = {}): Partial<StreamData> => ({
    request: { path: '/things', query: { offset: '{{ page.offset }}' } },
    paging: { by: 'offset', ...stop } as Paging,
  });

  it('count from the first offset that the vendor declares', async () => {
    const routes: Routes = {
      'GET /v1/things': ({ query }) => ({ json: { data: ids(Number(query.get('offset')) - 1, 5).slice(0, 2) } }),
    };
    const { rows, asked } = await run(byOffset({ first: 1 }), { routes });
    expect(rows).toEqual(numbers(0, 5));
    expect(asked).toEqual([1, 3, 5, 6].map((offset) => `GET /v1/things?offset=${offset}`));
  });

  it('end with an error if an empty page announces more, because the next offset would be the same', async () => {
    const routes: Routes = {
      'GET /v1/things': ({ query }) => ({ json: { data: query.get('offset') === '0' ? ids(0, 2) : [], flag: true } }),
    };
    expect(await fail(byOffset({ more: 'flag' }), { routes })).toMatchObject({
      code: 'SERVICE_NO_WAY_ON',
    });
  });
});
