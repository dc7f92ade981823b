import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { reportMissing } from '../servers/describe.ts';
import { hasVenv } from '../servers/python-venv.ts';
import { type RestApi, startDatasette, startFrameworks } from '../servers/rest-apis.ts';

const title = 'REST APIs of real frameworks';
/** The same rows in all APIs. */
const all = Array.from({ length: 47 }, (_, i) => ({
  id: i + 1,
  big: 10n ** 20n + BigInt(i + 1),
  text: `é "${i + 1}"`,
}));
const rows = all.map(({ id, big, text }) => [String(id), String(big), text]);
const columns = [
  { name: 'id', type: 'integer' },
  { name: 'big', type: 'integer' },
  { name: 'text', type: 'text' },
];

if (!hasVenv()) reportMissing(title, ['Python with venv'], 'python3-venv');
else
  describe(title, () => {
    const { extract, failure } = restBench();

    describe('Django REST framework and flask-smorest', () => {
      let api: RestApi | undefined;
      beforeAll(async () => {
        api = await startFrameworks();
      }, 600_000);
      afterAll(() => api?.stop());
      const read = (query: object) => extract({ columns, ...query }, { url: api!.url });

      it('page numbers end at the total, at the next link, or at the 404 after the last page', async () => {
        const query = { path: '/drf/items/', records: 'results' };
        for (const paging of [
          { kind: 'page', stop_at: 404 },
          { kind: 'page', stop_at: 404, total: 'count' },
          { kind: 'page', total: 'count' },
          { kind: 'next_link', path: 'next', total: '$.count' },
        ]) {
          expect((await read({ ...query, paging })).rows).toEqual(rows);
        }
        expect(await failure({ ...query, paging: { kind: 'page' } }, { url: api!.url })).toMatchObject({
          code: 'REST_NOT_FOUND',
        });
      });

      it('an incremental read continues from the highest time, and a past range is read exactly', async () => {
        const query = {
          path: '/drf/changes/',
          parameters: [
            { name: 'since', value: '{{ since }}' },
            { name: 'until', value: '{{ until }}' },
          ],
          records: 'results',
          paging: { kind: 'next_link', path: 'next', total: 'count' },
          cursor: 'changed',
        };
        const run = async (more: object, how: object = {}) => {
          const result = await extract({ ...query, ...more }, { url: api!.url }, how);
          return { ...result, ids: result.rows.map(([id]) => Number(id)).sort((a, b) => a - b) };
        };
        const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
        const first = await run({});
        expect(first.ids).toEqual(count(1, 47));
        expect(await run({}, { watermark: first.watermark })).toMatchObject({
          ids: [],
          unchanged: true,
          watermark: first.watermark,
        });
        const lagged = await run({ lag: '5m' }, { watermark: first.watermark!.replace(/"seen":.*/, '"seen":[]}') });
        // Record 42 is 5 µs below the limit.
        expect(lagged.ids).toEqual(count(43, 47));
        const half = JSON.stringify({ column: 'changed', type: 'timestamptz', value: '2026-03-28T21:50:00.000020Z' });
        expect((await run({}, { watermark: half })).ids).toEqual(count(20, 47));
        const range = { from: '2026-03-29', to: '2026-03-29T00:10:00+02:00' };
        const past = await run({}, { watermark: first.watermark, range, timezone: 'Etc/GMT-2' });
        expect(past.ids).toEqual(count(30, 39));
      });

      it('a query is repeated for each record of another path', async () => {
        const next = { kind: 'next_link', path: 'next' };
        const items = { path: '/drf/items/', records: 'results', paging: next };
        const parts = {
          path: '/drf/items/{{ parent.id }}/parts/',
          parent_columns: { id: 'id', big: 'big' },
          records: 'results',
          paging: next,
        };
        const { rows: found } = await extract({ ...parts, for_each: { ...items, missing: 'skip' } }, { url: api!.url });
        const expected = all
          .slice(0, -1)
          .flatMap(({ id, big }) =>
            Array.from({ length: (id % 3) * 6 }, (_, part) => [String(id), String(big), String(id), String(part)]),
          );
        expect(found).toEqual(expected);
        expect(await failure({ ...parts, for_each: items }, { url: api!.url })).toMatchObject({
          code: 'REST_NOT_FOUND',
        });
      });

      it('counts in a JSON header end paging', async () => {
        for (const paging of [
          { kind: 'page', pages: 'header(X-Pagination).total_pages' },
          { kind: 'page', total: 'header(x-pagination).total' },
          { kind: 'cursor', cursor: "header(X-Pagination)['next_page']", parameter: 'page', missing: 'end' },
        ]) {
          expect((await read({ path: '/smorest/items/', paging })).rows).toEqual(rows);
        }
      });
    });

    describe('datasette', () => {
      let api: RestApi | undefined;
      beforeAll(async () => {
        // SQLite has no integers of this size.
        const values = all.map(({ id, big, text }) => `(${id}, '${big}', '${text}')`);
        api = await startDatasette(
          `CREATE TABLE items (id INTEGER PRIMARY KEY, big TEXT, text TEXT); INSERT INTO items VALUES ${values.join()};`,
        );
      }, 600_000);
      afterAll(() => api?.stop());
      const read = (query: Record<string, unknown>) => extract(query, { url: api!.url });

      it('the last record is the cursor', async () => {
        const path = '/shop/items.json?_shape=objects&_sort=id&_size=10';
        for (const cursor of ['last_record().id', 'rows[-1].id']) {
          const paging = { kind: 'cursor', cursor, parameter: 'id__gt' };
          expect((await read({ path, records: 'rows', columns, paging })).rows).toEqual(rows);
        }
        const csv = {
          path: '/shop/items.csv?_sort=id&_size=10',
          paging: { kind: 'cursor', cursor: 'last_record().id', parameter: 'id__gt' },
        };
        expect((await read({ ...csv, columns })).rows).toEqual(rows);
      });

      it('the members of an object are the records', async () => {
        const query = { path: '/shop/items.json?_shape=object&_size=max', records: '*', key_column: 'key', columns };
        expect((await read(query)).rows).toEqual(rows.map((row) => [row[0], ...row]));
      });
    });
  });
