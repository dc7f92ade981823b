import { expect, it } from 'vitest';
import type { Paging, StreamData } from '../../../src/sdk/index.ts';
import { fail, ids, numbers, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

const preview = { allowsAnyMethod: false };
const routes: Routes = {
  'GET /v1/things': ({ query }) => ({ json: { data: ids(0, 2), next: Number(query.get('p') ?? 1) + 1, total: 40 } }),
  'POST /v1/things': { json: { data: ids(0, 2) } },
};
const paged = (columns: StreamData['columns'], stop: object = {}): Partial<StreamData> => ({
  request: { path: '/things', query: { p: '{{ page.token }}' } },
  paging: { by: 'token', at: 'next', ...stop } as Paging,
  columns,
});

it('a preview of a service requests one page, whether or not the columns and the total are known', async () => {
  for (const stream of [paged({ id: 'integer' }), paged('discovered'), paged({ id: 'integer' }, { total: 'total' })]) {
    const { rows, asked } = await run(stream, { routes, preview });
    expect(rows).toEqual(numbers(0, 2));
    expect(asked).toHaveLength(1);
  }
});

it('a preview of a service sends only GET unless other methods are allowed, and retries nothing', async () => {
  const post: Partial<StreamData> = { request: { path: '/things', method: 'POST', json: {} } };
  expect(await fail(post, { routes, preview })).toMatchObject({ code: 'PREVIEW_METHOD', family: 'config' });
  expect((await run(post, { routes, preview: { allowsAnyMethod: true } })).rows).toEqual(numbers(0, 2));
  const busy: Routes = { 'GET /v1/things': { status: 503, json: {} } };
  expect(await fail({}, { routes: busy, preview })).toMatchObject({ family: 'try_later' });
});
