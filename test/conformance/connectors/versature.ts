import { hostileNames, hostileValues } from '#sdk/testing';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [10, 100];

const call = (n: number, name: string) => ({
  duration: n,
  start_time: '2026-04-01T20:56:40',
  from: { call_id: `c${n}`, name, id: '+16132772283' },
  to: { user: '40' },
});
const row = (n: number) => [
  `c${n}`,
  '+16132772283',
  'Ann',
  null,
  null,
  '40',
  null,
  String(n),
  '2026-04-01T20:56:40Z',
  null,
  null,
];

/** A cursor is the page number. May has many rows. */
function calls({ query }: Asked) {
  const page = Number(query.get('cursor') ?? 0);
  const isMany = query.get('start_date')!.startsWith('2026-05');
  const count = isMany ? perPage : 3;
  const name = isMany ? 'Ann '.repeat(4100) : 'Ann';
  const more = isMany && page + 1 < pages;
  const result = Array.from({ length: count }, (_, i) => call(page * perPage + i + 1, name));
  return { json: { result, cursor: more ? String(page + 1) : null, more } };
}

export default serviceWorld({
  query: { stream: 'calls', start_date: '2026-04-01', end_date: '2026-04-01' },
  routes: {
    'GET /api/cdrs/users/': calls,
    'GET /api/call_queues/stats/': { json: [{ queue: '8001', calls_offered: 5 }] },
    'GET /api/call_queues/': { json: [] },
    'GET /api/users/': {
      json: hostileValues.map((value) => Object.fromEntries(hostileNames.map((name) => [name, value]))),
    },
  },
  columns: [
    ...['call_id', 'from', 'from_name', 'from_user', 'to', 'to_user', 'to_call_id'].map((name) => ({
      name,
      type: 'text' as const,
    })),
    { name: 'seconds', type: 'integer' },
    { name: 'started_at', type: 'timestamptz' },
    { name: 'answered_at', type: 'timestamptz' },
    { name: 'ended_at', type: 'timestamptz' },
  ],
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { stream: 'queue_splits' }, option: 'queue' },
    { query: { period: 'hour' }, option: 'period' },
    { query: { start_date: 'soon' }, option: 'start_date' },
  ],
  many: { query: { start_date: '2026-05-01', end_date: '2026-05-01' }, rows: pages * perPage },
  hostile: { query: { stream: 'users', start_date: undefined, end_date: undefined } },
  waived: { resume: 'calls of the day before are read again on purpose, because they may have been under way' },
});
