import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [13, 150];

const record = (n: number, name: string) => ({
  account_id: '11',
  account_name: name,
  spend: `${n}.50`,
  date_start: `2026-01-0${(n % 3) + 1}`,
});

/** Account 11 has three days, account 99 many rows. A cursor is the number of the next row. */
function insights({ part, query, base }: Asked) {
  const isMany = part.account === '99';
  const from = Number(query.get('after') ?? 0);
  const to = isMany ? from + perPage : from + 2;
  const all = isMany ? pages * perPage : 3;
  const name = isMany ? 'account '.repeat(1050) : 'Toys';
  const data = Array.from({ length: Math.min(to, all) - from }, (_, i) => record(from + i, name));
  const next = to < all ? { next: `${base}/next` } : {};
  return { json: { data, paging: { cursors: { after: String(to) }, ...next } } };
}

export default serviceWorld({
  query: {
    stream: 'insights',
    account: '11',
    level: 'account',
    metrics: ['spend'],
    start_date: '2026-01-01',
    end_date: '2026-01-03',
  },
  routes: {
    'GET /v26.0/act_{account}/insights': insights,
    'GET /v26.0/me': { json: { id: '1', name: 'Ann' } },
  },
  columns: [
    { name: 'date', type: 'date' },
    { name: 'account_id', type: 'text' },
    { name: 'account_name', type: 'text' },
    { name: 'spend', type: 'decimal' },
  ],
  rows: [0, 1, 2].map((n) => [`2026-01-0${n + 1}`, '11', 'Toys', `${n}.50`]),
  refused: [
    { query: { account: undefined }, option: 'account' },
    { query: { level: 'week' }, option: 'level' },
    { query: { stream: 'posts', account: undefined, level: undefined, metrics: undefined }, option: 'pages' },
    { query: { start_date: 'soon' }, option: 'start_date' },
  ],
  many: { query: { account: '99' }, rows: pages * perPage },
  waived: {
    hostile: 'the names of figures are words of the vendor',
    resume: 'figures of the last days are restated, so those days are read again on purpose',
  },
});
