import { expect, it } from 'vitest';
import iformbuilder from '../../connectors/iformbuilder.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked } from './doubles/vendor.ts';

const base = '/exzact/api/v60/profiles';
const record = (id: number, more: object = {}) => ({
  id,
  created_date: '2026-01-05T10:00:00+00:00',
  created_by: 'ann',
  modified_date: '2026-01-06T10:00:00+00:00',
  modified_by: 'bob',
  store: `Store ${id}`,
  total: 1.5,
  ...more,
});
const row = (id: number) => [
  '7',
  String(id),
  '2026-01-05T10:00:00Z',
  'ann',
  '2026-01-06T10:00:00Z',
  'bob',
  `Store ${id}`,
  '1.5',
];
/** Two records per page, as many as the header says. */
const paged =
  (all: readonly object[]) =>
  ({ query }: Asked) => {
    const from = Number(query.get('offset') ?? 0);
    return { json: all.slice(from, from + 2), headers: { 'total-count': String(all.length) } };
  };
const elements = [
  { id: 1, name: 'store', label: 'Store', data_type: 1 },
  { id: 2, name: 'total', label: 'Total', data_type: 2 },
];

const records: ServiceCase = {
  service: iformbuilder,
  source: { server: 'app' },
  query: { stream: 'records', profile: 47, page_id: 7 },
  routes: {
    [`GET ${base}/47/pages/7/elements`]: { json: elements },
    [`GET ${base}/47/pages/7/records`]: paged([record(1), record(2), record(3)]),
    [`GET ${base}`]: { json: [{ id: 47 }] },
  },
};
const fields = 'id:<,created_date,created_by,modified_date,modified_by,store,total';

describeStream(
  "a form's records",
  records,
  {
    rows: [row(1), row(2), row(3)],
    columns: [
      'page integer',
      'id integer',
      'created_date timestamptz',
      'created_by text',
      'modified_date timestamptz',
      'modified_by text',
      'store text',
      'total text',
    ],
    asked: [
      `GET ${base}/47/pages/7/elements?fields=id:<,name,label,data_type&limit=1000`,
      `GET ${base}/47/pages/7/records?fields=${fields}&limit=1000&offset=0`,
      `GET ${base}/47/pages/7/records?fields=${fields}&limit=1000&offset=2`,
    ],
  },
  [
    {
      name: 'a repeated page',
      faults: [{ at: 3, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT' },
    },
    {
      name: 'a missing form',
      faults: [{ at: 1, reply: { status: 404, json: { error_message: 'Page not found' } } }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', seen: 'status 404: Page not found' },
    },
  ],
);

it('renews a token that expires between two pages', async () => {
  const { rows, login } = await runService({ ...records, guard: expiringAfter(2) });
  expect(rows).toEqual([row(1), row(2), row(3)]);
  expect(login.refusals).toEqual(['token-1']);
});

it('requests only changes on the second run, and returns no row twice', async () => {
  const query = { ...records.query, elements: ['store'], incremental: true };
  const first = await runService({ ...records, query });
  const later = record(9, { modified_date: '2026-01-07T10:00:00+00:00' });
  const routes = { ...records.routes, [`GET ${base}/47/pages/7/records`]: paged([record(3), later]) };
  const second = await runService({ ...records, query, routes, watermark: first.watermark! });
  expect(second.rows.map((cells) => cells[1])).toEqual(['9']);
  expect(second.asked[1]).toContain('modified_date(>"2026-01-05"),modified_by,store&');
});

it('lists forms and elements', async () => {
  const routes = {
    [`GET ${base}/47/pages`]: paged([{ id: 7, name: 'visits', record_count: 12 }]),
    [`GET ${base}/47/pages/7/elements`]: paged(elements),
  };
  const pages = await runService({ ...records, routes, query: { stream: 'pages', profile: 47 } });
  expect(pages.rows).toEqual([['7', 'visits', null, null, null, '12']]);
  const found = await runService({ ...records, routes, query: { stream: 'elements', profile: 47, page_id: 7 } });
  expect(found.rows).toEqual([
    ['7', '1', 'store', 'Store', '1'],
    ['7', '2', 'total', 'Total', '2'],
  ]);
});

it('names the existing elements if an unknown one is requested', async () => {
  const query = { ...records.query, elements: ['shop'] };
  expect(await failService({ ...records, query })).toMatchObject({ code: 'SERVICE_NO_FIELD', allowed: 'store, total' });
});

it('reports in check() that the login works', async () => {
  expect(await checkServiceCase({ ...records, guard: expiringAfter(0) })).toBe(
    'connected to iFormBuilder; login accepted',
  );
});
