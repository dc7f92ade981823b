import { describe, expect, it } from 'vitest';
import type { Paging, StreamData } from '../../../src/sdk/index.ts';
import { fail, ids, numbers, run } from '../doubles/acme.ts';
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

  it('does not move the watermark past records that were skipped because others went away', async () => {
    const stream: Partial<StreamData> = {
      ...numbered({ total: 'total' }),
      incremental: { column: 'changed', key: 'id' },
      columns: { id: 'integer', changed: 'integer' },
    };
    const changed = (from: number, to: number) => ids(from, to).map(({ id }) => ({ id, changed: 100 - id }));
    const routes = pagesAre([
      { data: changed(0, 2), total: 5 },
      { data: changed(2, 4), total: 4 },
    ]);
    expect(await fail(stream, { routes, query: { incremental: true } })).toMatchObject({
      code: 'SERVICE_TOTAL_CHANGED',
      family: 'try_later',
    });
    expect((await run(stream, { routes })).rows).toHaveLength(4);
  });

  it('is not asked for again after the very same page without records', async () => {
    let asked = 0;
    const routes: Routes = { 'GET /v1/things': () => ({ json: { data: [], more: ++asked > 0 } }) };
    expect(await fail(numbered({ more: 'more' }), { routes })).toMatchObject({ code: 'SERVICE_PAGES_REPEAT' });
    expect(asked).toBe(2);
  });
});

describe('a report that a vendor does not make', () => {
  const stream: Partial<StreamData> = {
    job: {
      create: { path: '/reports', json: {} },
      keep: { id: 'report.id' },
      poll: { path: '/reports/{{ job.id }}' },
      state: 'state',
      done: ['Done'],
      failed: [],
    },
    request: { path: '/reports/{{ job.id }}/rows' },
  };

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
