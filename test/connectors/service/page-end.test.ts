import { describe, expect, it } from 'vitest';
import type { Paging, StreamData } from '../../../src/sdk/index.ts';
import { begin, fail, ids, numbers, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

/** Pages by their number or token, the first one without. */
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

describe('the end of the pages of a service', () => {
  it.each([
    ['more', [{ data: ids(0, 2), flag: true }, { data: ids(2, 3) }]],
    ['last', [{ data: ids(0, 2), flag: false }, { data: ids(2, 3) }]],
    ['empty', [{ data: ids(0, 2), flag: 2 }, { data: ids(2, 3) }]],
  ])('is not a missing flag: %s', async (name, pages) => {
    expect(await fail(numbered({ [name]: 'flag' }), { routes: pagesAre(pages) })).toMatchObject({
      code: 'SERVICE_PAGE_FLAG',
      message: expect.stringContaining('`flag` is missing'),
    });
  });

  it('is what the vendor leaves out, beside what it always writes', async () => {
    const paging = numbered({ present: 'links.next', always: 'links' });
    const first = { data: ids(0, 2), links: { next: 'x' } };
    expect((await run(paging, { routes: pagesAre([first, { data: ids(2, 4), links: {} }]) })).rows).toEqual(
      numbers(0, 4),
    );
    expect(await fail(paging, { routes: pagesAre([first, { data: ids(2, 4) }]) })).toMatchObject({
      code: 'SERVICE_PAGE_FLAG',
    });
  });

  it.each(['more', 'last', 'empty'])('is not null for a flag: %s', async (name) => {
    const routes = pagesAre([{ data: ids(0, 2), flag: null }]);
    expect(await fail(numbered({ [name]: 'flag' }), { routes })).toMatchObject({ code: 'SERVICE_PAGE_FLAG' });
  });

  it('is a missing link of the only page where the vendor leaves it out of that alone', async () => {
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

  it('is not a null list, also where the vendor leaves out an empty one', async () => {
    const stream = { absent: 'kind' };
    const answer = (json: object): Routes => ({ 'GET /v1/things': { json: { kind: 'list', ...json } } });
    expect((await run(stream, { routes: answer({}) })).rows).toEqual([]);
    expect(await fail(stream, { routes: answer({ data: null }) })).toMatchObject({ code: 'SERVICE_NO_LIST' });
  });

  it('is not a place that no page has, unless the vendor leaves it out', async () => {
    const routes = pagesAre([{ data: ids(0, 2) }]);
    expect(await fail(byToken(), { routes })).toMatchObject({ code: 'SERVICE_NO_WAY_ON' });
    expect((await run(byToken({ missing: 'end' }), { routes })).rows).toEqual(numbers(0, 2));
    const link: Partial<StreamData> = { paging: { by: 'link', at: 'next' } };
    const odd = pagesAre([{ data: ids(0, 2), next: { href: '/v1/things?p=2' } }]);
    expect(await fail(link, { routes: odd })).toMatchObject({ code: 'SERVICE_NO_WAY_ON' });
  });

  it('is not before the total that the vendor told last, nor before what it told to be left', async () => {
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
  });

  it('is not asked for again after the very same page without records', async () => {
    let asked = 0;
    const routes: Routes = { 'GET /v1/things': () => ({ json: { data: [], more: ++asked > 0 } }) };
    expect(await fail(numbered({ more: 'more' }), { routes })).toMatchObject({ code: 'SERVICE_PAGES_REPEAT' });
    expect(asked).toBe(2);
  });
});

describe('a total that changes while the pages are read', () => {
  /** The pages of each read in turn; those of the last one for all that follow. */
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

  it('has all pages of the request read a second time, and nothing told if that one is whole', async () => {
    const routes = readsAre([
      [total(ids(0, 2), 4), total(ids(1, 3), 5), total(ids(3, 5), 5)],
      [total(ids(9, 11), 5), total(ids(11, 13), 5), total(ids(13, 14), 5)],
    ]);
    for (const columns of [{ id: 'integer' }, 'discovered'] as const) {
      const outcome = await run({ ...stream, columns }, { routes, query: { max_pages: 3 } });
      expect(outcome).toMatchObject({ rows: numbers(9, 14), warnings: [] });
    }
  });

  it('has them read again also if they end with an error, and reads each twice at most', async () => {
    const short = [total(ids(0, 2), 5), total(ids(2, 3), 6), total([], 6)];
    const good = readsAre([short, [total(ids(0, 2), 4), total(ids(2, 4), 4)]]);
    expect(await run(stream, { routes: good })).toMatchObject({ rows: numbers(0, 4), warnings: [] });
    expect(await fail(stream, { routes: readsAre([short]) })).toMatchObject({ code: 'SERVICE_PAGES_SHORT' });
  });

  it('is told if it changes in the second read, too', async () => {
    const routes = readsAre([[total(ids(0, 2), 4), total(ids(2, 5), 5)]]);
    const outcome = await run(stream, { routes });
    expect(outcome.rows).toEqual(numbers(0, 5));
    expect(outcome.warnings).toMatchObject([{ code: 'SERVICE_TOTAL_CHANGED', incomplete: true }]);
    expect(outcome.asked).toEqual([1, 2, 1, 2].map((p) => `GET /v1/things?p=${p}`));
  });

  it('is told if it is exceeded, without another read', async () => {
    const outcome = await run(stream, { routes: readsAre([[total(ids(0, 2), 3), total(ids(2, 4), 3)]]) });
    expect(outcome).toMatchObject({ rows: numbers(0, 4), warnings: [{ code: 'SERVICE_TOTAL_EXCEEDED' }] });
    expect(outcome.asked).toHaveLength(2);
  });

  it('keeps digits, texts and what a page was, of all pages that wait', async () => {
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

  it('does not move the watermark past records that were skipped because others went away', async () => {
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
    // The watermark is that of the second read: what only the first one saw is not there any more.
    const { rows, watermark } = await run(incremental, { routes: whole, query });
    expect(rows).toHaveLength(4);
    expect(JSON.parse(watermark!)).toMatchObject({ since: '100' });
  });
});

describe('the watermark of records in any order', () => {
  const stream: Partial<StreamData> = {
    ...numbered({ more: 'more' }),
    incremental: { column: 'changed', key: 'id' },
    columns: { id: 'integer', changed: 'integer' },
  };
  const page = (id: number, changed: number, more: boolean) => ({ data: [{ id, changed }], more });
  const routes = pagesAre([page(1, 90, true), page(2, 100, true), page(3, 95, false)]);
  const query = { incremental: true };

  it('moves when all of them were taken, and not before', async () => {
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

  it('does not move if a page fails, or if the reader stops early', async () => {
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

describe('an answer that is not what the stream is described as', () => {
  const answer = (json: unknown, headers: Record<string, string> = {}): Routes => ({
    'GET /v1/things': { json, headers },
  });

  it('gets a warning if it shows a next page, and the stream has none', async () => {
    const shown = async (json: unknown, headers = {}) => (await run({}, { routes: answer(json, headers) })).warnings;
    const warning = [{ code: 'SERVICE_MORE_PAGES', incomplete: true }];
    expect(await shown({ data: ids(0, 2), next: '/x' })).toMatchObject(warning);
    expect(await shown({ data: ids(0, 2) }, { link: '</x>; rel=next' })).toMatchObject(warning);
    expect(await shown({ data: ids(0, 2), next: null })).toEqual([]);
  });

  it.each([
    ['in a list', 'data', { data: [{ id: 1 }, { error: 'quota' }] }],
    ['by itself', { one: '' }, { error: { message: 'quota' } }],
  ])('is an error if it has an error object where a record is: %s', async (_, records, json) => {
    expect(await fail({ records }, { routes: answer(json) })).toMatchObject({
      code: 'SERVICE_NO_RECORD',
      seen: expect.stringContaining('quota'),
    });
  });

  it('is an error if a record in its list is null', async () => {
    for (const data of [[null], [{ id: 1 }, null]]) {
      expect(await fail({}, { routes: answer({ data }) })).toMatchObject({ code: 'SERVICE_NO_LIST' });
    }
  });

  it.each(['{"id":1}\n{"id":', '<html>log in</html>'])(
    'is an error if a line of it cannot be read: %j',
    async (text) => {
      const stream = { decode: 'jsonl', records: '' } as const;
      const routes: Routes = { 'GET /v1/things': { text } };
      expect(await fail(stream, { routes, source: { retries: 0 } })).toMatchObject({
        code: 'SERVICE_UNREADABLE',
        family: 'try_later',
      });
    },
  );

  it('may have records without anything in them, or in some columns', async () => {
    const stream: Partial<StreamData> = { columns: { id: 'integer', city: { type: 'text', at: 'address.city' } } };
    const routes = answer({ data: [{}, { id: 1 }, { address: {} }, { address: null, more: 1 }] });
    expect((await run(stream, { routes })).rows).toEqual([
      [null, null],
      ['1', null],
      [null, null],
      [null, null],
    ]);
  });

  it('gets a warning if no record has the column that the stream resumes by', async () => {
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

describe('a partition that is passed over', () => {
  it('is an error if it has given a page already', async () => {
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

describe('a report that a vendor does not make', () => {
  const job = {
    create: { path: '/reports', json: {} },
    keep: { id: 'report.id' },
    poll: { path: '/reports/{{ job.id }}' },
    state: 'state',
    done: ['Done'],
    failed: [],
  };
  const stream: Partial<StreamData> = { job, request: { path: '/reports/{{ job.id }}/rows' } };

  it('has nothing in it where its address is null, and is an error where it has none', async () => {
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
    'fails at once with its answer %j',
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
